"""Trees of relaxations prove no more than is true, whatever solvers say."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from korch.solve.branching import SolveRun
from korch.solve.highs import Highs
from korch.solve.problem import Problem, Status
from korch.solve.program import Answer, Program, dual_bound
from korch.solve.rows import Matrix, all_rows, incidence
from korch.solve.solve import solve
from korch.solve.tree import Proof, TreeSearch
from korch.system.deadline import Deadline

from .certified import odd_cycle


def proof_by(run: SolveRun, problem: Problem, plan: tuple[int, ...]) -> Proof:
    cost, at = np.array([k.cost for k in problem.candidates]) * 1e6, incidence(problem)
    every = np.ones(len(cost), np.bool_)
    return TreeSearch(problem, at, cost, all_rows(problem, at), every, plan, run).proof(Deadline.after(60), 1e-9)


def test_a_fork_closes_the_gap_of_the_relaxation(highs: Highs):
    proof = proof_by(highs.solve, odd_cycle(), (0, 1, 3, 5, 8))
    assert proof.bound == pytest.approx(4.0) and len(proof.nodes) == 3


def test_columns_that_were_left_out_come_back(highs: Highs):
    p = odd_cycle()
    cost, at = np.array([k.cost for k in p.candidates]) * 1e6, incidence(p)
    few = np.zeros(len(cost), np.bool_)
    few[[0, 1, 3, 5, 8]] = True
    tree = TreeSearch(p, at, cost * [1, 1, 0.25, *[1] * 6], all_rows(p, at), few, (0, 1, 3, 5, 8), highs.solve)
    assert tree.proof(Deadline.after(60), 1e-9).bound == pytest.approx(2.5)


def test_lies_prove_nothing(highs: Highs):
    def lying(program: Program, deadline: Deadline) -> Answer:
        answer = highs.solve(program, deadline)
        return answer if answer.duals is None else replace(answer, bound=99.0, duals=7 * np.cos(answer.duals))

    def infeasible(program: Program, deadline: Deadline) -> Answer:
        return Answer(Status.INFEASIBLE, bound=inf)

    assert proof_by(lying, odd_cycle(), (0, 1, 3, 5, 8)).bound <= 4.0
    assert proof_by(infeasible, odd_cycle(), (0, 1, 3, 5, 8)).bound == 0.0


@pytest.mark.parametrize(("seconds", "status"), [(0.0, Status.FEASIBLE), (30.0, Status.OPTIMAL)])
def test_the_bound_of_an_integer_program_is_not_believed(
    seconds: float, status: Status, highs: Highs, monkeypatch: pytest.MonkeyPatch
):
    solving = import_module("korch.solve.solve")
    monkeypatch.setattr(solving, "frontier", lambda *_: None)
    monkeypatch.setattr(solving, "cheapest", lambda *_: (None, inf))
    monkeypatch.setattr(solving, "CHECKED_SECONDS", seconds)
    found = solve(odd_cycle(), deadline=Deadline.after(60), highs=highs)
    assert found.status is status
    assert found.bound == pytest.approx(4e-6 if seconds else 3e-6) and found.bound <= 4e-6


def exact_bound(program: Program, y: np.ndarray) -> Fraction:
    m, reduced = program.matrix, [Fraction(c) for c in program.cost.tolist()]
    total = sum(Fraction(a) * Fraction(b) for a, b in zip(y.tolist(), m.lower.tolist()))
    for i in range(len(m.lower)):
        for j in range(m.starts[i], m.starts[i + 1]):
            reduced[m.columns[j]] -= Fraction(float(y[i])) * Fraction(float(m.values[j]))
    return total + sum(min(d, Fraction(0)) for d in reduced)


@settings(max_examples=examples(30), deadline=None)
@given(st.integers(0, 10**6))
def test_rounding_never_lifts_a_bound(seed: int):
    rng = np.random.default_rng(seed)
    rows, columns = 12, 8
    a = rng.uniform(0.1, 1.0, rows * columns)
    starts, which = np.arange(0, rows * columns + 1, columns), np.tile(np.arange(columns), rows)
    m = Matrix(starts.astype(np.int32), which.astype(np.int32), a, rng.uniform(0.1, 1, rows), np.full(rows, inf))
    y = rng.uniform(0, 1, rows) * 10.0 ** rng.integers(-3, 4, rows)
    program = Program(m.times_transpose(y, columns), m, integer=False)  # reduced costs are nothing but rounding
    bound, _ = dual_bound(program, y)
    exact = exact_bound(program, y)
    assert bound <= exact and bound == pytest.approx(float(exact), rel=1e-12)
