"""From a problem to a checked plan: prune, relax, search the frontier, and, where that does not apply, branch and
bound.

Costs are in microseconds inside, in seconds outside. Everything is deterministic unless a time limit interferes.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from korch.errors import NoPlan, SolverError
from korch.solve.branching import SolveRun, cheapest
from korch.solve.budgets import binding, shares_of, within_budgets
from korch.solve.check import CheckedPlan, check, cost_of
from korch.solve.frontier import Frontier, frontier, search, suffix_bounds
from korch.solve.greedy import greedy
from korch.solve.highs import Highs
from korch.solve.keys import Edge
from korch.solve.problem import Problem, Restart, Solution, Status
from korch.solve.program import BASIC, MICRO, NONBASIC_AT_LOWER, Answer, Basis, Program, dual_bound
from korch.solve.prune import prune, within_reach
from korch.solve.rows import Floats, Incidence, Row, all_rows, chosen_row, incidence, matrix, violated_edges
from korch.solve.tree import TreeSearch
from korch.system.deadline import Deadline

log = logging.getLogger(__name__)

PROVED = 1e-9  # relative gap below which a plan counts as proved
BEAMS = (128, 1024)  # labels of the searches that look for plans
DOLLS = (100, 400, 1600, 6400)  # labels of the suffix searches, and
PROOFS = 4  # times as many for the search that uses them
NEAR = 2048  # candidates that `Solution.near` names
SEPARATIONS = 40  # rounds of edge rows with choices
LEAST = 0.5  # seconds that a relaxation may take, however little time is left: without one there is no bound
LEAST_BUDGETED = 2.0  # seconds for a first plan within error budgets, where the greedy cover finds none
CHECKED_SHARE, CHECKED_SECONDS = 0.5, 1.0  # of the time left, for a tree that confirms the bound of an integer program
SUMS = 1e-10  # relative: more than the sums of a frontier search, of some thousand terms in float64, can be wrong by


@dataclass(frozen=True)
class _Relaxed:
    """The LP relaxation at its optimum, in the terms that bounds need."""

    rows: list[Row]
    duals: Floats
    bound: float
    reduced: Floats
    restart: Restart | None


@dataclass(frozen=True)
class _Best:
    """The incumbent (columns of the pruned problem), its cost, and the best lower bound; microseconds.

    `claimed`: a bound of a solver's, by which a search can end. Nobody has checked it, so it is never reported.
    """

    columns: tuple[int, ...]
    cost: float
    bound: float
    claimed: float = 0.0

    def better(self, columns: Sequence[int] | None, cost: float) -> _Best:
        """With another plan, if it is cheaper."""
        return replace(self, columns=tuple(columns), cost=cost) if columns is not None and cost < self.cost else self

    def proves(self, bound: float) -> _Best:
        """With another lower bound on all plans that are cheaper than the incumbent."""
        return replace(self, bound=max(self.bound, min(bound, self.cost)))

    @property
    def gap(self) -> float:
        """(cost - bound) / cost."""
        return (self.cost - self.bound) / self.cost if self.cost > 0 else 0.0

    @property
    def settled(self) -> bool:
        """Whether the incumbent counts as the optimum, by its bound or by what a solver claims."""
        return self.gap <= PROVED or (self.cost - self.claimed) / self.cost <= PROVED


def solve(
    problem: Problem, *, deadline: Deadline, warm: Solution | None = None, gap: float = 0.0, highs: Highs | None = None
) -> Solution:
    """The cheapest plan of `problem`, or the best until about `deadline`.

    `warm` is the solution of an earlier problem with the same candidates at other costs. The search ends early when
    the relative gap is at most `gap`; where that is above zero, only narrow searches look for a plan. `highs` is a
    solver process to use and leave running. Raises SolverError where no plan exists, naming a tensor that nothing can
    make.

    One kernel for both primitives is cheaper than one for each:

    >>> from korch.solve import Candidate, PrimitiveRef, Problem
    >>> from korch.system.deadline import NEVER
    >>> primitives = PrimitiveRef(0, "t", ()), PrimitiveRef(1, "y", ("t",))
    >>> apart = Candidate(0, "t", (), frozenset({0}), 2e-6), Candidate(1, "y", ("t",), frozenset({1}), 2e-6)
    >>> fused = Candidate(2, "y", (), frozenset({0, 1}), 3e-6)
    >>> found = solve(Problem(("y",), primitives, (*apart, fused)), deadline=NEVER)
    >>> found.chosen, found.cost, found.gap < 1e-9
    ((2,), 3e-06, True)
    """
    pruned = _pruned(problem)
    cost = np.array([k.cost for k in pruned.candidates]) * MICRO
    at = incidence(pruned)
    with Highs() if highs is None else nullcontext(highs) as solver:
        best = _first_plan(pruned, at, cost, warm, solver.solve, deadline)
        relaxed = _relax(pruned, at, cost, best.columns, solver.solve, deadline, warm.restart if warm else None)
        best = best.proves(relaxed.bound)
        if best.gap <= max(gap, PROVED):
            log.debug("the first plan is good enough")
        elif (order := _frontier(pruned, cost, relaxed)) is None:
            best = _branch_and_bound(pruned, at, cost, relaxed, best, solver.solve, deadline, max(gap, PROVED))
        else:
            best = _beams(order, best, max(gap, PROVED), deadline)
            if gap < PROVED < best.gap:
                best = _branch_and_bound(pruned, at, cost, relaxed, best, solver.solve, deadline.share(0.5), PROVED)
            if gap < PROVED and not best.settled:
                best = _search_frontier(order, best, deadline)
    plan = check(problem, (pruned.candidates[i].id for i in best.columns))
    return _solution(plan, best.bound / MICRO, relaxed, pruned)


def _frontier(pruned: Problem, cost: Floats, relaxed: _Relaxed) -> Frontier | None:
    return frontier(pruned, cost, relaxed.rows, relaxed.duals, relaxed.bound, relaxed.reduced)


def _pruned(problem: Problem) -> Problem:
    problem = replace(problem, budgets=binding(problem)) if problem.budgets else problem
    kept = prune(problem)
    made = {problem.candidates[i].root for i in kept}
    if absent := [t for t in problem.outputs if t not in made]:
        raise _no_plan(problem, absent[0])
    log.debug("%d of %d candidates left after pruning", len(kept), len(problem.candidates))
    pruned = replace(problem, candidates=tuple(problem.candidates[i] for i in kept))
    return replace(pruned, budgets=binding(pruned)) if problem.budgets else pruned


def _no_plan(problem: Problem, output: str) -> NoPlan:
    """Names the tensor below `output` that no candidate can make, following first reads."""
    makeable = {problem.candidates[i].root for i in within_reach(replace(problem, outputs=_all_made(problem)))}
    seen: set[str] = set()
    t = output
    while t not in seen:
        seen.add(t)
        reads = [r for k in problem.candidates if k.root == t and k.cost < inf for r in k.reads if r not in makeable]
        if not reads:
            break
        t = reads[0]
    why = "can only be made from itself" if t in _all_made(problem) else "has no candidate kernel"
    needs = f", and output {output} needs it" if t != output else ""
    return NoPlan(f"no plan exists: tensor {t} {why}{needs}", t)


def _all_made(problem: Problem) -> tuple[str, ...]:
    return tuple(dict.fromkeys(k.root for k in problem.candidates if k.cost < inf))


def _first_plan(
    problem: Problem, at: Incidence, cost: Floats, warm: Solution | None, run: SolveRun, deadline: Deadline
) -> _Best:
    """The greedy plan, or the last solution's if that is cheaper now."""
    columns = greedy(problem)
    best = _Best((), inf, 0.0).better(columns, float(cost[columns].sum()) if columns is not None else inf)
    position = {k.id: i for i, k in enumerate(problem.candidates)}
    if warm and all(i in position for i in warm.chosen):
        again = [position[i] for i in warm.chosen]
        if within_budgets(shares_of(problem), again):
            best = best.better(again, float(cost[again].sum()))
    if best.cost == inf and problem.budgets:
        rows, every = all_rows(problem, at), np.ones(len(cost), np.bool_)
        found, _ = cheapest(problem, cost, rows, every, None, run, max(deadline, Deadline.after(LEAST_BUDGETED)))
        best = best.better(found, float(cost[list(found)].sum()) if found is not None else inf)
    if best.cost == inf:
        within = " within the error budgets" if problem.budgets else ""
        raise SolverError(f"no plan exists{within}: none was found for {', '.join(problem.outputs)}")
    return best


