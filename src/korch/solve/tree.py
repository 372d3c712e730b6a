"""Branch and bound by LP multipliers alone: a lower bound that anybody can check, leaf by leaf.

A node forks at a set of columns, such as all kernels that make a tensor: on one side none of them runs, on the other at
least one does. Each side is one more row, with a multiplier of its own, so the multipliers of a leaf bound all
selections there (`program.dual_bound`), whatever a solver believes. LPs are solved over the columns that can matter;
those whose reduced cost turns out to be negative come in then, and every bound counts all columns.
"""

from __future__ import annotations

import heapq
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from korch.solve.branching import SolveRun
from korch.solve.cycles import cycle_cuts
from korch.solve.problem import Problem, Status
from korch.solve.program import BASIC, NONBASIC_AT_LOWER, Answer, Basis, Program, dual_bound
from korch.solve.rows import Floats, Incidence, Matrix, Row, chosen_row, matrix, violated_edges
from korch.system.deadline import Deadline

log = logging.getLogger(__name__)

Mask = NDArray[np.bool_]
TRIED = 4
"""Forks that are tried at a node, of which the one is taken that raises the bounds of its sides most."""
FRACTION = 1e-6
"""How far from 0 and 1 a sum of columns must be to fork there."""
DECIMALS = 12
"""Of a multiplier, in microseconds."""
PENALTIES = (1e2, 1e5)
"""Times the incumbent's cost: the price of breaking rows, where a side has no point that keeps to all of them."""


@dataclass(frozen=True)
class Side:
    """Of a fork at `columns`: at least one of them runs (`some`), or none does."""

    columns: tuple[int, ...]
    some: bool


@dataclass(frozen=True)
class Leaf:
    """Selections that keep to all sides above cost at least `bound`, by multipliers of the `rows` that there were then,
    and of the `sides` above."""

    rows: Floats
    sides: Floats
    bound: float


@dataclass(frozen=True)
class Fork:
    """Where none of `columns` runs, the tree goes on at node `none`, otherwise at `some`."""

    columns: tuple[int, ...]
    none: int
    some: int


Node = Leaf | Fork


@dataclass(frozen=True)
class Proof:
    """A tree, root first, over `rows`, with those that were added on the way. No selection costs less than `bound`."""

    nodes: tuple[Node, ...]
    rows: tuple[Row, ...]
    bound: float


@dataclass(frozen=True)
class _Point:
    """A node's relaxation: its leaf, its optimal point (none where it was not solved), and where the simplex stood."""

    leaf: Leaf
    x: Floats | None
    columns: NDArray[np.int8]
    rows: NDArray[np.int8]


