"""The parent's side of the measuring process: it survives whatever a kernel does to the other side."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from korch.errors import BackendError
from korch.profile.results import Failed
from korch.profile.setting import available
from korch.profile.task import Calibrate, Task

START = 120.0  # seconds a worker may take to start


class WorkerProcess:
    """A worker, started at the first question and again after one that it did not survive.

    `timeout`: seconds that a kernel may take to be checked and timed.
    """

    def __init__(self, timing: Path, threads: int, timeout: float) -> None:
        self._arguments = (str(timing), str(threads))
        self._environment = _environment(threads)
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as this object)

    def ask(self, task: Task | Calibrate) -> Any:
        """The worker's answer; Failed where it crashed or hung."""
        pipe = self._ready()
        try:
            pipe.send(task)
            if pipe.poll(self._timeout):
                return pipe.recv()
        except (EOFError, OSError):
            return self._crashed()
        except BaseException:  # interrupted: the answer that is still to come belongs to no later question
            self.close()
            raise
        self.close()
        return Failed(f"did not end within {self._timeout:g} s")

    def close(self) -> None:
        if self._process:
            self._process.kill()
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
        ours, theirs = Pipe()
        self._complaints.truncate(0)
        with theirs:
            command = [sys.executable, "-m", "korch.profile.worker", str(theirs.fileno()), *self._arguments]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=self._complaints,
                pass_fds=(theirs.fileno(),), env=self._environment, start_new_session=True,
            )  # fmt: skip
        self._pipe = ours
        try:
            if ours.poll(START):
                ours.recv()
                return ours
        except (EOFError, OSError):
            pass
        self.close()
        raise BackendError(f"the measuring process does not start: {self._last_complaint() or 'no answer'}")

    def _crashed(self) -> Failed:
        """Whoever was killed by SIGKILL was killed from outside: that says nothing about the kernel."""
        assert self._process
        status = self._process.wait()
        self.close()
        if status < 0:
            name = signal.Signals(-status).name
            return Failed(f"crashed with {name}", lasting=-status != signal.SIGKILL)
        complaint = self._last_complaint()
        return Failed(f"ended its process with status {status}{': ' if complaint else ''}{complaint}")

    def _last_complaint(self) -> str:
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""


def _environment(threads: int) -> dict[str, str]:
    """The worker's: this process's imports and a fixed number of threads.

    Where they fill the processors they are bound: on a quiet machine that changes nothing (measured), on a busy one
    it keeps two of them from sharing a processor, where a kernel of microseconds takes milliseconds.
    """
    paths = os.pathsep.join(p or os.getcwd() for p in sys.path)
    fixed = {"OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false", "OPENBLAS_NUM_THREADS": str(threads)}
    bound = {"OMP_PROC_BIND": "close"} if threads >= len(available()) else {}
    return {**bound, **os.environ, **fixed, "PYTHONPATH": paths}