def _relax(
    problem: Problem,
    at: Incidence,
    cost: Floats,
    plan: Sequence[int],
    run: SolveRun,
    deadline: Deadline,
    restart: Restart | None,
) -> _Relaxed:
    """The LP relaxation, with edge rows added while its point breaks some. Without an answer, the bound is zero."""
    edges = list(restart.edges) if restart else []
    rows = _kept_by(plan, [*all_rows(problem, at), *(chosen_row(e, at) for e in edges)], len(cost))
    out = _Relaxed(rows, np.zeros(len(rows)), 0.0, cost, None)
    known = set(edges)
    for _ in range(SEPARATIONS):
        program = Program(cost, matrix(rows), integer=False, basis=_basis(problem, rows, restart))
        answer = _first_solved(program, run, deadline)
        if answer.status is not Status.OPTIMAL or answer.duals is None or answer.x is None:
            log.warning("the relaxation was not solved: %s %s", answer.status.value, answer.detail)
            return out
        bound, reduced = dual_bound(program, answer.duals)
        fresh = [e for e in violated_edges(answer.x, at) if e not in known]
        edges += fresh
        restart = _restart(problem, rows, answer.basis, edges)
        out = _Relaxed(rows, answer.duals, bound, reduced, restart)
        if not fresh or deadline.passed:
            break
        known.update(fresh)
        rows = rows + _kept_by(plan, [chosen_row(e, at) for e in fresh], len(cost))
    log.debug("relaxation: %.3f us, %d rows", out.bound, len(out.rows))
    return out


