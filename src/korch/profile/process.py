"""The parent's side of the measuring process: it survives whatever a kernel does to the other side."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from math import inf
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

from korch.errors import BackendError
from korch.profile.results import Failed, Last
from korch.system.pipes import limit
from korch.system.processes import Child, end, plain_environment, start
from korch.system.processor import available
from korch.system.throttle import asleep, paced

START = 120.0  # seconds a worker may take to start
FAULTS = (signal.SIGSEGV, signal.SIGILL, signal.SIGFPE, signal.SIGABRT, signal.SIGTRAP)
"""Signals by which code dies of itself. SIGBUS comes where a file has no room, others from outside."""
GIVEN_UP = 1
"""The status with which Python and OpenMP end where they have no memory or threads."""


class WorkerProcess:
    """A worker, started at the first question and again after one that it did not survive.

    It runs `module` with the number of a pipe and `arguments`; `timeout`: seconds that an answer may take.
    """

    def __init__(self, module: str, arguments: Sequence[str], timeout: float, environment: Mapping[str, str]) -> None:
        self._module, self._arguments, self._environment = module, arguments, environment
        self._timeout = timeout
        self._process: Child | None = None
        self._pipe: Connection | None = None
        self._complaints: IO[bytes] | None = None  # made with the first process, as long-lived as this object

    def ask(self, task: object) -> Any:
        """The worker's answer; Failed where it crashed or hung."""
        pipe = self._ready()
        before, slept = self._used(), asleep()
        limit(pipe, self._timeout)
        try:
            with paced():
                pipe.send(task)
                if pipe.poll(self._timeout):
                    return self._received(pipe.recv())
        except BlockingIOError:  # stopped in the middle of a question or an answer
            pass
        except (EOFError, OSError):
            return self._crashed()
        except BaseException:  # interrupted: the answer that is still to come belongs to no later question
            self.close()
            raise
        busy = self._used() - before >= self._timeout / 2  # else it was stopped, or others had the processor
        busy = busy and asleep() - slept < self._timeout / 2
        self.close()
        return Failed(f"did not end within {self._timeout:g} s", lasting=busy)

    def _used(self) -> float:
        """Seconds for which a thread of the process has had a processor since it started, at most: the sum of all
        threads passes half of the limit while they wait for each other for an eighth of it. Infinitely many once nobody
        knows."""
        assert self._process
        try:
            stats = [p.read_text() for p in Path(f"/proc/{self._process.pid}/task").glob("*/stat")]
        except OSError:
            return inf
        times = [stat.rpartition(")")[2].split()[11:13] for stat in stats]
        return max((int(user) + int(system) for user, system in times), default=inf) / os.sysconf("SC_CLK_TCK")

    def _received(self, answer: object) -> object:
        """The answer; after the last one of a worker that cannot go on, that worker ends."""
        if isinstance(answer, Last):
            self.close()
            return answer.result
        return answer

    def interrupt(self) -> None:
        """Ends the process, also while another thread waits for its answer: that is Failed then."""
        if process := self._process:
            end(process)

    def close(self) -> None:
        if self._process:
            end(self._process)
            self._process.wait()
            assert self._process.stdin
            self._process.stdin.close()
        if self._pipe:
            self._pipe.close()
        self._process = self._pipe = None

    def _ready(self) -> Connection:
        if self._process and self._process.poll() is not None:
            self.close()
        return self._pipe if self._pipe else self._start()

    def _start(self) -> Connection:
        """A new process, ready for questions; BackendError where none can be had."""
        try:
            self._pipe = ours = self._begun()
        except OSError as e:  # no process, pipe or file is left
            raise BackendError(f"the process {self._module} does not start: {e.strerror or e}") from None
        try:
            limit(ours, START)
            if ours.poll(START):
                ours.recv()
                return ours
        except (EOFError, OSError):
            pass
        self.close()
        raise BackendError(f"the process {self._module} does not start: {self._last_complaint() or 'no answer'}")

    def _begun(self) -> Connection:
        """Our end of a new process's pipe."""
        self._complaints = self._complaints or tempfile.TemporaryFile()  # noqa: SIM115
        self._complaints.seek(0)  # children write where the last one stopped
        self._complaints.truncate()
        ours, theirs = Pipe()
        with theirs:
            command = [sys.executable, "-m", self._module, str(theirs.fileno()), *self._arguments]
            self._process = start(
                command,
                self._environment,
                stdin=subprocess.PIPE,
                stderr=self._complaints,
                pass_fds=(theirs.fileno(),),
            )
        return ours

    def _crashed(self) -> Failed:
        """A process that was killed from outside, or gave up, says nothing about the kernel."""
        assert self._process
        status = self._process.wait()
        self.close()
        if status < 0:
            name = signal.Signals(-status).name
            return Failed(f"crashed with {name}", lasting=-status in FAULTS)
        complaint = self._last_complaint()
        reason = f"ended its process with status {status}{': ' if complaint else ''}{complaint}"
        return Failed(reason, lasting=status != GIVEN_UP)

    def _last_complaint(self) -> str:
        assert self._complaints, "whoever complains was started"
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""


def environment(threads: int) -> dict[str, str]:
    """The worker's: this process's imports and a fixed number of threads.

    Where they fill the processors they are bound: on a quiet machine that changes nothing (measured), on a busy one
    it keeps two of them from sharing a processor, where a kernel of microseconds takes milliseconds.
    """
    fixed = {"OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false", "OPENBLAS_NUM_THREADS": str(threads)}
    bound = {"OMP_PROC_BIND": "close"} if threads >= len(available()) else {}
    return {**bound, **plain_environment(**fixed)}
