"""Costs of kernels: from the database, or built in batches, checked and timed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from math import inf
from pathlib import Path
from time import monotonic

from korch.backends.contract import Kernel
from korch.backends.libraries import find_libraries
from korch.backends.program import compose_units
from korch.backends.toolchain import Toolchain, find_toolchain
from korch.errors import BackendError
from korch.ir.cone import Cone
from korch.profile.database import Database
from korch.profile.locks import locked, machine_lock
from korch.profile.process import WorkerProcess
from korch.profile.results import Failed, Measurement, Result, Unloadable
from korch.profile.setting import Setting, cost_key, offer_key, processor
from korch.profile.task import Calibrate, Rates, Task
from korch.profile.timing import timing_library

BATCH = 48  # kernels compiled together
UNIT = 12  # kernels in one translation unit
JOBS = 2  # compilers at a time, and none while a kernel is measured
TIMEOUT = 60.0

Progress = Callable[[int, int], None]


class Profiler:
    """Measures kernels with `threads` threads, remembering every result in `database` at once.

    `progress(done, total)` is called within `measure`. `measured` counts the kernels that really ran. Several
    profilers, also of several processes, share a database and never time at the same moment.
    """

    def __init__(
        self,
        threads: int,
        database: Database,
        toolchain: Toolchain | None = None,
        progress: Progress | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        self.database = database
        self.toolchain = toolchain or find_toolchain()
        self.setting = Setting(self.toolchain.version, processor(), threads)
        self.timing = timing_library(database.folder, self.toolchain)
        self.measured = 0
        self._progress = progress or (lambda done, total: None)
        self._worker = WorkerProcess(self.timing, threads, timeout)
        self._lock = machine_lock()

    def rest(self) -> None:
        """Ends the measuring process; it starts again when it is asked."""
        self._worker.close()

    close = rest

    def __enter__(self) -> Profiler:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def key(self, kernel: Kernel) -> str:
        """Under which the database has the kernel."""
        return cost_key(kernel, self.setting)

    def known(self, kernel: Kernel) -> Result | None:
        """What the database has of the kernel alone."""
        return self._recall(kernel, self.key(kernel))

    def offer_key(self, cone: Cone, backend: str) -> str:
        """Under which the database has what `backend` offers for all cones of this signature."""
        return offer_key(cone, backend, self.setting)

    def measure(self, kernels: Sequence[Kernel]) -> list[Result]:
        """The result of each kernel, in order; equal ones are measured once."""
        return [r for r in self.measure_until(inf, kernels) if r]

    def measure_until(self, deadline: float, kernels: Sequence[Kernel]) -> list[Result | None]:
        """The same, but None for kernels whose turn had not come by `deadline` (of time.monotonic())."""
        keys = [self.key(k) for k in kernels]
        todo = dict(zip(keys, kernels, strict=True))
        results = {key: r for key, k in todo.items() if (r := self._recall(k, key))}
        missing = {key: k for key, k in todo.items() if key not in results}
        self._progress(len(results), len(todo))
        for key, result in self._results(missing, deadline):
            results[key] = result
            self._progress(len(results), len(todo))
        return [results.get(key) for key in keys]

    def calibrate(self) -> Rates | Failed:
        """The machine's own rates."""
        with locked(self._lock):
            return self._worker.ask(Calibrate())

    def _recall(self, kernel: Kernel, key: str) -> Result | None:
        if kernel.alias:
            return Measurement(0.0)
        return self.database.cost(key) or self.database.failure(key)

    def _results(self, kernels: dict[str, Kernel], deadline: float) -> Iterator[tuple[str, Result]]:
        """Neighbours share their cone as far as possible, so that its reference is evaluated once."""
        order = sorted(kernels.items(), key=lambda item: (item[1].cone.signature, item[0]))
        for at in range(0, len(order), BATCH):
            yield from self._batch(order[at : at + BATCH], deadline)

    def _batch(self, batch: Sequence[tuple[str, Kernel]], deadline: float) -> Iterator[tuple[str, Result]]:
        """Compiles what nobody else has measured meanwhile, then measures; halves a batch that does not build."""
        if monotonic() > deadline:
            return
        with tempfile.TemporaryDirectory(prefix="korch-batch-") as folder:
            library = Path(folder) / "batch.so"
            wanted = [k for key, k in batch if self._recall(k, key) is None]
            failed = self._compile(wanted, library)
            place = {id(k): i for i, k in enumerate(wanted)}
            for at, (key, kernel) in enumerate(batch):
                if monotonic() > deadline:
                    return
                result = failed or self._result(key, kernel, library, place.get(id(kernel), -1))
                if isinstance(result, Unloadable) or failed:
                    yield from self._divided(batch[at:], result, deadline)
                    return
                yield key, result

    def _divided(
        self, batch: Sequence[tuple[str, Kernel]], why: Unloadable | Result, deadline: float
    ) -> Iterator[tuple[str, Result]]:
        if len(batch) > 1:
            yield from self._batch(batch[: len(batch) // 2], deadline)
            yield from self._batch(batch[len(batch) // 2 :], deadline)
            return
        assert not isinstance(why, Measurement)
        key, kernel = batch[0]
        yield (
            key,
            self._recall(kernel, key)
            or self._keep(key, kernel, Failed(why.reason, not isinstance(why, Failed) or why.lasting)),
        )

    def _compile(self, kernels: Sequence[Kernel], output: Path) -> Failed | None:
        if not any(k.source for k in kernels):
            return None
        try:
            libraries = find_libraries(name for k in kernels for name in k.libraries)
            with locked(self._lock, shared=True):
                jobs = min(JOBS, os.cpu_count() or 1)
                self.toolchain.compile_library(compose_units(kernels, UNIT), output, libraries, jobs=jobs)
        except BackendError as e:  # only what the compiler says of a line is the kernel's own fault
            return Failed(str(e), lasting=": error:" in str(e))
        return None

    def _result(self, key: str, kernel: Kernel, library: Path, index: int) -> Result | Unloadable:
        with locked(self._lock):
            if known := self._recall(kernel, key):
                return known
            preload = tuple(str(found.file) for found in find_libraries(kernel.libraries))
            task = Task(kernel.cone, str(library), index, preload, kernel.workspace, kernel.host)
            answer = self._worker.ask(task)
            self.measured += 1
            return answer if isinstance(answer, Unloadable) else self._keep(key, kernel, answer)

    def _keep(self, key: str, kernel: Kernel, result: Result) -> Result:
        if isinstance(result, Measurement) or result.lasting:
            label = f"{kernel.backend} {kernel.variant} {kernel.cone.key}"
            self.database.record(key, result, kernel.workspace, label)
        return result