def _kept_by(plan: Sequence[int], rows: Sequence[Row], columns: int) -> list[Row]:
    """`rows` without any that a plan breaks: it would be a mistake, and whatever it proves would be none."""
    x = np.zeros(columns)
    x[list(plan)] = 1.0
    whole = matrix(rows)
    sums = whole.activity(x)
    kept = ((sums >= whole.lower - 1e-6) & (sums <= whole.upper + 1e-6)).tolist()
    for row, held in zip(rows, kept):
        if not held:
            log.error("row %r excludes a plan that runs; it is left out", str(row.key))
    return [row for row, held in zip(rows, kept) if held]


def _first_solved(program: Program, run: SolveRun, deadline: Deadline) -> Answer:
    """From the old basis, afresh, or by interior points; each try has a part of what is left, the last all of it.

    From an old basis the simplex sometimes loses its way, and would take all the time there is.
    """
    tries = [(program, 0.25)] if program.basis is not None else []
    tries += [(replace(program, basis=None), 0.5), (replace(program, basis=None, method="ipm"), 1.0)]
    answer = Answer(Status.FAILED)
    for attempt, share in tries:
        answer = run(attempt, max(deadline.share(share), Deadline.after(LEAST)))
        if answer.status is Status.OPTIMAL:
            break
    return answer


def _basis(problem: Problem, rows: Sequence[Row], restart: Restart | None) -> Basis | None:
    if restart is None:
        return None
    columns = [restart.columns.get(k.id, NONBASIC_AT_LOWER) for k in problem.candidates]
    return Basis(np.array(columns, np.int8), np.array([restart.rows.get(r.key, BASIC) for r in rows], np.int8))