@dataclass
class TreeSearch:
    """A tree for `problem` at `cost` (any unit) over its `rows`. First with the columns `open_`; `plan` is known."""

    problem: Problem
    at: Incidence
    cost: Floats
    rows: list[Row]
    open_: Mask
    plan: tuple[int, ...]
    run: SolveRun
    nodes: list[Node] = field(default_factory=list[Node])

    def proof(self, deadline: Deadline, gap: float) -> Proof:
        """The tree in which every leaf's bound is within `gap` of the incumbent's cost; at `deadline` as far as it is,
        which proves less."""
        self.incumbent = float(self.cost[list(self.plan)].sum())
        self.enough = self.incumbent * (1 - gap)
        self.matrix = matrix(self.rows)
        n = len(self.cost)
        blind = Leaf(np.zeros(0), np.zeros(0), dual_bound(self._program(()), np.zeros(len(self.rows)))[0])
        start = _Point(blind, None, np.full(n, NONBASIC_AT_LOWER, np.int8), np.zeros(0, np.int8))
        root = self._relaxed((), start, deadline)
        self._narrow(root)
        self.nodes.append(root.leaf)
        queue: list[tuple[float, int, tuple[Side, ...], _Point]] = [(root.leaf.bound, 0, (), root)]
        closed = inf
        while queue and queue[0][0] < min(self.enough, closed) and not deadline.passed:
            _, number, path, point = heapq.heappop(queue)
            if point.x is None:
                closed = min(closed, point.leaf.bound)
            elif fresh := self._cuts(point.x):
                self._add(fresh)
                point = self._relaxed(path, point, deadline)
                self.nodes[number] = point.leaf
                heapq.heappush(queue, (point.leaf.bound, number, path, point))
            elif sides := self._fork(path, point, deadline):
                self.nodes[number] = Fork(sides[0][0].columns, len(self.nodes), len(self.nodes) + 1)
                for side, below in sides:
                    heapq.heappush(queue, (below.leaf.bound, len(self.nodes), (*path, side), below))
                    self.nodes.append(below.leaf)
            else:
                closed = min(closed, point.leaf.bound)
        bound = min(node.bound for node in self.nodes if isinstance(node, Leaf))
        log.debug("tree: %d nodes, bound %.6f of %.6f", len(self.nodes), bound, self.incumbent)
        return Proof(tuple(self.nodes), tuple(self.rows), bound)

    def _narrow(self, root: _Point) -> None:
        """Leaves out columns that are in no selection cheaper than the incumbent, by their reduced costs."""
        if root.x is not None:
            reduced = dual_bound(self._program(()), root.leaf.rows)[1]
            self.open_ &= reduced <= self.incumbent - root.leaf.bound
            self.open_[list(self.plan)] = True

    def _cuts(self, x: Floats) -> list[Row]:
        """Rows that all plans keep and `x` breaks; a point that is an acyclic selection breaks none and is a plan."""
        known = {r.key for r in self.rows}
        fresh = [chosen_row(e, self.at) for e in violated_edges(x, self.at) if e not in known]
        if not fresh and np.abs(x - x.round()).max() < FRACTION:
            chosen = np.flatnonzero(x > 0.5).tolist()
            fresh = [r for r in cycle_cuts(self.problem, chosen) if r.key not in known]
        return fresh

    def _add(self, rows: Sequence[Row]) -> None:
        self.rows += rows
        self.matrix = _joined(self.matrix, matrix(rows))

    def _fork(self, path: tuple[Side, ...], point: _Point, deadline: Deadline) -> list[tuple[Side, _Point]]:
        """Both sides of the best fork among the first few; nothing where the point has no fraction."""
        best: tuple[float, list[tuple[Side, _Point]]] = (-inf, [])
        assert point.x is not None
        for columns in self._fractional(point.x)[:TRIED]:
            if best[1] and deadline.passed:
                break
            sides = [Side(columns, some) for some in (False, True)]
            below = [(side, self._relaxed((*path, side), point, deadline)) for side in sides]
            gains = [min(p.leaf.bound, self.enough) - point.leaf.bound for _, p in below]
            score = max(gains[0], 1e-6 * self.incumbent) * max(gains[1], 1e-6 * self.incumbent)
            best = max(best, (score, below), key=lambda pair: pair[0])
        return best[1]

    def _fractional(self, x: Floats) -> list[tuple[int, ...]]:
        """Sets of columns of which `x` takes a fraction, the nearest to one half first: makers of a tensor; where there
        are none, holders of a primitive; then single columns."""
        single = {k: [k] for k in np.flatnonzero(np.minimum(x, 1 - x) > FRACTION).tolist()}
        for sets in (self.at.makers, self.at.holders, single):
            sums = [(abs(0.5 - float(x[ks].sum())), tuple(ks)) for ks in sets.values()]
            found = sorted((far, ks) for far, ks in sums if far < 0.5 - FRACTION)
            if found:
                return [ks for _, ks in found]
        return []

    def _program(self, path: Sequence[Side]) -> Program:
        """The relaxation over all columns, with a row for each side."""
        ends = np.array([1.0 if s.some else 0.0 for s in path])
        some = np.array([s.some for s in path], np.bool_)
        lengths = np.cumsum([0] + [len(s.columns) for s in path])
        columns = np.array([k for s in path for k in s.columns], np.int32)
        lower, upper = np.where(some, ends, -inf), np.where(some, inf, ends)
        sides = Matrix(lengths.astype(np.int32), columns, np.ones(len(columns)), lower, upper)
        return Program(self.cost, _joined(self.matrix, sides), integer=False)

    def _relaxed(self, path: tuple[Side, ...], above: _Point, deadline: Deadline) -> _Point:
        """The relaxation of a node, from the basis of the one above. Where no solver answers, the multipliers of the
        one above hold here as well."""
        program, count = self._program(path), len(self.rows)
        old = np.zeros(count)
        old[: len(above.leaf.rows)] = above.leaf.rows
        sides = np.zeros(len(path))
        sides[: len(above.leaf.sides)] = above.leaf.sides
        rows = np.full(count + len(path), BASIC, np.int8)
        given = len(above.leaf.rows)
        rows[:given], rows[count : count + len(above.leaf.sides)] = above.rows[:given], above.rows[given:]
        point = _Point(Leaf(old, sides, above.leaf.bound), None, above.columns, rows)
        while not deadline.passed:
            where = np.flatnonzero(self.open_)
            small, kept = _restricted(program.matrix, self.open_)
            basis = Basis(point.columns[where], point.rows[kept]) if given else None
            answer = self._answer(Program(self.cost[where], small, integer=False, basis=basis), deadline)
            if answer.duals is None or answer.x is None or answer.basis is None:
                break
            duals = np.zeros(count + len(path))
            duals[kept] = np.round(answer.duals, DECIMALS)
            bound, reduced = dual_bound(program, duals)
            x, columns, rows = np.zeros(len(self.cost)), np.zeros_like(point.columns), np.full_like(rows, BASIC)
            x[where], columns[where], rows[kept] = answer.x, answer.basis.columns, answer.basis.rows
            leaf = Leaf(duals[:count], duals[count:], bound) if bound > point.leaf.bound else point.leaf
            point = _Point(leaf, x, columns, rows)
            fresh = (reduced < -FRACTION) & ~self.open_
            if bound >= self.enough or not fresh.any():
                break
            self.open_, given = self.open_ | fresh, count
        return point

    def _answer(self, program: Program, deadline: Deadline) -> Answer:
        """The optimum of a relaxation; where it has no point, that of one in which rows can be broken at a price so
        high that its multipliers prove as much as is wanted."""
        answer = self.run(program, deadline)
        for penalty in PENALTIES:
            if answer.status is not Status.INFEASIBLE:
                break
            answer = self.run(_elastic(program, penalty * self.incumbent), deadline)
            if answer.x is not None and answer.basis is not None:
                basis = replace(answer.basis, columns=answer.basis.columns[:-1])
                answer = replace(answer, x=answer.x[:-1], basis=basis)
                answer = answer if answer.bound >= self.enough else replace(answer, status=Status.INFEASIBLE)
        return answer


