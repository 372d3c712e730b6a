"""Candidates that no cheapest plan needs.

Lemma. Let k make r from reads R, and let G be other kernels that make r from (part of) R, in some order, at no greater
total cost. Then a plan with k becomes one without k, no dearer: put G in k's place. For every other tensor m that G
makes: if the plan already made m before that place, keep that kernel and leave out G's; if it makes m after it, drop
the later kernel, whose readers all come later still. So every tensor is still made once and before it is read. Ties
are broken by (cost, number of reads, id), so replacements never go round.

With error budgets, the replacement must use no more of any budget either.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from korch.solve.budgets import EQUAL, FULL, shares_of
from korch.solve.problem import Candidate, Problem
from korch.system.samples import Floats


def prune(problem: Problem, lower: Sequence[float] | None = None, upper: Sequence[float] | None = None) -> list[int]:
    """The positions in `problem.candidates` that some cheapest plan may use.

    `lower` and `upper` bound the costs (seconds; upper = inf for a kernel that is not measured); what is dropped is
    then dropped for all costs between them. Without them `cost` is taken as exact.
    """
    costs = [k.cost for k in problem.candidates]
    low = np.asarray(costs if lower is None else lower, np.float64)
    high = np.asarray(costs if upper is None else upper, np.float64)
    reachable = within_reach(problem)
    groups: dict[str, list[int]] = {}
    for i in reachable:
        groups.setdefault(problem.candidates[i].root, []).append(i)
    shares = shares_of(problem)
    dropped: set[int] = set()
    for group in groups.values():
        dropped.update(_dominated(problem, group, low, high, shares))
    groups = {t: [i for i in group if i not in dropped] for t, group in groups.items()}
    dropped.update(_split(problem, groups, low, high, shares))
    return [i for i in reachable if i not in dropped]


def within_reach(problem: Problem) -> list[int]:
    """Positions of the candidates of finite cost that fit in the error budgets, can run in some plan and lead to an
    output."""
    fits = np.all(shares_of(problem) <= FULL, axis=1)
    finite = [i for i, k in enumerate(problem.candidates) if k.cost < inf and fits[i]]
    runnable = _runnable(problem.candidates, finite)
    makers: dict[str, list[int]] = {}
    for i in runnable:
        makers.setdefault(problem.candidates[i].root, []).append(i)
    useful: set[int] = set()
    wanted = list(problem.outputs)
    seen = set(wanted)
    while wanted:
        for i in makers.get(wanted.pop(), ()):
            useful.add(i)
            fresh = [t for t in problem.candidates[i].reads if t not in seen]
            seen.update(fresh)
            wanted.extend(fresh)
    return sorted(useful)


def _runnable(candidates: Sequence[Candidate], positions: Sequence[int]) -> list[int]:
    """Those of `positions` whose reads can all be made, starting from nothing."""
    missing = {i: len(set(candidates[i].reads)) for i in positions}
    readers: dict[str, list[int]] = {}
    for i in positions:
        for t in set(candidates[i].reads):
            readers.setdefault(t, []).append(i)
    ready = [i for i in positions if not missing[i]]
    made: set[str] = set()
    for i in ready:  # grows while it is read
        t = candidates[i].root
        if t not in made:
            made.add(t)
            for reader in readers.get(t, ()):
                missing[reader] -= 1
                if not missing[reader]:
                    ready.append(reader)
    return ready


def _reads_matrix(problem: Problem, group: Sequence[int]) -> tuple[Floats, list[str]]:
    """0/1 matrix [candidate of the group, tensor] of who reads what, and the tensors."""
    names: dict[str, int] = {}
    rows = [(row, t) for row, i in enumerate(group) for t in problem.candidates[i].reads]
    cells = [(row, names.setdefault(t, len(names))) for row, t in rows]
    reads = np.zeros((len(group), len(names)))
    if cells:
        reads[tuple(np.array(cells).T)] = 1.0
    return reads, list(names)


def _dominated(problem: Problem, group: Sequence[int], low: Floats, high: Floats, shares: Floats) -> list[int]:
    """Members of `group` (one root) with another member that reads no more, costs no more and errs no more."""
    reads, _ = _reads_matrix(problem, group)
    size = reads.sum(1)
    contained = size[:, None] - reads @ reads.T < 0.5  # [j, i]: reads of j ⊆ reads of i
    lo, hi = low[list(group)], high[list(group)]
    first = np.arange(len(group))
    tie = (size[:, None] < size[None, :]) | (first[:, None] < first[None, :])
    better = (hi[:, None] < lo[None, :]) | ((hi[:, None] == lo[None, :]) & tie)
    for own in shares[list(group)].T:
        better &= own[:, None] <= own[None, :] + EQUAL
    return [group[i] for i in np.flatnonzero((contained & better).any(0)).tolist()]


def _split(problem: Problem, groups: dict[str, list[int]], low: Floats, high: Floats, shares: Floats) -> list[int]:
    """Candidates (r, R) with j = (r, ⊆ R + m) and h = (m, ⊆ R) such that j and h together cost no more.

    Both parts must be strictly cheaper than the whole, which orders the replacements also where a part costs nothing.
    """
    order = {t: sorted(group, key=lambda i: high[i]) for t, group in groups.items()}
    reads = {i: frozenset(problem.candidates[i].reads) for group in groups.values() for i in group}
    dropped: list[int] = []
    for root, group in groups.items():
        matrix, names = _reads_matrix(problem, group)
        if not names:
            continue
        cheapest = np.array([high[order[t][0]] if order.get(t) else inf for t in names])
        extra = matrix.sum(1)[:, None] - matrix @ matrix.T
        rank = np.arange(len(names), dtype=np.float64)
        which = ((matrix @ rank)[:, None] - (matrix * rank) @ matrix.T).round().astype(int)  # read by j and not by i
        lo, hi = low[group], high[group]
        middle = cheapest[np.clip(which, 0, len(names) - 1)]
        possible = (np.abs(extra - 1.0) < 0.5) & (hi[:, None] < lo[None, :]) & (hi[:, None] + middle <= lo[None, :])
        for i in np.flatnonzero(possible.any(0)).tolist():
            whole = reads[group[i]]
            for j in np.flatnonzero(possible[:, i]).tolist():
                m, left = names[int(which[j, i])], lo[i] - hi[j]
                spare = shares[group[i]] - shares[group[j]] + EQUAL
                makers = [h for h in order[m] if (shares[h] <= spare).all()] if spare.size else order[m]
                if m != root and _affordable(makers, whole, left, lo[i], reads, high):
                    dropped.append(group[i])
                    break
    return dropped


def _affordable(
    makers: Sequence[int],
    whole: frozenset[str],
    left: float,
    below: float,
    reads: dict[int, frozenset[str]],
    high: Floats,
) -> bool:
    """Whether one of `makers` (cheapest first) costs at most `left`, less than `below`, and reads nothing outside
    `whole`."""
    for h in makers:
        if high[h] > left or high[h] >= below:
            return False
        if reads[h] <= whole:
            return True
    return False
