"""HiGHS, the default solver: a thin adapter around a process that is killed when it overstays."""

from __future__ import annotations

import sys
from math import inf, isfinite
from multiprocessing import Pipe
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from korch.solve.problem import Status
from korch.solve.program import Answer, Basis, Program
from korch.system.deadline import Deadline
from korch.system.pipes import limit
from korch.system.processes import Child, end, plain_environment, start
from korch.system.throttle import paced

READING = 30.0  # seconds that HiGHS may take to start, until it reads the program
GRACE = 2.0  # seconds that HiGHS may overstay its own time limit before it is killed
STOPPED = Status.NO_SOLUTION  # becomes FEASIBLE where HiGHS has a point
STATUS = {
    "kOptimal": Status.OPTIMAL,
    "kModelEmpty": Status.OPTIMAL,
    "kInfeasible": Status.INFEASIBLE,
    "kUnbounded": Status.UNBOUNDED,
    "kUnboundedOrInfeasible": Status.INFEASIBLE,  # no program here is unbounded: every column is in [0, 1]
    "kTimeLimit": STOPPED,
    "kIterationLimit": STOPPED,
    "kSolutionLimit": STOPPED,
    "kObjectiveBound": STOPPED,
    "kObjectiveTarget": STOPPED,
    "kInterrupt": STOPPED,
    "kHighsInterrupt": STOPPED,
    "kMemoryLimit": STOPPED,
    "kUnknown": STOPPED,
    "kNotset": Status.FAILED,
    "kLoadError": Status.FAILED,
    "kModelError": Status.FAILED,
    "kPresolveError": Status.FAILED,
    "kSolveError": Status.FAILED,
    "kPostsolveError": Status.FAILED,
}


class Highs:
    """A HiGHS process; solves programs one at a time. Use as a context manager."""

    def __init__(self, threads: int = 2) -> None:
        self.threads = threads
        self._process: Child | None = None
        self._connection: Any = None

    def __enter__(self) -> Highs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def solve(self, program: Program, deadline: Deadline) -> Answer:
        """The answer to `program` until `deadline`, and a little grace."""
        if not len(program.cost):
            return _empty(program)
        try:
            self._start()
        except OSError as error:
            return self._failed(error)
        left = deadline.left
        limit(self._connection, left + READING)
        try:
            self._connection.send(_task(program, left, self.threads))
            with paced():
                answered = self._connection.poll(left + GRACE if isfinite(left) else None)
            if answered:
                return _answer(program, self._connection.recv())
        except BlockingIOError:  # it was stopped in the middle of the program or of the answer
            pass
        except (EOFError, OSError) as error:
            return self._failed(error)
        self.close()
        return Answer(Status.NO_SOLUTION, detail=f"killed after {left + GRACE:.1f} s")

    def _failed(self, error: Exception) -> Answer:
        self.close()
        return Answer(Status.FAILED, detail=f"the HiGHS process died or did not start: {error!r}")

    def close(self) -> None:
        """End the process; a later `solve` starts another."""
        if self._process is not None:
            self._connection.close()
            end(self._process)
            self._process.wait()
            self._process = None

    def _start(self) -> None:
        if self._process is not None:
            return
        self._connection, theirs = Pipe()
        worker = str(Path(__file__).with_name("highs_worker.py"))
        command = [sys.executable, worker, str(theirs.fileno())]
        with theirs:
            self._process = start(command, plain_environment(), pass_fds=[theirs.fileno()])


def _task(program: Program, time_limit: float, threads: int) -> tuple[Any, ...]:
    m = program.matrix
    options: dict[str, bool | float | int | str] = {
        "output_flag": False,
        "time_limit": max(time_limit, 0.01),
        "threads": threads,
        "random_seed": 0,
        "mip_rel_gap": 0.0,
        "mip_abs_gap": 1e-6,  # costs are in microseconds
    }
    if not program.integer:
        options["solver"] = program.method
    basis = None if program.basis is None else (program.basis.columns, program.basis.rows)
    data = (program.cost, m.starts, m.columns, m.values, m.lower, m.upper)
    return options, data, program.integer, program.start if program.integer else None, basis


def _answer(program: Program, result: tuple[Any, ...]) -> Answer:
    name, x, objective, bound, duals, basis = result
    status = STATUS.get(name, Status.FAILED)
    if status is Status.OPTIMAL and x is None:
        return Answer(Status.FAILED, detail=f"HiGHS says {name} and has no point")
    if status is STOPPED and x is not None:
        status = Status.FEASIBLE
    if status not in (Status.OPTIMAL, Status.FEASIBLE):
        return Answer(status, detail=name, bound=inf if status is Status.INFEASIBLE else -inf)
    trusted = program.integer or status is Status.OPTIMAL  # a relaxation that was stopped bounds nothing
    low = float(bound) if trusted and isfinite(bound) else -inf
    found = None if basis is None else Basis(*basis)
    return Answer(status, x, min(low, float(objective)), duals, found, name)


def _empty(program: Program) -> Answer:
    """No columns: the zero point, if the rows allow it."""
    if np.any(program.matrix.lower > 0) or np.any(program.matrix.upper < 0):
        return Answer(Status.INFEASIBLE, bound=inf, detail="no columns")
    return Answer(Status.OPTIMAL, np.zeros(0), 0.0, np.zeros(len(program.matrix.lower)), detail="no columns")
