"""Compilers that run: for how long they may, and how they are ended with all that they have started."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from threading import Lock
from typing import TypeVar

from korch.errors import BackendError
from korch.system.locks import machine_held
from korch.system.processes import Child, end, start
from korch.system.threads import ThreadPool
from korch.system.throttle import paced

T = TypeVar("T")
R = TypeVar("R")
_FOLDER = re.compile(r"\S*/korch-cc-[^/]*/")


class Compilers:
    """The compilers of one build: `jobs` at a time, each for at most `limit` seconds; None: as long as it takes. Each
    runs while nobody else holds the lock `beside`, which they share. Their temporary files are in `folder`: one that is
    killed leaves them.

    Leaving the context ends those that still run, as where the build is interrupted or one of them has failed. Each
    has a session of its own, with what it starts: a compiler that is killed leaves that behind, and the terminal's
    Ctrl-C reaches neither.
    """

    def __init__(
        self, jobs: int = 1, limit: float | None = None, beside: Path | None = None, folder: Path | None = None
    ) -> None:
        self._environment = {**os.environ, "TMPDIR": str(folder)} if folder else None
        self._limit, self._beside = limit, beside
        self._pool = ThreadPool(jobs)
        self._running: set[Child] = set()
        self._lock = Lock()
        self._left = False

    def __enter__(self) -> Compilers:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._left = True
            for process in self._running:
                end(process)
        self._pool.shutdown(cancel_futures=True)

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """What `function` returns for each item, `jobs` of them side by side."""
        return list(self._pool.map(function, items))

    def run(self, command: Sequence[str]) -> str:
        """What the compiler says; BackendError with its first error line where it fails, or where it does not end."""
        with machine_held(self._beside, shared=True) if self._beside else contextlib.nullcontext():
            return self._run(command)

    def _run(self, command: Sequence[str]) -> str:
        process = self._started(command)
        try:
            with paced():
                said, complaints = process.communicate(timeout=self._limit)
        except subprocess.TimeoutExpired:
            raise BackendError(f"{_name(command)} did not end within {self._limit:g} s") from None
        finally:
            self._end(process)
        if status := process.returncode:
            raise BackendError(f"{_name(command)} failed: {_first_error(complaints) or f'status {status}'}")
        return said.decode(errors="replace")

    def _started(self, command: Sequence[str]) -> Child:
        pipe = subprocess.PIPE
        with self._lock:  # whoever leaves finds it among those that run, or it never does
            if self._left:
                raise BackendError(f"{_name(command)} was not started: the build has ended")
            try:
                process = start(command, self._environment, stdout=pipe, stderr=pipe)
            except OSError as e:
                raise BackendError(f"cannot start the C compiler {command[0]}: {e.strerror or e}") from None
            self._running.add(process)
        return process

    def _end(self, process: Child) -> None:
        with self._lock:
            self._running.remove(process)
            end(process)
        with process:  # closes its pipes and waits for it
            pass


def _name(command: Sequence[str]) -> str:
    return "zig cc" if "ziglang" in command else Path(command[0]).name


def _first_error(complaints: bytes) -> str:
    lines = [line.strip() for line in complaints.decode(errors="replace").splitlines() if line.strip()]
    first = next((line for line in lines if "error" in line.lower()), lines[0] if lines else "")
    return _FOLDER.sub("", first)
