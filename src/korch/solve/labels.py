"""Labels of the frontier search: sets of stored tensors, with the least cost that reaches each, and a bound on what
follows.

All labels of a moment are a few numpy arrays, and a decision about a tensor is a few operations on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from korch.solve.budgets import EQUAL, FULL
from korch.solve.rows import Floats

Words = NDArray[np.uint64]
LabelIndices = NDArray[np.int64]
Columns = NDArray[np.int32]
LARGEST_GROUP = 3  # tensors that can make each other, for which every order is tried


@dataclass(frozen=True, slots=True)
class Unused:
    """A dependency or entry row: `price` is due at the reader if one of `tensors` is stored and the reader's kernel
    reads none."""

    tensors: Words
    price: float
    since: int  # the group from which on one of the tensors can be stored


@dataclass(frozen=True, slots=True)
class Cover:
    """An edge row: `price` is due each time that it is covered once more than needed."""

    word: int
    bit: np.uint64
    price: float
    since: int  # the group of the first kernel that covers it


@dataclass(frozen=True, slots=True)
class KernelColumn:
    """One way to make a tensor."""

    column: int
    cost: float
    reads: Words
    charge: float  # what it adds to the bound, less `uses`
    uses: tuple[int, ...]  # positions of the unused rows that it does use; empty once its step is relaxed
    covers: tuple[Cover, ...]
    covered: Words  # the bits of `covers`
    errors: Floats  # [budgets] shares of the error budgets


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision on one tensor."""

    bit: Words
    kernels: tuple[KernelColumn, ...]  # cheapest first
    unused: tuple[Unused, ...]
    idle: float  # what not making the tensor adds to the bound
    must: bool


@dataclass(frozen=True, slots=True)
class DecisionGroup:
    """Tensors decided together, because they can be made from each other; then what is over."""

    steps: tuple[Decision, ...]
    dead: Words  # tensors that no later kernel reads
    closed: Words  # edge rows that no later kernel covers
    required: Words  # those of them that a label must have covered
    oldest: int  # the earliest `since` of all its rows


@dataclass(frozen=True, slots=True)
class Labels:
    """Columns of equal length, one entry a label."""

    stored: Words  # [n, words]
    covered: Words  # [n, words]
    cost: Floats
    errors: Floats  # [n, budgets] used so far
    bound: Floats
    parent: LabelIndices
    made: Columns  # [n, LARGEST_GROUP] columns chosen in the current group, -1 where none

    def take(self, which: LabelIndices | NDArray[np.bool_]) -> Labels:
        """The labels at `which`."""
        return Labels(
            self.stored[which],
            self.covered[which],
            self.cost[which],
            self.errors[which],
            self.bound[which],
            self.parent[which],
            self.made[which],
        )

    def __len__(self) -> int:
        return len(self.cost)


def first_label(stored: Words, row_words: int, bound: float, budgets: int = 0) -> Labels:
    """The single label from which a search starts."""
    none = np.full((1, LARGEST_GROUP), -1, np.int32)
    covered = np.zeros((1, row_words), np.uint64)
    errors = np.zeros((1, budgets))
    return Labels(stored[None, :].copy(), covered, np.zeros(1), errors, np.full(1, bound), np.zeros(1, np.int64), none)


def decide(labels: Labels, group: DecisionGroup, limit: float) -> Labels:
    """The labels after `group` with bounds below `limit`: every way to make some of its tensors, the cheapest label
    of each set of stored tensors that are still live, and with error budgets dearer ones that err less."""
    n = len(labels)
    labels = replace(labels, parent=np.arange(n), made=np.full((n, LARGEST_GROUP), -1, np.int32))
    branches = [_bury(branch, group) for branch in _branches(labels, group.steps, limit)]
    return merge(_concat(branches))


def merge(labels: Labels) -> Labels:
    """The labels of each set of stored tensors of which no other is cheaper and errs no more; the cheapest one where
    there are no error budgets.

    Nothing is lost: what completes a label completes every other of the same set, at the same further cost and error.
    """
    if len(labels) < 2:
        return labels
    keys = [labels.stored[:, w] for w in range(labels.stored.shape[1])]
    order = np.lexsort((labels.cost, *keys))
    first = np.zeros(len(order), np.bool_)
    first[0] = True
    for key in keys:
        ranked = key[order]
        first[1:] |= ranked[1:] != ranked[:-1]
    return labels.take(order[first | _err_less(labels.errors[order], first)])


