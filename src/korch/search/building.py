"""Kernels built by two processes: chains take half a second each, and one processor would have nothing to do.

`python -m korch.search.building <pipe>` answers (backend, cone, threads) with the backend's kernels.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection

from korch.backends.contract import Backend, Kernel
from korch.backends.table import entry_of
from korch.errors import BackendError
from korch.ir.cone import Cone
from korch.profile.answering import answering
from korch.profile.process import WorkerProcess
from korch.profile.results import Failed
from korch.search.steering import BUILD_SECONDS, MIN_CHAINS_FOR_A_PROCESS
from korch.system.processes import plain_environment
from korch.system.threads import ThreadPool
from korch.system.throttle import paced

Wanted = tuple[Backend, Cone]


class KernelBuilder:
    """Builds what is wanted; the other process starts when there is enough for it, and ends with the block."""

    def __init__(self) -> None:
        self._other = WorkerProcess("korch.search.building", (), BUILD_SECONDS, plain_environment())

    def __enter__(self) -> KernelBuilder:
        return self

    def __exit__(self, *_: object) -> None:
        self._other.close()

    def build(self, wanted: Sequence[Wanted], threads: int) -> list[tuple[Kernel, ...]]:
        """The kernels of each backend for its cone, in order."""
        heavy = deque(i for i, one in enumerate(wanted) if _is_heavy(*one))
        found: dict[int, tuple[Kernel, ...]] = {}
        if len(heavy) >= MIN_CHAINS_FOR_A_PROCESS:
            with ThreadPool(1) as pool:
                elsewhere = pool.submit(self._build_elsewhere, wanted, heavy, threads)
                try:
                    while (i := _taken(heavy.popleft)) is not None:
                        found[i] = wanted[i][0].build(wanted[i][1], threads)
                    found |= elsewhere.result()
                except BaseException:  # nobody waits for the other's answer then
                    heavy.clear()
                    self._other.interrupt()
                    raise
        with paced():
            return [found.get(i) or backend.build(cone, threads) for i, (backend, cone) in enumerate(wanted)]

    def _build_elsewhere(
        self, wanted: Sequence[Wanted], waiting: deque[int], threads: int
    ) -> dict[int, tuple[Kernel, ...]]:
        """Of what is still waiting, the last first; what the other process cannot do is left out."""
        found: dict[int, tuple[Kernel, ...]] = {}
        with suppress(BackendError):  # no process starts
            while (i := _taken(waiting.pop)) is not None:
                backend, cone = wanted[i]
                kernels: tuple[Kernel, ...] | Failed = self._other.ask((backend.name, cone, threads))
                if isinstance(kernels, tuple):
                    found[i] = tuple(replace(k, cone=cone) for k in kernels)
        return found


def _taken(pop: Callable[[], int]) -> int | None:
    """The popped item; None where another thread was faster."""
    try:
        return pop()
    except IndexError:
        return None


def _is_heavy(backend: Backend, cone: Cone) -> bool:
    """Whether the kernels take long to build, and the other process has the same backend."""
    return len(cone.linear) > 1 and entry_of(backend.name).backend is backend


def _answer(task: tuple[str, Cone, int]) -> tuple[Kernel, ...]:
    name, cone, threads = task
    entry = entry_of(name)
    if entry.backend is None:
        raise BackendError(f"the backend {name}, which another process uses, cannot be used here: {entry.reason}")
    return entry.backend.build(cone, threads)


if __name__ == "__main__":
    answering(Connection(int(sys.argv[1])), lambda: _answer)