def _elastic(program: Program, penalty: float) -> Program:
    """`program` with one more column of cost `penalty`, which fulfils every row that asks for more than nothing."""
    m, n = program.matrix, len(program.cost)
    asking = np.flatnonzero(m.lower > 0)
    ends = m.starts[1:][asking]
    columns, values = np.insert(m.columns, ends, n), np.insert(m.values, ends, m.lower[asking])
    more = np.zeros(len(m.starts), np.int32)
    more[1:] = np.cumsum(m.lower > 0)
    wider = Matrix(m.starts + more, columns.astype(np.int32), values, m.lower, m.upper)
    return Program(np.append(program.cost, penalty), wider, integer=False)


def _joined(a: Matrix, b: Matrix) -> Matrix:
    """The rows of both."""
    return Matrix(
        np.concatenate((a.starts, b.starts[1:] + a.starts[-1])).astype(np.int32),
        np.concatenate((a.columns, b.columns)),
        np.concatenate((a.values, b.values)),
        np.concatenate((a.lower, b.lower)),
        np.concatenate((a.upper, b.upper)),
    )


def _restricted(m: Matrix, open_: Mask) -> tuple[Matrix, NDArray[np.int64]]:
    """The rows over the columns that are `open_`, without those that none of their selections breaks; their numbers."""
    count = len(m.lower)
    row = np.repeat(np.arange(count), np.diff(m.starts))
    entry = open_[m.columns]
    row, columns, values = row[entry], m.columns[entry], m.values[entry]
    most = np.bincount(row, np.maximum(values, 0.0), count)
    least = np.bincount(row, np.minimum(values, 0.0), count)
    kept = (least < m.lower) | (most > m.upper)
    entry = kept[row]
    starts = np.zeros(int(kept.sum()) + 1, np.int32)
    starts[1:] = np.cumsum(np.bincount(row, minlength=count)[kept])
    number = (np.cumsum(open_) - 1).astype(np.int32)
    small = Matrix(starts, number[columns[entry]], values[entry], m.lower[kept], m.upper[kept])
    return small, np.flatnonzero(kept)
