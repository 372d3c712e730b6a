"""A pool of threads that does without, where the system has none left."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class ThreadPool(ThreadPoolExecutor):
    """Work for which no thread can be started, as in a container with a limit of processes, is done by the caller
    before `submit` returns. RuntimeError where the pool was shut down."""

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        taken, own = Lock(), Future[R]()

        def work() -> None:
            """By whoever comes first: the executor queues it before it starts a thread."""
            if not taken.acquire(blocking=False):
                return
            try:
                own.set_result(fn(*args, **kwargs))
            except Exception as e:
                own.set_exception(e)

        def queued() -> R:
            work()
            return own.result()

        try:
            return super().submit(queued)
        except RuntimeError:
            if self._shutdown:
                raise
        work()
        return own