def _restart(problem: Problem, rows: Sequence[Row], basis: Basis | None, edges: Sequence[Edge]) -> Restart | None:
    if basis is None:
        return None
    columns = {k.id: code for k, code in zip(problem.candidates, basis.columns.tolist()) if code != NONBASIC_AT_LOWER}
    return Restart(columns, {r.key: code for r, code in zip(rows, basis.rows.tolist()) if code != BASIC}, tuple(edges))


def _beams(order: Frontier, best: _Best, target: float, deadline: Deadline) -> _Best:
    """Narrow searches that look for plans."""
    for width in BEAMS:
        best = _searched(order, best, width, None, deadline)
        if best.gap <= target or deadline.passed:
            break
    return best


def _search_frontier(order: Frontier, best: _Best, deadline: Deadline) -> _Best:
    """Suffix bounds and searches of growing width, for the proof."""
    for width in DOLLS:
        ahead = suffix_bounds(order, gap=best.cost - order.base, width=width, deadline=deadline)
        best = best.proves((order.base + float(ahead[0])) * (1 - SUMS))
        best = _searched(order, best, PROOFS * width, ahead, deadline)
        log.debug("frontier, %d labels: %.3f us, gap %.4f%%", width, best.cost, 100 * best.gap)
        if best.gap <= PROVED or deadline.passed:
            break
    return best


def _searched(order: Frontier, best: _Best, width: int, ahead: Floats | None, deadline: Deadline) -> _Best:
    found = search(order, incumbent=best.cost, width=width, ahead=ahead, deadline=deadline)
    best = best.better(found.columns, found.cost)
    return best.proves(min(found.bound, best.cost) * (1 - SUMS))


def _branch_and_bound(
    problem: Problem,
    at: Incidence,
    cost: Floats,
    relaxed: _Relaxed,
    best: _Best,
    run: SolveRun,
    deadline: Deadline,
    gap: float,
) -> _Best:
    """HiGHS on the columns that reduced cost leaves: a plan with any other costs more than the incumbent.

    It finds plans. Its bound is a claim, which a tree of relaxations confirms as far as it comes in a short time.
    """
    guided = greedy(problem, (np.maximum(relaxed.reduced, 0.0) + 1e-3 * cost).tolist())
    if guided is not None:
        best = best.better(guided, float(cost[guided].sum()))
    if best.gap <= PROVED:
        return best
    open_ = relaxed.reduced <= best.cost - relaxed.bound + 1e-6
    open_[list(best.columns)] = True
    columns, bound = cheapest(problem, cost, relaxed.rows, open_, best.columns, run, deadline)
    found = float(cost[list(columns)].sum()) if columns is not None else inf
    best = replace(best.better(columns, found), claimed=bound)
    tree = TreeSearch(problem, at, cost, list(relaxed.rows), open_, best.columns, run)
    until = deadline.share(CHECKED_SHARE).within(CHECKED_SECONDS)
    return best.proves(tree.proof(until, gap).bound)


def _solution(plan: CheckedPlan, bound: float, relaxed: _Relaxed, problem: Problem) -> Solution:
    bound = min(bound, plan.cost)
    gap = (plan.cost - bound) / plan.cost if plan.cost > 0 else 0.0
    status = Status.OPTIMAL if gap <= 2 * PROVED else Status.FEASIBLE
    chosen = set(plan.ids)
    ranked: list[int] = np.argsort(relaxed.reduced, kind="stable")[: NEAR + len(chosen)].tolist()
    pairs = ((problem.candidates[i].id, float(relaxed.reduced[i]) / MICRO) for i in ranked)
    near = {k: max(d, 0.0) for k, d in pairs if k not in chosen}
    size = len(problem.candidates), len(relaxed.rows)
    return Solution(plan.ids, cost_of(plan.order), bound, gap, status, near, relaxed.restart, *size)
