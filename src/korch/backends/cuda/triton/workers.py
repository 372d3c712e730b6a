"""Processes for work that must not be done in this one.

Unlike those of `multiprocessing` they do not run the main module again, so that a script that calls Korch needs no
guard around its own lines.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from threading import local
from typing import Any, TypeVar

from korch.errors import BackendError
from korch.system.processes import Child, start

T = TypeVar("T")
START = "import sys; sys.path[:] = {path!r}; from korch.backends.cuda.triton.workers import serve; serve()"


class Workers(Executor):
    """Runs functions of modules in `jobs` processes without the variables of the environment that are `unset`."""

    def __init__(self, jobs: int, unset: tuple[str, ...] = ()) -> None:
        self._environment = {k: v for k, v in os.environ.items() if k not in unset}
        self._threads = ThreadPoolExecutor(jobs)
        self._own = local()
        self._all: list[Child] = []

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        return self._threads.submit(self._ask, fn, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        for process in self._all if wait else ():
            process.communicate()  # closes its input, at which it ends

    def _ask(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """What the function returns, in the process that belongs to this thread; raises what it raises."""
        asked = pickle.dumps((fn, args, kwargs))
        process = getattr(self._own, "process", None) or self._started()
        try:
            process.stdin.write(asked)
            process.stdin.flush()
            raised, value = pickle.load(process.stdout)
        except (EOFError, OSError) as e:
            self._own.process = None
            raise BackendError("a process that compiles kernels was ended: is there too little memory?") from e
        if raised:
            raise value
        return value

    def _started(self) -> Any:
        command = [sys.executable, "-c", START.format(path=sys.path)]
        pipe = subprocess.PIPE
        self._own.process = start(command, self._environment, stdin=pipe, stdout=pipe, stderr=None)
        self._all.append(self._own.process)
        return self._own.process


def serve() -> None:
    """Answers what `Workers` ask on the standard input, until it is closed. What is printed goes to the errors."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            fn, args, kwargs = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(_answer(fn, args, kwargs), answers)
        answers.flush()


def _answer(fn: Callable[..., Any], args: Any, kwargs: Any) -> tuple[bool, Any]:
    """Whether the function has raised, and what it has returned or raised."""
    try:
        return False, fn(*args, **kwargs)
    except Exception as e:
        return True, e
