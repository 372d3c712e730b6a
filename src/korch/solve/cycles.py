"""Cycle cuts: a plan whose kernels wait for each other is complete on paper and cannot run.

Layout twins never get here (`rows.entry_rows`); loops through other choices do.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from korch.solve.check import running_order
from korch.solve.keys import FirstOfCycle, NotTogether
from korch.solve.problem import Candidate, Problem
from korch.solve.rows import Row


def cycle_cuts(problem: Problem, chosen: Sequence[int]) -> list[Row]:
    """Rows that the cyclic selection `chosen` (columns) breaks and every plan keeps; none if it can run.

    Two kinds. Let T be the tensors that the kernels of one cycle pass on. In a plan that makes a tensor of T, the
    first kernel to make one reads none of T. So for every t of T

        Σ_{k makes t} u_k ≤ Σ_{k makes a tensor of T, reads none of T} u_k,

    valid with `once` of t.

    And let S be a set of kernels each of which waits for a tensor of W. A plan with all of S has another maker of a
    tensor of W, or no kernel of S could be the first:

        Σ_{k in S} u_k - Σ_{k not in S makes a tensor of W} u_k ≤ |S| - 1.

    With S all kernels that wait and W all that they wait for, the selection breaks this row: its other kernels make
    none of W.
    """
    kernels = [problem.candidates[i] for i in chosen]
    order = running_order(kernels)
    made = {k.root for k in order}
    done = {k.id for k in order}
    column = {problem.candidates[i].id: i for i in chosen}
    waiting = [k for k in kernels if k.id not in done]
    if not waiting:
        return []
    rows = [_not_all(problem, [column[k.id] for k in waiting], made)]
    for cycle in _cycles(waiting, made):
        rows += _cut_set(problem, cycle)
        if len(cycle) < len(waiting):
            rows.append(_not_all(problem, [column[k.id] for k in cycle], made))
    return rows


def _cycles(waiting: Sequence[Candidate], made: set[str]) -> list[list[Candidate]]:
    """Disjoint cycles among `waiting`: kernels each of which reads what the next one makes and no other kernel has
    `made`."""
    makers = {k.root: k for k in reversed(waiting) if k.root not in made}
    found: list[list[Candidate]] = []
    used: set[int] = set()
    for start in waiting:
        path, at = list[Candidate](), dict[int, int]()
        k: Candidate | None = start
        while k is not None and k.id not in at and k.id not in used:
            at[k.id] = len(path)
            path.append(k)
            k = next((makers[t] for t in k.reads if t in makers), None)
        if k is not None and k.id in at:
            found.append(path[at[k.id] :])
        used.update(at)
    return found


def _cut_set(problem: Problem, cycle: Sequence[Candidate]) -> list[Row]:
    tensors = _passed(cycle)
    makers: dict[str, list[int]] = {t: [] for t in sorted(tensors)}
    entering: list[int] = []
    for column, k in enumerate(problem.candidates):
        if k.root in tensors:
            makers[k.root].append(column)
            if tensors.isdisjoint(k.reads):
                entering.append(column)
    rows: list[Row] = []
    for t, columns in makers.items():
        terms = dict.fromkeys(columns, 1.0)
        for k in entering:
            terms[k] = terms.get(k, 0.0) - 1.0
        key = FirstOfCycle(t, frozenset(tensors))
        rows.append(Row(key, tuple((k, v) for k, v in terms.items() if v), -inf, 0.0))
    return rows


def _not_all(problem: Problem, columns: Sequence[int], made: set[str]) -> Row:
    """Σ_{k in S} u_k - Σ_{others that make a tensor S waits for} u_k ≤ |S| - 1, for the kernels S at `columns`."""
    inside = set(columns)
    passed = _passed([problem.candidates[i] for i in columns]) - made
    others = [i for i, k in enumerate(problem.candidates) if i not in inside and k.root in passed]
    terms = dict.fromkeys(columns, 1.0) | dict.fromkeys(others, -1.0)
    key = NotTogether(frozenset(problem.candidates[i].id for i in columns))
    return Row(key, tuple(terms.items()), -inf, float(len(columns) - 1))


def _passed(kernels: Sequence[Candidate]) -> set[str]:
    """Tensors that some of `kernels` make and some of them read."""
    return {k.root for k in kernels} & {t for k in kernels for t in k.reads}
