"""Error budgets: every way to solve keeps to them, finds the optimum, and the check refuses plans that exceed them."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from korch.errors import SolverError
from korch.solve.budgets import binding
from korch.solve.check import check
from korch.solve.frontier import frontier, search, suffix_bounds
from korch.solve.highs import Highs
from korch.solve.problem import Candidate, ErrorBudget, PrimitiveRef, Problem, Status
from korch.solve.program import Program, dual_bound
from korch.solve.rows import all_rows, error_rows, incidence, matrix
from korch.solve.solve import solve
from korch.system.deadline import Deadline

from .brute_force import budgeted_optimum, budgeted_problem, optimum
from .plainly import solve_plainly

KINDS = {
    "one budget": {},
    "two budgets": {"budgets": 2, "tensors": 8},
    "twins": {"twins": True, "tensors": 4},
    "loops": {"loops": True},
}
CASES = [pytest.param(seed, kind, id=f"{name}-{seed}") for name, kind in KINDS.items() for seed in range(12)]


@pytest.fixture
def two_layers() -> Problem:
    """y from t, each by an exact primitive (0, 2) or a loose one (1, 3) at half the cost."""
    primitives = tuple(PrimitiveRef(i, "t" if i < 2 else "y", () if i < 2 else ("t",)) for i in range(4))
    kernels = tuple(Candidate(i, q.output, q.inputs, frozenset({i}), 2.0 - i % 2) for i, q in enumerate(primitives))
    return Problem(("y",), primitives, kernels, budgets=(ErrorBudget("y", {1: 0.7, 3: 0.4}),))


def test_the_row_adds_the_shares_that_a_kernel_holds(two_layers: Problem) -> None:
    fused = Candidate(4, "y", (), frozenset({1, 3}), 1.0)
    p = replace(two_layers, candidates=(*two_layers.candidates, fused))
    (row,) = error_rows(p, incidence(p))
    assert str(row.key) == "error y" and (row.lower, row.upper) == (-inf, 1.0)
    assert row.terms == ((1, 0.7), (3, 0.4), (4, pytest.approx(1.1)))


def test_one_of_two_loose_layers_fits(two_layers: Problem, highs: Highs) -> None:
    """0.7 + 0.4 exceed the budget, each alone does not."""
    found = solve(two_layers, deadline=Deadline.after(300), highs=highs)
    assert found.cost == 3.0 and found.status is Status.OPTIMAL
    with pytest.raises(SolverError, match=r"1\.1 of the error budget of output y"):
        check(two_layers, [1, 3])


def test_without_loose_primitives_there_is_no_row(two_layers: Problem) -> None:
    p = replace(two_layers, budgets=())
    assert error_rows(p, incidence(p)) == []


def test_a_budget_that_no_plan_keeps_to_is_an_error(two_layers: Problem, highs: Highs) -> None:
    loose = tuple(k for k in two_layers.candidates if k.id in (1, 3))
    with pytest.raises(SolverError, match="within the error budgets"):
        solve(replace(two_layers, candidates=loose), deadline=Deadline.after(300), highs=highs)


@pytest.mark.parametrize("seed, kind", CASES)
def test_solve_finds_and_proves_the_optimum_within_the_budgets(seed: int, kind: dict, highs: Highs) -> None:
    p = budgeted_problem(seed, **kind)
    wanted = budgeted_optimum(p)
    if wanted == inf:
        pytest.skip("no plan keeps to the budgets")
    found = solve(p, deadline=Deadline.after(300), highs=highs)
    assert found.cost == pytest.approx(wanted, rel=1e-8)
    assert found.status is Status.OPTIMAL and found.bound == pytest.approx(found.cost, rel=1e-8)


def test_the_budgets_matter_in_these_problems() -> None:
    problems = [budgeted_problem(seed, **kind) for kind in KINDS.values() for seed in range(12)]
    assert sum(optimum(p) < budgeted_optimum(p) < inf for p in problems) >= 6


@pytest.mark.parametrize("seed, kind", CASES[::5])
def test_highs_and_cbc_agree_on_the_rows_alone(seed: int, kind: dict) -> None:
    p = budgeted_problem(seed, **kind)
    wanted = budgeted_optimum(p)
    if wanted == inf:
        pytest.skip("no plan keeps to the budgets")
    costs = {s: solve_plainly(p, time_limit=300, solver=s).cost for s in ("highs", "cbc")}
    assert costs == pytest.approx(dict.fromkeys(costs, wanted), rel=1e-8)


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("seed, kind", CASES[::3])
def test_the_frontier_search_is_exact_by_itself(seed: int, kind: dict, share: float, highs: Highs) -> None:
    """Also under prices that tell it nothing."""
    p = budgeted_problem(seed, **kind)
    wanted = budgeted_optimum(p)
    rows = all_rows(p, incidence(p))
    program = Program(np.array([k.cost for k in p.candidates]) * 1e6, matrix(rows), integer=False)
    answer = highs.solve(program, Deadline.after(300))
    if wanted == inf or answer.duals is None:
        pytest.skip("no plan keeps to the budgets")
    duals = answer.duals * share
    bound, reduced = dual_bound(program, duals)
    order = frontier(p, program.cost, rows, duals, bound, reduced)
    if order is None:
        pytest.skip("too many tensors make each other")
    found = search(order, incumbent=inf, width=1 << 20)
    assert found.cost == pytest.approx(wanted * 1e6, rel=1e-8)
    ahead = suffix_bounds(order, gap=inf, width=1 << 20)
    assert order.base + ahead[0] <= wanted * 1e6 * (1 + 1e-8)


def test_budgets_that_no_plan_can_exceed_are_left_out(two_layers: Problem) -> None:
    """Each tensor is made once, by whichever kernel."""
    assert binding(two_layers) == two_layers.budgets
    small = ErrorBudget("y", {1: 0.7, 3: 0.2})
    assert binding(replace(two_layers, budgets=(small, *two_layers.budgets))) == two_layers.budgets
