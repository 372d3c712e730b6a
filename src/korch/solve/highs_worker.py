"""HiGHS in a process of its own, so that it can be killed; imports nothing of Korch, so that it starts fast.

Started with the descriptor of a connection as its only argument. Receives one tuple a task, sends one a result,
until the other end closes. See `solve_highs` for the meaning of both.
"""

import sys
from multiprocessing.connection import Connection
from typing import Any

import highspy
import numpy as np

BASIS = list(highspy.HighsBasisStatus.__members__.values())


def model(program: tuple[Any, ...], integer: bool) -> highspy.HighsLp:
    """The task's program in HiGHS's own form."""
    cost, starts, columns, values, lower, upper = program
    lp = highspy.HighsLp()
    n, m = len(cost), len(lower)
    lp.num_col_, lp.num_row_ = n, m
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, np.zeros(n), np.ones(n)
    lp.row_lower_ = np.where(np.isinf(lower), -highspy.kHighsInf, lower)
    lp.row_upper_ = np.where(np.isinf(upper), highspy.kHighsInf, upper)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.num_col_, lp.a_matrix_.num_row_ = n, m
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = starts, columns, values
    if integer:
        lp.integrality_ = [highspy.HighsVarType.kInteger] * n
    return lp


def start_from(solver: highspy.Highs, start: Any, basis: Any) -> None:
    """Hand over an incumbent and a basis, where there are any."""
    if start is not None:
        solution = highspy.HighsSolution()
        solution.col_value = start.tolist()
        solver.setSolution(solution)
    if basis is not None:
        warm = highspy.HighsBasis()
        warm.col_status = [BASIS[i] for i in basis[0]]
        warm.row_status = [BASIS[i] for i in basis[1]]
        warm.valid = warm.alien = True
        solver.setBasis(warm)


def run(task: tuple[Any, ...]) -> tuple[Any, ...]:
    """(status name, x, objective, dual bound, row duals, basis) of one task."""
    options, program, integer, start, basis = task
    solver = highspy.Highs()
    for name, value in options.items():
        solver.setOptionValue(name, value)
    if solver.passModel(model(program, integer)) == highspy.HighsStatus.kError:
        return "kLoadError", None, 0.0, 0.0, None, None
    start_from(solver, start, basis)
    solver.run()
    status, info, solution = solver.getModelStatus(), solver.getInfo(), solver.getSolution()
    feasible = info.primal_solution_status == highspy.kSolutionStatusFeasible
    x = np.array(solution.col_value) if feasible else None
    bound = info.mip_dual_bound if integer else info.objective_function_value
    duals, found = None, None
    if not integer and status == highspy.HighsModelStatus.kOptimal:
        duals, codes = np.array(solution.row_dual), solver.getBasis()
        found = tuple(np.array([int(s) for s in side], np.int8) for side in (codes.col_status, codes.row_status))
    return status.name, x, info.objective_function_value, bound, duals, found


def main() -> None:
    """Serve tasks until the connection closes."""
    connection = Connection(int(sys.argv[1]))
    while True:
        try:
            connection.send(run(connection.recv()))
        except EOFError:
            return


if __name__ == "__main__":
    main()
