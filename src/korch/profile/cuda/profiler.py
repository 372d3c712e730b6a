"""Costs of kernels on GPUs: from the database, or compiled ahead on all processors and measured one at a time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from korch.backends.contract import Kernel
from korch.backends.cuda.triton.compile import Compiled
from korch.profile.cuda.installed import Installed
from korch.profile.cuda.pipeline import Asked, Pipeline
from korch.profile.cuda.tasks import BoardRates, MeasurePace, MeasureRates
from korch.profile.database import Database
from korch.profile.process import WorkerProcess
from korch.profile.remembered import Progress, Remembered
from korch.profile.results import Failed, Measurement, Result
from korch.profile.setting import Setting
from korch.system.deadline import Deadline
from korch.system.locks import locked
from korch.system.processes import plain_environment
from korch.system.processor import processors

TIMEOUT = 60.0
"""Seconds that a kernel may take to be checked and timed, the others' turns on its GPU included."""
COMPILING = 90.0
"""Seconds that a kernel may take to be compiled."""
MEASURING, ROOM = 6, 6 << 30
"""Processes that share a GPU at most, and the bytes of its memory that each may need."""


class DeviceProfiler(Remembered):
    """Measures kernels on `boards`, GPUs of one kind.

    What is remembered holds for every machine with such a GPU, driver and libraries: the database may be taken along.
    """

    def __init__(
        self,
        boards: Sequence[Installed],
        database: Database,
        progress: Progress | None = None,
        pipeline: Pipeline | None = None,
    ) -> None:
        super().__init__(setting_of(boards[0]), database, progress)
        self._first = boards[0]
        self._pipeline = pipeline or _pipeline(boards)

    def alone(self, until: Deadline) -> AbstractContextManager[None]:
        """With the first board, on which programs run."""
        return locked(lock_of(self._first), until=until)

    def calibrate(self) -> BoardRates | Failed:
        """The rates of the device itself."""
        return self._pipeline.boards[0].ask(MeasureRates())

    @property
    def made(self) -> Compiled:
        """What has been compiled, by what it is compiled of."""
        return self._pipeline.made

    def pace(self) -> float:
        """By a reference kernel: clocks fall when a device is warm or others use its power."""
        answer = self._pipeline.boards[0].ask(MeasurePace())
        return answer if isinstance(answer, float) else 1.0

    def rest(self) -> None:
        """Nothing: a process that has a GPU and is not asked disturbs nobody."""

    def close(self) -> None:
        self._pipeline.close()

    def __enter__(self) -> DeviceProfiler:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _results(self, kernels: Mapping[str, Kernel], deadline: Deadline) -> Iterator[tuple[str, Result]]:
        if not kernels:
            return
        for key, result in self._pipeline.results(kernels, deadline):
            self.measured += isinstance(result, Measurement) and key not in self._remeasured
            yield key, self._keep(key, kernels[key], result)


def setting_of(board: Installed) -> Setting:
    """What costs depend on: the GPU's kind, its driver, the compiler and the libraries; not the machine around it."""
    compiler = f"triton {_version('triton')} torch {_version('torch')}"
    kind = f"{board.name} sm_{board.capability} driver {board.driver}"
    return Setting(compiler, kind, board.multiprocessors)


def _pipeline(boards: Sequence[Installed]) -> Pipeline:
    """A compiler for every processor, and some processes for every GPU, which take turns on it: to evaluate what
    kernels should compute takes longer than to run them."""
    compilers: list[Asked] = [
        WorkerProcess("korch.profile.cuda.compiler", (), COMPILING, plain_environment(TRITON_INTERPRET=""))
        for _ in range(processors())
    ]
    measuring: list[Asked] = [
        WorkerProcess(
            "korch.profile.cuda.worker",
            (str(b.index), str(b.l2), str(lock_of(b))),
            TIMEOUT,
            plain_environment(TRITON_INTERPRET="", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1"),
        )
        for _ in range(_sharing(boards[0]))
        for b in boards
    ]
    return Pipeline(compilers, measuring, boards[0].capability)


def _sharing(board: Installed) -> int:
    """How many processes measure on such a GPU."""
    return max(1, min(MEASURING, processors() // 2, board.memory // ROOM))


def lock_of(board: Installed) -> Path:
    """Held by the process that measures on a GPU; processes may number the GPUs of a machine differently."""
    user = os.getuid() if hasattr(os, "getuid") else "all"
    return Path(tempfile.gettempdir()) / f"korch-gpu-{board.uuid or board.index}-{user}.lock"


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "none"
