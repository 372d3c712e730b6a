"""The worker as its parent sees it: a process that makes specialisations, one after the other."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from dataclasses import asdict
from typing import IO

from korch.session.archives import Outcome
from korch.session.making import Request
from korch.system.folders import discard, owned_folder
from korch.system.processes import end, plain_environment, start

WORKER = "korch.session.worker"


class SpecialisationProcess:
    """Takes one request at a time. OSError where no process can be started."""

    def __init__(self) -> None:
        self._folder = owned_folder("korch-service-")
        self._flag = self._folder / "busy"
        self._answer = b""
        self._budget = 0.0
        with ExitStack() as undone:
            undone.callback(discard, self._folder)
            self._errors: IO[bytes] = undone.enter_context(tempfile.TemporaryFile(buffering=0))
            self._process = start(
                [sys.executable, "-m", WORKER, str(os.getpid()), str(self._flag)],
                plain_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
            )
            undone.pop_all()
        assert self._process.stdout
        os.set_blocking(self._process.stdout.fileno(), False)

    @property
    def ended(self) -> bool:
        """Whether the process has ended, by itself or by a crash."""
        return self._process.poll() is not None

    def begin(self, request: Request) -> None:
        """Sends the request; where the process is gone, `outcome` says so."""
        assert self._process.stdin
        self._budget, self._answer = request.options.patience, b""
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(asdict(request)).encode() + b"\n")
            self._process.stdin.flush()

    def tell(self, busy: bool) -> None:
        """Whether the process is to rest after each piece of work."""
        with suppress(OSError):
            self._flag.touch() if busy else self._flag.unlink(missing_ok=True)

    def outcome(self) -> Outcome | None:
        """The outcome of the request; None while it is being worked on. OSError where nobody can tell."""
        assert self._process.stdout
        ended = self.ended  # before the last of its answer is read
        self._answer += self._process.stdout.read() or b""
        line, complete, _ = self._answer.partition(b"\n")
        if not (ended or complete):
            return None
        try:
            outcome = Outcome.from_json(line.decode())
        except (ValueError, TypeError, LookupError):
            return Outcome(self._budget, reason=self._complaint())
        with suppress(OSError):  # old complaints stay
            self._errors.seek(0)  # for both processes; what a process says before its first request stays
            self._errors.truncate()
        return outcome

    def _complaint(self) -> str:
        """Why there is no outcome."""
        status = self._process.returncode
        if status is None:
            how = "gave no outcome"
        else:
            how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return f"the process that made the program {how}{': ' if lines else ''}{lines[-1] if lines else ''}"

    def kill(self) -> None:
        """Ends the process and all that it has started."""
        end(self._process)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            if pipe:
                with suppress(BrokenPipeError):  # what could not be written
                    pipe.close()
        discard(self._folder)
