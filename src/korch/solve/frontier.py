"""Exact dynamic programming along the frontier of the primitive graph, bounded by the LP relaxation.

Networks are long and narrow. Once it is known which tensors are stored, the cheapest kernel of each is known too;
and what comes after a point of the graph depends only on which of the *live* tensors, those that later kernels can
read, are stored. So tensors are decided in topological order, and a **label** is one set of stored live tensors
with the least cost that reaches it.

Labels are pruned by LP duality. For row multipliers y, reduced costs d and dual bound b, every plan costs at least

    b + Σ_k d⁺_k u_k + Σ_rows |y_i| · slack_i        (exactly that, where no d is negative),

and the terms that a label's decisions have fixed bound all its completions. `suffix_bounds` adds what the rest of
the graph must pay in any case. A label whose bound reaches the incumbent goes. If more than `width` are left, those
of the largest bounds go too, and the least of these limits what is proved: the search is exact, or it is a beam
that knows how good it is.

With error budgets a label also has the error so far, and of one set of stored tensors every label stays that is cheaper
or errs less than all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from korch.solve.budgets import shares_of
from korch.solve.keys import Dependency, Edge, Entry, Once
from korch.solve.labels import (
    LARGEST_GROUP,
    Columns,
    Cover,
    Decision,
    DecisionGroup,
    KernelColumn,
    LabelIndices,
    Unused,
    Words,
    decide,
    first_label,
)
from korch.solve.problem import Problem
from korch.solve.rows import Floats, Row
from korch.system.deadline import Deadline

NEVER = Deadline.never()


@dataclass(frozen=True)
class FrontierResult:
    """The cheapest plan found (columns; None if none is below the incumbent) and its cost.

    No plan costs less than min(bound, cost, incumbent). `labels` is the largest number of them at any point.
    """

    columns: tuple[int, ...] | None
    cost: float
    bound: float
    labels: int


@dataclass(frozen=True)
class Frontier:
    """The decisions in order, for one problem and one set of LP prices."""

    groups: tuple[DecisionGroup, ...]
    live: tuple[Words, ...]  # tensors that may be stored when each group is decided
    row_words: int
    base: float  # the LP's dual bound
    budgets: int = 0


def search(
    at: Frontier, *, incumbent: float, width: int, ahead: Floats | None = None, deadline: Deadline = NEVER
) -> FrontierResult:
    """The cheapest plan below `incumbent`, from at most `width` labels a group.

    `ahead[g]` bounds what the groups after g add to any label's bound (see `suffix_bounds`). At `deadline` the search
    stops with what is proved so far.
    """
    rest = np.zeros(len(at.groups)) if ahead is None else ahead
    labels = first_label(np.zeros_like(at.live[0]), at.row_words, at.base, at.budgets)
    history: list[tuple[LabelIndices, Columns]] = []
    proved, largest = inf, 1
    for g, group in enumerate(at.groups):
        if deadline.passed:
            low = float(labels.bound.min(initial=inf)) + float(rest[g - 1] if g else 0.0)
            return FrontierResult(None, inf, min(proved, low), largest)
        labels = decide(labels, group, incumbent - float(rest[g]))
        if len(labels) > width:
            order = np.argsort(labels.bound, kind="stable")
            proved = min(proved, float(labels.bound[order[width]] + rest[g]))
            labels = labels.take(np.sort(order[:width]))
        largest = max(largest, len(labels))
        history.append((labels.parent, labels.made))
        if not len(labels):
            return FrontierResult(None, inf, proved, largest)
    best = int(np.argmin(labels.cost))
    return FrontierResult(_trace(history, best), float(labels.cost[best]), proved, largest)


def suffix_bounds(at: Frontier, *, gap: float, width: int, deadline: Deadline = NEVER) -> Floats:
    """ahead[g]: what the groups after g add at least to the bound of any label, from the last group backwards
    (Russian dolls).

    From a checkpoint the suffix is searched as if every live tensor were stored, with all rows that reach back
    before it left out: a relaxation of what any label meets there. The search ends at some group g' when its labels
    get many, and the least of bound + ahead[g'] over its labels holds for the checkpoint. Bounds above `gap` are of
    no use and cut short.
    """
    ahead = np.zeros(len(at.groups))
    points = _checkpoints(at)
    for place in range(len(points) - 1, -1, -1):
        start = points[place]
        low = float(ahead[start])
        found = low if deadline.passed else _suffix(at, start, ahead, gap, width)
        ahead[:start] = np.maximum(ahead[:start], max(found, low))
    return ahead


def _suffix(at: Frontier, start: int, ahead: Floats, limit: float, width: int) -> float:
    """A lower bound, up to `limit`, on what the groups from `start` on add to a label's bound.

    Where there are more than `width` labels the limit comes down to the bounds of those that are dropped.
    """
    labels = first_label(at.live[start], at.row_words, 0.0, at.budgets)
    best = float(ahead[start])
    for g in range(start, len(at.groups)):
        rest = float(ahead[g])
        labels = decide(labels, _relaxed(at.groups[g], start), limit - rest)
        if len(labels) > width:
            limit = min(limit, float(np.partition(labels.bound, width)[width]) + rest)
            labels = labels.take(labels.bound + rest < limit)
        best = max(best, min(limit, float(labels.bound.min(initial=inf)) + rest))
        if best >= limit:
            return limit
    return best


def _checkpoints(at: Frontier, *, spacing: int = 8) -> list[int]:
    """Groups before which few tensors are live, about `spacing` groups from each other."""
    count = [int(np.bitwise_count(words).sum()) for words in at.live]
    return [min(range(g, min(g + spacing, len(count))), key=count.__getitem__) for g in range(1, len(count), spacing)]


def _relaxed(group: DecisionGroup, start: int) -> DecisionGroup:
    """`group` without the rows that reach back before the group `start`.

    Their share of a kernel's cost is taken out of the cost, so that the sum of the costs still is the sum of the
    charges.
    """
    if group.oldest >= start:
        return group
    steps = tuple(_relaxed_step(step, start) for step in group.steps)
    return replace(group, steps=steps, required=np.zeros_like(group.required))


def _relaxed_step(step: Decision, start: int) -> Decision:
    out = {i: row.price for i, row in enumerate(step.unused) if row.since < start}

    def relaxed(k: KernelColumn) -> KernelColumn:
        credit = sum(out[i] for i in k.uses if i in out)
        gone = sum(row.price for row in k.covers if row.since < start)
        covers = tuple(row for row in k.covers if row.since >= start)
        cost, charge = k.cost + credit - gone, k.charge + credit
        return KernelColumn(k.column, cost, k.reads, charge, (), covers, k.covered, k.errors)

    kernels = sorted(map(relaxed, step.kernels), key=lambda k: (k.cost, k.column))
    unused = tuple(row for row in step.unused if row.since >= start)
    return replace(step, kernels=tuple(kernels), unused=unused)


def _trace(history: Sequence[tuple[LabelIndices, Columns]], last: int) -> tuple[int, ...]:
    columns: list[int] = []
    for parent, made in reversed(history):
        columns += [int(c) for c in made[last] if c >= 0]
        last = int(parent[last])
    return tuple(columns[::-1])


def frontier(
    problem: Problem, cost: Floats, rows: Sequence[Row], duals: Floats, base: float, reduced: Floats
) -> Frontier | None:
    """The decisions of `problem`, of which there is a plan, in order, with the prices `duals` of `rows`, the bound and
    reduced costs that follow from them.

    None where more than LARGEST_GROUP tensors can be made from each other.
    """
    groups = _groups(problem)
    if not groups or any(len(g) > LARGEST_GROUP for g in groups):
        return None
    return _Builder(problem, cost, rows, duals, reduced, groups).build(base)


def _groups(problem: Problem) -> list[list[str]]:
    """The strongly connected components of `is read to make`, in topological order, early primitives first."""
    above: dict[str, dict[str, None]] = {}
    for k in problem.candidates:
        above.setdefault(k.root, {}).update(dict.fromkeys(k.reads))
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    found: list[list[str]] = []
    first = [q.output for q in problem.primitives if q.output in above]
    for start in dict.fromkeys(first + list(above)):
        if start in index:
            continue
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        walk = [(start, iter(above[start]))]
        while walk:
            t, leaves = walk[-1]
            for leaf in leaves:
                if leaf not in index:
                    index[leaf] = low[leaf] = len(index)
                    stack.append(leaf)
                    on_stack.add(leaf)
                    walk.append((leaf, iter(above.get(leaf, ()))))
                    break
                if leaf in on_stack:
                    low[t] = min(low[t], index[leaf])
            else:
                walk.pop()
                if walk:
                    low[walk[-1][0]] = min(low[walk[-1][0]], low[t])
                if low[t] == index[t]:
                    cut = stack.index(t)
                    found.append(stack[cut:])
                    on_stack.difference_update(stack[cut:])
                    del stack[cut:]
    return found


def _slots(spans: Mapping[int, tuple[int, int]]) -> tuple[dict[int, int], int]:
    """A bit for each interval (first, last), reused once it is over; and how many bits that takes."""
    free: list[int] = []
    ends: dict[int, list[int]] = {}
    slot: dict[int, int] = {}
    used = 0
    now = 0
    for item, (first, last) in sorted(spans.items(), key=lambda s: (s[1], s[0])):
        while now < first:
            free += ends.pop(now, [])
            now += 1
        if not free:
            free.append(used)
            used += 1
        slot[item] = free.pop()
        ends.setdefault(last, []).append(slot[item])
    return slot, used


class _Builder:
    """Turns rows and prices into the groups of a frontier."""

    def __init__(
        self,
        problem: Problem,
        cost: Floats,
        rows: Sequence[Row],
        duals: Floats,
        reduced: Floats,
        groups: list[list[str]],
    ) -> None:
        self.problem, self.cost, self.reduced, self.groups = problem, cost, reduced, groups
        self.when = {t: g for g, group in enumerate(groups) for t in group}
        self.root = [self.when[k.root] for k in problem.candidates]
        self.shares = shares_of(problem)
        self._tensor_bits()
        self._row_prices(rows, duals)

    def _tensor_bits(self) -> None:
        self.last = dict(self.when)
        for k, g in zip(self.problem.candidates, self.root):
            for t in k.reads:
                self.last[t] = max(self.last[t], g)
        slot, bits = _slots({i: (self.when[t], self.last[t]) for i, t in enumerate(self.when)})
        self.words = bits // 64 + 1
        self.bit = {t: _mask([slot[i]], self.words) for i, t in enumerate(self.when)}

    def _row_prices(self, rows: Sequence[Row], duals: Floats) -> None:
        """Sort the rows by what their slack means: an idle tensor, an unused one, an edge covered twice."""
        self.idle: dict[str, float] = {}
        self.unused: dict[str, list[Unused]] = {}
        self.users: dict[str, list[frozenset[str]]] = {}
        edges: dict[tuple[int, ...], float] = {}
        for row, y in zip(rows, duals.tolist()):
            match row.key:
                case Once(t) if y < 0:
                    self.idle[t] = self.idle.get(t, 0.0) - y
                case Dependency(made, read) if y < 0:
                    self._unused_row(made, [read], -y)
                case Entry(made, of) if y < 0:
                    self._unused_row(made, [t for t in self.when if self.problem.class_of(t) == of], -y)
                case Edge() if columns := tuple(sorted(c for c, _ in row.terms)):
                    edges[columns] = edges.get(columns, 0.0) + max(y, 0.0)
                case _:
                    pass
        self._edge_bits(edges)

    def _unused_row(self, reader: str, read: Iterable[str], price: float) -> None:
        """Of tensors that have their bits when the reader is decided: before and later the bits are others'. (Fewer
        tensors weaken the bound, nothing else.)"""
        tensors = [t for t in read if self.when[t] <= self.when[reader] <= self.last[t]]
        if tensors:
            row = Unused(_join([self.bit[t] for t in tensors], self.words), price, min(self.when[t] for t in tensors))
            self.unused.setdefault(reader, []).append(row)
            self.users.setdefault(reader, []).append(frozenset(tensors))

    def _edge_bits(self, edges: Mapping[tuple[int, ...], float]) -> None:
        items = list(edges.items())
        spans = {i: (min(self.root[c] for c in ks), max(self.root[c] for c in ks)) for i, (ks, _) in enumerate(items)}
        slot, bits = _slots(spans)
        self.row_words = bits // 64 + 1
        self.covers: dict[int, list[tuple[int, Cover]]] = {}
        self.closing: dict[int, list[tuple[int, int]]] = {}
        for i, (columns, price) in enumerate(items):
            row = Cover(slot[i] // 64, np.uint64(1 << slot[i] % 64), price, spans[i][0])
            self.closing.setdefault(spans[i][1], []).append((slot[i], spans[i][0]))
            for c in columns:
                self.covers.setdefault(c, []).append((slot[i], row))

    def build(self, base: float) -> Frontier:
        """The whole frontier; `base` is the LP's dual bound."""
        dying: dict[int, list[str]] = {}
        for t, g in self.last.items():
            dying.setdefault(g, []).append(t)
        makers: dict[str, list[int]] = {}
        for column, k in enumerate(self.problem.candidates):
            makers.setdefault(k.root, []).append(column)
        groups: list[DecisionGroup] = []
        live, now = list[Words](), _mask([], self.words)
        for g, names in enumerate(self.groups):
            live.append(now)
            dead = _join([self.bit[t] for t in dying.get(g, ())], self.words)
            now = (now | _join([self.bit[t] for t in names], self.words)) & ~dead
            groups.append(self._group(g, tuple(self._step(t, makers.get(t, ())) for t in names), dead))
        return Frontier(tuple(groups), tuple(live), self.row_words, base, len(self.problem.budgets))

    def _group(self, g: int, steps: tuple[Decision, ...], dead: Words) -> DecisionGroup:
        closing = self.closing.get(g, [])
        closed = _mask((s for s, _ in closing), self.row_words)
        since = [first for _, first in closing] + [row.since for step in steps for row in step.unused]
        since += [row.since for step in steps for k in step.kernels for row in k.covers]
        return DecisionGroup(steps, dead, closed, closed, min(since, default=g))

    def _step(self, t: str, makers: Iterable[int]) -> Decision:
        kernels = sorted(makers, key=lambda c: (self.cost[c], c))
        must = t in self.problem.outputs
        unused = tuple(self.unused.get(t, ()))
        return Decision(self.bit[t], tuple(map(self._kernel, kernels)), unused, self.idle.get(t, 0.0), must)

    def _kernel(self, column: int) -> KernelColumn:
        k = self.problem.candidates[column]
        uses = tuple(i for i, rs in enumerate(self.users.get(k.root, ())) if not rs.isdisjoint(k.reads))
        credit = sum(self.unused[k.root][i].price for i in uses)
        covers = self.covers.get(column, [])
        return KernelColumn(
            column,
            float(self.cost[column]),
            _join([self.bit[t] for t in k.reads], self.words),
            max(float(self.reduced[column]), 0.0) - credit,
            uses,
            tuple(row for _, row in covers if row.price > 0),
            _mask((s for s, _ in covers), self.row_words),
            self.shares[column],
        )


def _mask(bits: Iterable[int], words: int) -> Words:
    mask = [0] * words
    for b in bits:
        mask[b // 64] |= 1 << b % 64
    return np.array(mask, np.uint64)


def _join(masks: Sequence[Words], words: int) -> Words:
    return np.bitwise_or.reduce(masks) if masks else np.zeros(words, np.uint64)