def _err_less(errors: Floats, first: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows of `errors` have less in some column than all earlier ones of their run; runs begin at `first`."""
    result = np.zeros(len(errors), np.bool_)
    run = 4.0 * np.cumsum(first)  # shares are below 2: each run stays below the earlier ones
    for own in errors.T:
        lowered = own - run
        before = np.minimum.accumulate(lowered)[:-1]
        result[1:] |= lowered[1:] < before - EQUAL
    return result


def _branches(labels: Labels, steps: Sequence[Decision], limit: float) -> Iterator[Labels]:
    n = len(steps)
    for size in range(n + 1):
        for order in permutations(range(n), size):
            if any(step.must for i, step in enumerate(steps) if i not in order):
                continue
            branch = labels
            for place, i in enumerate(order):
                branch = _within(_make(branch, steps[i], place), limit)
            for i in range(n):
                if i not in order:
                    branch = _within(_skip(branch, steps[i]), limit)
            yield branch


def _within(labels: Labels, limit: float) -> Labels:
    keep = labels.bound < limit
    return labels if keep.all() else labels.take(keep)


def _due(labels: Labels, step: Decision) -> Floats:
    """[n] what the step's dependency and entry rows cost if no kernel uses them."""
    due = np.zeros(len(labels))
    for row in step.unused:
        due += row.price * (labels.stored & row.tensors).any(1)
    return due


def _skip(labels: Labels, step: Decision) -> Labels:
    return replace(labels, bound=labels.bound + _due(labels, step) + step.idle)


def _make(labels: Labels, step: Decision, place: int) -> Labels:
    """Each label with the tensor made by the cheapest kernel that it allows, and by dearer ones that err less; those
    that allow none are gone."""
    parts = _assign(labels, step.kernels)
    if not parts:
        return labels.take(np.zeros(0, np.int64))
    order = np.concatenate([which for which, _ in parts])
    due, out = _due(labels, step)[order], labels.take(order)
    begin = 0
    for which, k in parts:
        span = slice(begin, begin := begin + len(which))
        out.cost[span] += k.cost
        out.errors[span] += k.errors
        due[span] += k.charge
        for row in k.covers:
            due[span] += row.price * ((out.covered[span, row.word] & row.bit) != 0)
        out.covered[span] |= k.covered
        out.made[span, place] = k.column
    made = replace(out, stored=out.stored | step.bit, bound=out.bound + np.maximum(due, 0.0))
    over = np.flatnonzero((made.errors > FULL).any(1))
    return made if not len(over) else made.take(np.delete(np.arange(len(made)), over))


def _assign(labels: Labels, kernels: Sequence[KernelColumn]) -> list[tuple[LabelIndices, KernelColumn]]:
    """The cheapest kernel whose reads each label stores: (labels, kernel) pairs. A dearer kernel follows where it uses
    less of some error budget than all cheaper ones."""
    if labels.errors.shape[1]:
        return _assign_all(labels, kernels)
    left = np.arange(len(labels))
    parts: list[tuple[LabelIndices, KernelColumn]] = []
    for k in kernels:
        if not len(left):
            break
        fits = ((labels.stored[left] & k.reads) == k.reads).all(1)
        if fits.any():
            parts.append((left[fits], k))
            left = left[~fits]
    return parts


def _assign_all(labels: Labels, kernels: Sequence[KernelColumn]) -> list[tuple[LabelIndices, KernelColumn]]:
    least = np.full(labels.errors.shape, np.inf)  # of each budget, by the kernels that a label has already
    parts: list[tuple[LabelIndices, KernelColumn]] = []
    for k in kernels:
        wanted = np.flatnonzero((k.errors < least - EQUAL).any(1))
        fits = ((labels.stored[wanted] & k.reads) == k.reads).all(1)
        if fits.any():
            parts.append((which := wanted[fits], k))
            least[which] = np.minimum(least[which], k.errors)
    return parts


def _bury(labels: Labels, group: DecisionGroup) -> Labels:
    """Forget dead tensors and closed rows; drop labels that left a row uncovered, which no plan does."""
    if group.required.any():
        labels = labels.take(((labels.covered & group.required) == group.required).all(1))
    return replace(labels, stored=labels.stored & ~group.dead, covered=labels.covered & ~group.closed)


def _concat(parts: Sequence[Labels]) -> Labels:
    columns = zip(*((p.stored, p.covered, p.cost, p.errors, p.bound, p.parent, p.made) for p in parts))
    joined: list[NDArray[Any]] = [np.concatenate(column) for column in columns]
    return Labels(*joined)
