"""Solving against brute force, on random problems with choices, recomputation, layout twins and loops."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from korch.errors import SolverError
from korch.solve.frontier import Frontier, frontier, search, suffix_bounds
from korch.solve.highs import Highs
from korch.solve.problem import Candidate, PrimitiveRef, Problem, Status
from korch.solve.program import Program, dual_bound
from korch.solve.rows import all_rows, incidence, matrix
from korch.solve.solve import solve
from korch.system.deadline import Deadline

from .brute_force import optimum, random_problem
from .plainly import solve_plainly
from .synthetic import cnn, problem, transformer

KINDS = {
    "choices": {},
    "larger": {"tensors": 9},
    "twins": {"twins": True, "tensors": 4},
    "loops": {"loops": True},
    "twins and loops": {"twins": True, "loops": True, "tensors": 4},
}
CASES = [pytest.param(seed, kind, id=f"{name}-{seed}") for name, kind in KINDS.items() for seed in range(10)]


@pytest.mark.parametrize("seed, kind", CASES)
def test_solve_finds_and_proves_the_optimum(seed: int, kind: dict, highs: Highs) -> None:
    p = random_problem(seed, **kind)
    found = solve(p, deadline=Deadline.after(300), highs=highs)
    assert found.cost == pytest.approx(optimum(p), rel=1e-8)
    assert found.status is Status.OPTIMAL and found.bound == pytest.approx(found.cost, rel=1e-8)


@pytest.mark.parametrize("seed, kind", CASES[::5])
def test_highs_and_cbc_agree_on_the_rows_alone(seed: int, kind: dict) -> None:
    p = random_problem(seed, **kind)
    costs = {s: solve_plainly(p, time_limit=300, solver=s).cost for s in ("highs", "cbc")}
    assert costs == pytest.approx(dict.fromkeys(costs, optimum(p)), rel=1e-8)


def _frontier(p: Problem, highs: Highs, share: float) -> Frontier | None:
    """The frontier under valid but poor prices: the LP's, scaled down at random."""
    rows = all_rows(p, incidence(p))
    program = Program(np.array([k.cost for k in p.candidates]) * 1e6, matrix(rows), integer=False)
    duals = highs.solve(program, Deadline.after(300)).duals
    assert duals is not None
    duals = duals * np.random.default_rng(0).uniform(share, 1.0, len(duals)) if share < 1 else duals
    bound, reduced = dual_bound(program, duals)
    return frontier(p, program.cost, rows, duals, bound, reduced)


@pytest.mark.parametrize("share", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("seed, kind", CASES[::2])
def test_frontier_bounds_hold_at_any_width_and_prices(seed: int, kind: dict, share: float, highs: Highs) -> None:
    p = random_problem(seed, **kind)
    best, at = optimum(p) * 1e6, _frontier(p, highs, share)
    if at is None:
        assert "loops" in kind, "no more than two tensors can make each other otherwise"
        pytest.skip("too many tensors can make each other")
    for width in (2, 10, 10**6):
        ahead = suffix_bounds(at, gap=1.5 * best - at.base, width=width)
        assert at.base + ahead[0] <= best * (1 + 1e-8)
        found = search(at, incumbent=1.2 * best, width=width, ahead=ahead)
        assert min(found.bound, found.cost) <= best * (1 + 1e-8) <= found.cost * (1 + 2e-8)
    assert found.cost == pytest.approx(best)


@pytest.mark.parametrize("seed", range(4))
def test_warm_start_changes_nothing_but_the_time(seed: int, highs: Highs) -> None:
    p = random_problem(seed, tensors=9)
    first = solve(p, deadline=Deadline.after(300), highs=highs)
    dearer = replace(
        p, candidates=tuple(replace(k, cost=k.cost * (1.4 if k.id in first.chosen else 1)) for k in p.candidates)
    )
    again = solve(dearer, deadline=Deadline.after(300), warm=first, highs=highs)
    assert again.cost == pytest.approx(optimum(dearer), rel=1e-8)
    assert sorted(again.chosen) == sorted(solve(dearer, deadline=Deadline.after(300), highs=highs).chosen)


def test_same_problem_same_plan(highs: Highs) -> None:
    net, out = transformer(1)
    p = problem(net, out)
    first, second = (solve(p, deadline=Deadline.after(300), highs=highs) for _ in range(2))
    assert first.chosen == second.chosen and first.near == second.near


@pytest.mark.parametrize("net", [transformer(1), cnn(6), cnn(3, twins=True)], ids=["transformer", "cnn", "cnn-twins"])
def test_small_networks_are_proved(net: tuple, highs: Highs) -> None:
    found = solve(problem(*net, noise=0.03), deadline=Deadline.after(300), highs=highs)
    assert found.status is Status.OPTIMAL and found.gap <= 1e-8


def test_near_names_what_was_not_chosen_cheapest_first(highs: Highs) -> None:
    found = solve(random_problem(3, tensors=9), deadline=Deadline.after(300), highs=highs)
    assert found.near and not set(found.near) & set(found.chosen)
    assert list(found.near.values()) == sorted(found.near.values())


def test_what_cannot_be_made_is_named() -> None:
    chain = (PrimitiveRef(0, "a", ()), PrimitiveRef(1, "b", ("a",)))
    p = Problem(
        ("b",),
        chain,
        (Candidate(0, "b", ("a",), frozenset({1}), 1.0), Candidate(1, "a", (), frozenset({0}), inf)),
    )
    with pytest.raises(SolverError, match="tensor a has no candidate kernel, and output b needs it"):
        solve(p, deadline=Deadline.after(300))


def test_twins_that_only_make_each_other_are_no_plan() -> None:
    layout = (PrimitiveRef(0, "n", ("t",), twin=True), PrimitiveRef(1, "t", ("n",), twin=True))
    pair = (Candidate(0, "n", ("t",), frozenset({0}), 1.0), Candidate(1, "t", ("n",), frozenset({1}), 1.0))
    with pytest.raises(SolverError, match="can only be made from itself"):
        solve(Problem(("t",), layout, pair, {"t": "t", "n": "t"}), deadline=Deadline.after(300))
