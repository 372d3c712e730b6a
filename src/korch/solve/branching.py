"""Branch and bound over a program's columns. Selections that run in a circle are cut off as they appear."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf

import numpy as np

from korch.solve.cycles import cycle_cuts
from korch.solve.problem import Problem, Status
from korch.solve.program import Answer, Program
from korch.solve.rows import Floats, Row, matrix
from korch.system.deadline import Deadline

log = logging.getLogger(__name__)

SolveRun = Callable[[Program, Deadline], Answer]
"""A solver: the answer to a program, or how far it is at the deadline."""


def cheapest(
    problem: Problem,
    cost: Floats,
    rows: Sequence[Row],
    open_: np.ndarray,
    start: Sequence[int] | None,
    run: SolveRun,
    deadline: Deadline,
) -> tuple[tuple[int, ...] | None, float]:
    """The best acyclic selection among the `open_` columns, and a lower bound on all of these, in the units of `cost`.

    `start` is a selection to begin with. None where no selection was found.
    """
    where = np.flatnonzero(open_)
    incumbent = None
    if start is not None:
        incumbent = np.isin(where, np.array(start)).astype(np.float64)
    cuts: list[Row] = []
    bound = -inf
    while not deadline.passed:
        program = Program(cost[where], matrix(_restricted([*rows, *cuts], where)), start=incumbent)
        answer = run(program, deadline)
        if start is not None and answer.status is Status.INFEASIBLE:
            log.warning("the solver finds no point where there is one: %s", answer.detail)
            return None, bound
        bound = max(bound, answer.bound)
        if answer.x is None:
            log.debug("branch and bound ended without a plan: %s %s", answer.status.value, answer.detail)
            return None, bound
        chosen = where[answer.x > 0.5].tolist()
        fresh = cycle_cuts(problem, chosen)
        if not fresh:
            return tuple(chosen), bound
        cuts += fresh
    return None, bound


def _restricted(rows: Sequence[Row], where: np.ndarray) -> list[Row]:
    """`rows` over the columns `where` only, renumbered."""
    position = {int(c): i for i, c in enumerate(where)}
    return [replace(r, terms=tuple((position[c], v) for c, v in r.terms if c in position)) for r in rows]
