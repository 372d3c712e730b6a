"""CBC through PuLP, the paper's solver: the cross-check of HiGHS. CBC runs as a process of its own."""

from __future__ import annotations

from math import inf, isinf

import numpy as np
import pulp

from korch.solve.problem import Status
from korch.solve.program import Answer, Program
from korch.system.deadline import Deadline

STATUS = {
    pulp.LpStatusOptimal: Status.OPTIMAL,
    pulp.LpStatusInfeasible: Status.INFEASIBLE,
    pulp.LpStatusUnbounded: Status.UNBOUNDED,
    pulp.LpStatusNotSolved: Status.NO_SOLUTION,
    pulp.LpStatusUndefined: Status.FAILED,
}
TOLERANCE = 1e-6


def solve(program: Program, deadline: Deadline, *, threads: int = 1) -> Answer:
    """The answer of CBC to `program`.

    CBC calls a point optimal when the time ran out, and has been seen to return points that break rows: a point is
    checked against the rows here, and its cost is a bound only if CBC proved it.
    """
    model, columns = _model(program)
    solver = pulp.PULP_CBC_CMD(msg=False, timeLimit=max(deadline.left, 1.0), threads=threads, gapRel=0.0, gapAbs=1e-6)
    try:
        model.solve(solver)
    except pulp.PulpSolverError as error:
        return Answer(Status.FAILED, detail=str(error))
    status = STATUS.get(model.status, Status.FAILED)
    proved = model.sol_status == pulp.LpSolutionOptimal
    if status is Status.INFEASIBLE:
        return Answer(status, bound=inf, detail="CBC: infeasible")
    if status is not Status.OPTIMAL and model.sol_status != pulp.LpSolutionIntegerFeasible:
        return Answer(status, detail=f"CBC: {pulp.LpStatus[model.status]}")
    x = np.array([c.varValue or 0.0 for c in columns])
    if not _satisfied(program, x):
        return Answer(Status.FAILED, detail="CBC returned a point that breaks a row")
    bound = float(program.cost @ x) if proved else -inf
    return Answer(Status.OPTIMAL if proved else Status.FEASIBLE, x, bound, detail="CBC")


def _model(program: Program) -> tuple[pulp.LpProblem, list[pulp.LpVariable]]:
    kind = pulp.LpBinary if program.integer else pulp.LpContinuous
    columns = [pulp.LpVariable(f"u{i}", 0, 1, kind) for i in range(len(program.cost))]
    model = pulp.LpProblem("orchestration", pulp.LpMinimize)
    model += pulp.LpAffineExpression(list(zip(columns, program.cost.tolist())))
    m = program.matrix
    for i in range(len(m.lower)):
        span = slice(m.starts[i], m.starts[i + 1])
        terms = [(columns[j], float(v)) for j, v in zip(m.columns[span], m.values[span])]
        for sense, side in ((pulp.LpConstraintGE, m.lower[i]), (pulp.LpConstraintLE, m.upper[i])):
            if not isinf(side):
                model += pulp.LpConstraint(pulp.LpAffineExpression(terms), sense, f"r{i}_{sense + 1}", float(side))
    return model, columns


def _satisfied(program: Program, x: np.ndarray) -> bool:
    activity = program.matrix.activity(x)
    low, high = program.matrix.lower - TOLERANCE, program.matrix.upper + TOLERANCE
    return bool(np.all(activity >= low) and np.all(activity <= high))
