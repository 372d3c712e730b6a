"""A greedy cover: the warm start and the first upper bound.

Technology mapping's area flow: the flow of a tensor is the cost of its cheapest kernel plus the flows of what that
reads, each divided by the number of its readers in the last cover; then local search over which tensors are stored.

Error budgets are priced (Lagrangian relaxation): a column costs its share of them too, at a price that grows until the
cover keeps to them.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from math import inf

from korch.solve.budgets import shares_of, within_budgets
from korch.solve.check import running_order
from korch.solve.problem import Candidate, Problem

Assignment = dict[str, int]  # tensor made: column of the kernel that makes it
PRICES = (*(4.0**n for n in range(-4, 8)), inf)
"""Of a whole error budget, in units of the cost of the plan without budgets; at the last price only columns without
error are left."""


def greedy(problem: Problem, weights: Sequence[float] | None = None, *, rounds: int = 4) -> list[int] | None:
    """Columns of a complete, acyclic selection; None if no plan exists, or none that keeps to the budgets is found.

    `weights` replaces the costs when kernels are picked (an LP point's reduced costs, say); what counts at the end,
    and in local search, is `cost`.
    """
    costs, index = [k.cost for k in problem.candidates], _Index(problem)
    paid = costs if weights is None else weights
    plan = _covered(problem, index, paid, costs, rounds)
    if plan is None:
        return None
    if index.affords(plan):
        return sorted(_improve(problem, index, plan, costs).values())
    unit = max(_cost(plan, paid), 1e-12)
    for price in PRICES:
        weighed = [w + price * unit * used if used else w for w, used in zip(paid, index.used.tolist(), strict=True)]
        plan = _covered(problem, index, weighed, costs, rounds)
        if plan and index.affords(plan):
            return sorted(_improve(problem, index, plan, costs).values())
    return None


def _covered(
    problem: Problem, index: _Index, paid: Sequence[float], costs: Sequence[float], rounds: int
) -> Assignment | None:
    """The cheapest of a few covers, of those that keep to the budgets if there are any."""
    readers: dict[str, float] = {}
    best: tuple[tuple[bool, float], Assignment] | None = None
    for _ in range(rounds):
        plan = _cover(problem, index, paid, readers)
        if plan is None:
            return None
        fanout = _fanout(problem, plan)
        readers = {t: (readers.get(t, 1.0) + fanout.get(t, 0)) / 2 for t in index.makers}
        total = not index.affords(plan), _cost(plan, costs)
        if best is None or total < best[0]:
            best = total, plan
    assert best is not None
    return best[1]


class _Index:
    """Columns by what they make and what they read."""

    def __init__(self, problem: Problem) -> None:
        self.makers: dict[str, list[int]] = {}
        self.readers: dict[str, list[int]] = {}
        self.reads = [frozenset(k.reads) for k in problem.candidates]
        self.shares = shares_of(problem)
        self.used = self.shares.max(1, initial=0.0)  # of the budget that a column uses most of
        for column, k in enumerate(problem.candidates):
            self.makers.setdefault(k.root, []).append(column)
            for t in self.reads[column]:
                self.readers.setdefault(t, []).append(column)

    def affords(self, plan: Assignment) -> bool:
        """Whether the plan keeps to the error budgets."""
        return not self.shares.shape[1] or within_budgets(self.shares, plan.values())


def _cover(
    problem: Problem, index: _Index, weights: Sequence[float], readers: Mapping[str, float]
) -> Assignment | None:
    """The cover of least flow, by Dijkstra's order: a tensor is settled after all that its kernel reads, so no
    cycles."""
    missing = [len(reads) for reads in index.reads]
    flow: dict[str, float] = {}
    kernel: Assignment = {}
    partial = [max(w, 0.0) for w in weights]
    queue = [(partial[i], i) for i, n in enumerate(missing) if n == 0]
    heapq.heapify(queue)
    while queue:
        value, i = heapq.heappop(queue)
        if (t := problem.candidates[i].root) in flow:
            continue
        flow[t], kernel[t] = value, i
        share = value / max(readers.get(t, 1.0), 1.0)
        for reader in index.readers.get(t, ()):
            missing[reader] -= 1
            partial[reader] += share
            if not missing[reader]:
                heapq.heappush(queue, (partial[reader], reader))
    if any(t not in kernel for t in problem.outputs):
        return None
    return _extract(problem, kernel)


def _extract(problem: Problem, kernel: Assignment) -> Assignment:
    """The part of `kernel` that the outputs need."""
    plan: Assignment = {}
    todo = list(problem.outputs)
    while todo:
        t = todo.pop()
        if t not in plan:
            plan[t] = kernel[t]
            todo.extend(problem.candidates[kernel[t]].reads)
    return plan


def _fanout(problem: Problem, plan: Assignment) -> dict[str, int]:
    count: dict[str, int] = {}
    for i in plan.values():
        for t in problem.candidates[i].reads:
            count[t] = count.get(t, 0) + 1
    return count


def _cost(plan: Assignment, costs: Sequence[float]) -> float:
    return sum(costs[i] for i in plan.values())


def _improve(
    problem: Problem, index: _Index, plan: Assignment, costs: Sequence[float], *, passes: int = 3
) -> Assignment:
    """Local search: store one tensor less, or one more, whenever that is cheaper."""
    for _ in range(passes):
        before = _cost(plan, costs)
        for t in list(plan):
            if t in plan and t not in problem.outputs:
                plan = _without(problem, index, plan, t, costs)
        for t in index.makers:
            if t not in plan:
                plan = _with(problem, index, plan, t, costs)
        if _cost(plan, costs) >= before * (1 - 1e-9):
            break
    return plan


def _cheapest(index: _Index, t: str, stored: Mapping[str, int], costs: Sequence[float]) -> tuple[float, int]:
    """The cheapest kernel that makes `t` from `stored` tensors."""
    options = ((costs[i], i) for i in index.makers.get(t, ()) if all(r in stored for r in index.reads[i]))
    return min(options, default=(inf, -1))


def _without(problem: Problem, index: _Index, plan: Assignment, t: str, costs: Sequence[float]) -> Assignment:
    """`plan`, or a cheaper one in which the readers of `t` compute it again."""
    stored = {r: i for r, i in plan.items() if r != t}
    gain = costs[plan[t]]
    changed: Assignment = {}
    for i in index.readers.get(t, ()):
        root = problem.candidates[i].root
        if plan.get(root) != i:
            continue
        price, changed[root] = _cheapest(index, root, stored, costs)
        gain += costs[i] - price
        if gain <= 0:
            return plan
    return _accept(problem, index, plan, stored | changed, costs)


def _with(problem: Problem, index: _Index, plan: Assignment, t: str, costs: Sequence[float]) -> Assignment:
    """`plan`, or a cheaper one that stores `t` too."""
    price, maker = _cheapest(index, t, plan, costs)
    changed: Assignment = {t: maker}
    for i in index.readers.get(t, ()):
        root = problem.candidates[i].root
        now = changed.get(root, plan.get(root))
        if now is None or root == t or costs[i] >= costs[now]:
            continue
        if all(r in plan or r == t for r in index.reads[i]):
            price += costs[i] - costs[now]
            changed[root] = i
    if price >= 0 or maker < 0:
        return plan
    return _accept(problem, index, plan, plan | changed, costs)


def _accept(problem: Problem, index: _Index, plan: Assignment, other: Assignment, costs: Sequence[float]) -> Assignment:
    other = _extract(problem, other)
    kernels: list[Candidate] = [problem.candidates[i] for i in sorted(other.values())]
    cheaper = _cost(other, costs) < _cost(plan, costs)
    return other if cheaper and index.affords(other) and len(running_order(kernels)) == len(kernels) else plan
