"""Costs of kernels: from the database, or built in batches, checked and timed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from math import ceil
from pathlib import Path

from korch.backends.contract import Kernel
from korch.backends.libraries import find_libraries
from korch.backends.toolchain import Toolchain, find_toolchain
from korch.backends.units import units_here
from korch.errors import BackendError
from korch.profile.database import Database
from korch.profile.physics import Work
from korch.profile.process import WorkerProcess, environment
from korch.profile.remembered import Progress, Remembered, by_cone
from korch.profile.results import Failed, Measurement, Result, Unloadable
from korch.profile.setting import setting_of
from korch.profile.task import Answered, Calibrate, Now, Rates, Task
from korch.profile.timing import timing_library
from korch.system.deadline import Deadline
from korch.system.folders import owned_folder, removed_with
from korch.system.locks import machine_held, machine_lock
from korch.system.processes import work_folder
from korch.system.processor import processors

WORKER = "korch.profile.worker"
BATCH, SMALL_BATCH, SOON = 64, 12, 20.0
"""Kernels compiled together; fewer where so many seconds are left, or time ends when a large batch is compiled, and
nothing of it is measured."""
UNIT = 12  # kernels in one translation unit
JOBS = 2  # compilers at a time, and none while a kernel is measured
TIMEOUT = 60.0  # seconds that measuring a kernel may take
LIMIT = 60.0
"""Seconds that a compiler may take for a unit: ten times what it does take on slow machines. On some texts it spends
minutes."""
PARTS, LEAST = 4, 10.0
"""Into how many parts a batch that does not build is divided, and seconds that a compiler always has. Its share of the
time goes with a part: one endless kernel among 48 costs 60 + 15 + 10 + 10 seconds until it is refused alone."""
_OF_A_LINE = re.compile(r"\.[ch]:\d+(:\d+)?: error:")
"""What compilers say of a text, and no linker of its surroundings."""


class Profiler(Remembered):
    """Measures kernels with `threads` threads, remembering every result in `database` at once; `units` have what was
    compiled for that.

    A question to the measuring process, which runs the module `worker`, may take `timeout` seconds, each compiler
    `limit`.
    Several profilers, also of several processes, share a database and never time at the same moment.
    """

    def __init__(
        self,
        threads: int,
        database: Database,
        toolchain: Toolchain | None = None,
        progress: Progress | None = None,
        timeout: float = TIMEOUT,
        limit: float = LIMIT,
        worker: str = WORKER,
    ) -> None:
        self.toolchain = toolchain or find_toolchain()
        super().__init__(setting_of(self.toolchain, threads), database, progress)
        folder = owned_folder("korch-timing-")
        removed_with(self, folder)
        self.timing = timing_library(database, self.toolchain, folder)
        self._worker = WorkerProcess(worker, (str(self.timing), str(threads)), timeout, environment(threads))
        self._lock = machine_lock()
        self._limit = limit
        self.units = units_here(self.toolchain)

    def rest(self) -> None:
        """Ends the measuring process; it starts again when it is asked."""
        self._worker.close()

    close = rest

    def __enter__(self) -> Profiler:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def alone(self, until: Deadline) -> AbstractContextManager[None]:
        return machine_held(self._lock, until=until)

    def pace(self) -> float:
        answer = self._worker.ask(Now())
        return answer if isinstance(answer, float) else 1.0

    def calibrate(self) -> Rates | Failed:
        """The machine's own rates."""
        with machine_held(self._lock):
            return self._worker.ask(Calibrate())

    def _results(self, kernels: Mapping[str, Kernel], deadline: Deadline) -> Iterator[tuple[str, Result]]:
        order = by_cone(kernels)
        while order:
            most = SMALL_BATCH if deadline.left < SOON else BATCH
            size = ceil(len(order) / ceil(len(order) / most))
            batch, order = order[:size], order[size:]
            yield from self._batch(batch, deadline, self._limit)

    def _batch(
        self, batch: Sequence[tuple[str, Kernel]], deadline: Deadline, limit: float
    ) -> Iterator[tuple[str, Result]]:
        """Compiles what nobody else has measured meanwhile, then measures; divides a batch that does not build."""
        if deadline.passed:
            return
        with work_folder("korch-batch-") as folder:
            library = folder / "batch.so"
            wanted = [k for key, k in batch if self._recall(k, key) is None]
            failed = self._compile(wanted, library, min(limit, max(deadline.left, LEAST)))
            place = {id(k): i for i, k in enumerate(wanted)}
            for at, (key, kernel) in enumerate(batch):
                if deadline.passed:
                    return
                result = failed or self._result(key, kernel, library, place.get(id(kernel), -1))
                if isinstance(result, Unloadable) or failed:
                    yield from self._divided(batch[at:], result, deadline, limit)
                    return
                yield key, result

    def _divided(
        self, batch: Sequence[tuple[str, Kernel]], why: Unloadable | Result, deadline: Deadline, limit: float
    ) -> Iterator[tuple[str, Result]]:
        if len(batch) > 1:
            size, less = ceil(len(batch) / PARTS), min(limit, max(limit / PARTS, LEAST))
            for at in range(0, len(batch), size):
                yield from self._batch(batch[at : at + size], deadline, less)
            return
        assert not isinstance(why, Measurement)
        key, kernel = batch[0]
        lasting = isinstance(why, Failed) and why.lasting  # what cannot be loaded may lie where nothing may run
        yield key, self._recall(kernel, key) or self._keep(key, kernel, Failed(why.reason, lasting))

    def _compile(self, kernels: Sequence[Kernel], output: Path, limit: float) -> Failed | None:
        if not any(k.code for k in kernels):
            return None
        try:
            jobs = min(JOBS, processors())
            codes = [k.code for k in kernels]
            self.units.compile_library(self.toolchain, codes, output, UNIT, jobs, limit=limit, beside=self._lock)
        except BackendError as e:  # a full disk is not the kernel's own fault
            return Failed(str(e), lasting=bool(_OF_A_LINE.search(str(e))))
        return None

    def _result(self, key: str, kernel: Kernel, library: Path, index: int) -> Result | Unloadable:
        with machine_held(self._lock):
            if known := self._recall(kernel, key):
                return known
            preload = tuple(str(found.file) for found in find_libraries(kernel.libraries))
            task = Task(
                kernel.cone,
                str(library),
                index,
                preload,
                kernel.workspace,
                kernel.host,
                kernel.code is not None and kernel.code.steals,
                Work.of(kernel.cone, kernel.variant.precision),
                self.physics,
                kernel.variant.precision,
            )
            answer = self._worker.ask(task)
            if isinstance(answer, Answered):
                self.tally += answer.tally
                self.physics.raised(answer.physics.peak, answer.physics.bandwidth)
                answer = answer.result
            self.measured += key not in self._remeasured
            return answer if isinstance(answer, Unloadable) else self._keep(key, kernel, answer)
