"""The rows: what they say on problems small enough to read, and that a wrong one would be noticed."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from korch.errors import SolverError
from korch.solve.classes import class_graph
from korch.solve.cycles import cycle_cuts
from korch.solve.highs import Highs
from korch.solve.keys import Edge, Entry, RowKey
from korch.solve.problem import Candidate, PrimitiveRef, Problem
from korch.solve.program import Program
from korch.solve.rows import (
    Row,
    all_rows,
    chosen_row,
    edge_rows,
    entry_rows,
    incidence,
    matrix,
    violated_edges,
)
from korch.system.deadline import Deadline

from .brute_force import optimum, random_problem
from .plainly import solve_plainly


def kernel(i: int, root: str, reads: str, holds: set[int], cost: float = 1.0) -> Candidate:
    return Candidate(i, root, tuple(reads.split()), frozenset(holds), cost)


def text(row: Row) -> str:
    return " ".join(f"{v:+g}u{k}" for k, v in sorted(row.terms))


@pytest.fixture
def diamond() -> Problem:
    """x -> a -> c, where c is also made directly from x: a choice that meets at x."""
    primitives = (
        PrimitiveRef(0, "x", ()),
        PrimitiveRef(1, "a", ("x",)),
        PrimitiveRef(2, "c", ("a",)),
        PrimitiveRef(3, "c", ("x",)),
    )
    kernels = (
        kernel(0, "x", "", {0}),
        kernel(1, "a", "x", {1}),
        kernel(2, "c", "a", {2}),
        kernel(3, "c", "x", {3}),
        kernel(4, "c", "", {0, 3}, 1.5),
        kernel(5, "c", "x", {1, 2}, 1.2),
    )
    return Problem(("c",), primitives, kernels)


def test_every_plan_needs_what_all_choices_need(diamond: Problem) -> None:
    assert class_graph(diamond).needed == ("x", "c")


def test_the_edge_row_of_a_choice_meets_at_the_dominator(diamond: Problem) -> None:
    rows = {str(row.key): text(row) for row in edge_rows(diamond, incidence(diamond))}
    assert rows["edge c <- x"] == "+1u0 +1u4"  # whoever computes c, by either way, needs x: made, or inside


def test_separation_finds_the_broken_choice(diamond: Problem) -> None:
    half_each = np.array([0.0, 0.5, 0.5, 0.5, 0.0, 0.0])  # c half from a, half from x; nobody makes x
    at = incidence(diamond)
    rows = [chosen_row(e, at) for e in violated_edges(half_each, at)]
    assert rows and all(sum(half_each[k] * v for k, v in row.terms) < row.lower for row in rows)


def test_a_class_held_twice_is_allowed() -> None:
    """Recomputation: a is inside both kernels, and nobody makes it."""
    primitives = (PrimitiveRef(0, "a", ()), PrimitiveRef(1, "b", ("a",)), PrimitiveRef(2, "c", ("a",)))
    kernels = (kernel(0, "b", "", {0, 1}), kernel(1, "c", "", {0, 2}), kernel(2, "a", "", {0}, 9.0))
    assert solve_plainly(Problem(("b", "c"), primitives, kernels), time_limit=300, solver="highs").cost == 2.0


@pytest.fixture
def twins() -> Problem:
    """t and its NHWC twin n make each other for next to nothing; only kernel 0 computes t."""
    primitives = (
        PrimitiveRef(0, "t", ()),
        PrimitiveRef(1, "n", ("t",), True),
        PrimitiveRef(2, "t", ("n",), True),
        PrimitiveRef(3, "o", ("n",)),
    )
    kernels = (
        kernel(0, "t", "", {0}, 5.0),
        kernel(1, "n", "t", {1}, 0.1),
        kernel(2, "t", "n", {2}, 0.1),
        kernel(3, "o", "n", {3}),
    )
    return Problem(("o",), primitives, kernels, {"t": "t", "n": "t"})


def test_entry_rows_cut_twins_that_make_each_other(twins: Problem) -> None:
    assert "+1u3 -1u0" in {" ".join(reversed(text(r).split())) for r in entry_rows(twins, incidence(twins))}
    assert solve_plainly(twins, time_limit=300, solver="highs").cost == pytest.approx(6.1)


@pytest.mark.parametrize("solver", ["highs", "cbc"])
def test_without_them_the_cycle_cut_does_the_same(twins: Problem, solver: str) -> None:
    rows = [r for r in all_rows(twins, incidence(twins)) if not isinstance(r.key, Entry | Edge)]
    assert solve_plainly(twins, time_limit=300, solver=solver, rows=rows).cost == pytest.approx(6.1)


def test_cycle_cuts_break_the_selection_and_keep_every_plan(twins: Problem) -> None:
    rows = cycle_cuts(twins, [1, 2, 3])

    def kept(columns: set[int]) -> bool:
        return all(row.lower <= sum(v for k, v in row.terms if k in columns) <= row.upper for row in rows)

    assert not kept({1, 2, 3}) and kept({0, 1, 3})
    assert cycle_cuts(twins, [0, 1, 3]) == []


def ends(key: RowKey) -> set[str]:
    """The classes at which the walks of an edge row stop."""
    assert isinstance(key, Edge)
    return {choice[0] for _, choice in key.choices if choice and not choice[1]}


def test_a_wrong_row_would_be_noticed() -> None:
    """Mutant: edge rows that forget the kernels with both ends inside forbid fusion, and cost some optimum."""
    lost = 0
    for seed in range(6):
        p = random_problem(seed)
        at = incidence(p)
        mutant = [
            Row(r.key, tuple(t for t in r.terms if p.candidates[t[0]].root in ends(r.key)), 1.0, inf)
            for r in edge_rows(p, at)
        ]
        try:
            found = solve_plainly(p, time_limit=300, solver="highs", rows=[*all_rows(p, at), *mutant]).cost
        except SolverError:
            found = inf
        lost += found > optimum(p) * (1 + 1e-6)
    assert lost


@pytest.mark.parametrize("seed", range(12))
def test_separated_rows_hold_for_the_optimum_and_tighten(seed: int, highs: Highs) -> None:
    """With every separated row the relaxation stays below the optimum, however often rows are separated."""
    p = random_problem(seed, twins=seed % 2 == 0, tensors=6)
    at, best = incidence(p), optimum(p) * 1e6
    cost, rows = np.array([k.cost for k in p.candidates]) * 1e6, all_rows(p, at)
    before = 0.0
    for _ in range(20):
        answer = highs.solve(Program(cost, matrix(rows), integer=False), Deadline.after(300))
        assert answer.x is not None and before * (1 - 1e-9) <= answer.bound <= best * (1 + 1e-9)
        before, fresh = answer.bound, violated_edges(answer.x, at)
        rows = rows + [chosen_row(e, at) for e in fresh]
        if not fresh:
            break


def test_costly_alternatives_on_one_input_are_told_apart(highs: Highs) -> None:
    """o = f(c), and c is computed from x either at a cost of 8 or through m at 8; fusing either with what follows
    must not make it cheaper by halves."""
    primitives = (
        PrimitiveRef(0, "x", ()),
        PrimitiveRef(1, "c", ("x",)),
        PrimitiveRef(2, "m", ("x",)),
        PrimitiveRef(3, "c", ("m",)),
        PrimitiveRef(4, "s", ("c",)),
        PrimitiveRef(5, "o", ("c", "s")),
    )
    kernels = (
        kernel(0, "x", "", {0}),
        kernel(1, "c", "x", {1}, 8.0),
        kernel(2, "m", "x", {2}, 8.0),
        kernel(3, "c", "m", {3}, 0.5),
        kernel(4, "s", "m", {3, 4}, 0.6),
        kernel(5, "s", "c", {4}, 0.5),
        kernel(6, "o", "m s", {3, 5}, 0.6),
        kernel(7, "o", "c s", {5}, 0.5),
        kernel(8, "s", "x", {1, 4}, 8.1),
        kernel(9, "o", "x s", {1, 5}, 8.1),
    )
    p = Problem(("o",), primitives, kernels)
    at, rows = incidence(p), all_rows(p, incidence(p))
    for _ in range(5):
        relaxed = Program(np.array([k.cost for k in kernels]), matrix(rows), integer=False)
        answer = highs.solve(relaxed, Deadline.after(300))
        assert answer.x is not None
        rows = rows + [chosen_row(e, at) for e in violated_edges(answer.x, at)]
    assert 9.9 < answer.bound <= optimum(p)  # 5.2 without the choice of a producer itself


@pytest.mark.parametrize("seed", range(8))
def test_the_relaxation_is_a_lower_bound(seed: int, highs: Highs) -> None:
    p = random_problem(seed, twins=seed % 2 == 0, tensors=5)
    rows = all_rows(p, incidence(p))
    relaxed = Program(np.array([k.cost for k in p.candidates]) * 1e6, matrix(rows), integer=False)
    answer = highs.solve(relaxed, Deadline.after(300))
    assert answer.bound <= optimum(p) * 1e6 * (1 + 1e-9)
