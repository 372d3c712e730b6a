"""The plan that a solver finds from the rows alone: the cross-check of `solve`, on small problems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from korch.errors import SolverError
from korch.solve.branching import SolveRun, cheapest
from korch.solve.check import CheckedPlan, check
from korch.solve.highs import Highs
from korch.solve.problem import Problem
from korch.solve.rows import Row, all_rows, incidence
from korch.system.deadline import Deadline

from . import solve_pulp

MICRO = 1e6


def solve_plainly(
    problem: Problem, *, time_limit: float, solver: str = "cbc", rows: Sequence[Row] | None = None
) -> CheckedPlan:
    """The checked plan of "highs" or "cbc"; `rows` replaces the program's rows.

    Nothing is pruned, fixed or searched; only cycle cuts are added. Raises SolverError if there is no plan within
    `time_limit` seconds.
    """
    cost = np.array([k.cost for k in problem.candidates]) * MICRO
    rows = all_rows(problem, incidence(problem)) if rows is None else rows
    every = np.ones(len(cost), np.bool_)
    with Highs() as highs:
        run: SolveRun = highs.solve if solver == "highs" else solve_pulp.solve
        columns, _ = cheapest(problem, cost, rows, every, None, run, Deadline.after(time_limit))
    if columns is None:
        raise SolverError(f"{solver} found no plan within {time_limit:g} s")
    return check(problem, (problem.candidates[i].id for i in columns), cost=float(cost[list(columns)].sum()) / MICRO)
