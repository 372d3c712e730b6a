"""Processes that answer the tasks of a benchmark side by side; whatever a task does to one, the next finds another."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from types import TracebackType
from typing import Self, TypeVar

from korch.profile.process import WorkerProcess

R = TypeVar("R")


class Workers:
    """So many processes, each of which `start` makes; they end with the block."""

    def __init__(self, jobs: int, start: Callable[[], WorkerProcess]) -> None:
        self._all = [start() for _ in range(jobs)]
        self._free = SimpleQueue[WorkerProcess]()
        for process in self._all:
            self._free.put(process)
        self._threads = ThreadPoolExecutor(jobs)

    def submit(self, work: Callable[[WorkerProcess], R]) -> Future[R]:
        """Does `work` with the next process that is free."""
        return self._threads.submit(self.run, work)

    def run(self, work: Callable[[WorkerProcess], R]) -> R:
        """The same now."""
        process = self._free.get()
        try:
            return work(process)
        finally:
            self._free.put(process)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, t: TracebackType | None) -> None:
        self._threads.shutdown(cancel_futures=True)
        for process in self._all:
            process.close()
