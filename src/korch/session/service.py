"""The thread of this process that has specialisations made, one at a time, and lets idle bases go."""

from __future__ import annotations

import atexit
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import IO, Protocol
from weakref import WeakSet

from korch.session.archives import Outcome
from korch.session.making import Request
from korch.session.specialisations import Specialisation, Specialisations
from korch.system.folders import discard, owned_folder
from korch.system.processes import plain_environment

log = logging.getLogger(__name__)

WORKER = "korch.session.worker"
TICK = 0.2
"""Seconds between two looks at the process that makes a program, and at bases that idle."""


class Client(Protocol):
    """A session as the service sees it."""

    programs: Specialisations
    makes: bool
    """Whether programs may be made for it, or only recalled."""

    def activity(self) -> int:
        """A number that changes with each call."""
        ...

    def let_idle_base_go(self) -> bool:
        """Does so where it has idled for long; whether there is a base to watch further."""
        ...


class Service:
    """One for each process. Its thread runs while there is something to do, and starts again when there is."""

    def __init__(self) -> None:
        self._clients = WeakSet[Client]()
        self._wake = threading.Condition()
        self._asked = False
        self._activity = 0
        self._thread: threading.Thread | None = None
        self._worker: _Worker | None = None

    def attend(self, client: Client) -> None:
        """There may be something to do for `client` now: it has met a new binding, or has loaded its base."""
        with self._wake:
            self._clients.add(client)
            self._asked = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="korch-session", daemon=True)
                self._thread.start()
            self._wake.notify()

    def stop(self) -> None:
        """Ends the process that makes something; nothing is begun any more."""
        with self._wake:
            self._clients.clear()
            worker, self._worker = self._worker, None
        if worker:
            worker.kill()

    def forked(self) -> None:
        """Forgets, in a fork, the thread and the process that only the parent has."""
        self._wake, self._thread, self._worker = threading.Condition(), None, None
        for client in list(self._clients):
            client.programs.forked()

    def _run(self) -> None:
        while True:
            with self._wake:
                self._asked = False
            try:
                more = self._step()
            except Exception:  # sessions go on with onnxruntime
                log.exception("the thread that has programs made goes on")
                more = False
            with self._wake:
                if not (more or self._asked):
                    self._thread = None
                    return
                self._wake.wait_for(lambda: self._asked, TICK)

    def _step(self) -> bool:
        """Does what there is to do now; whether there is more to come."""
        with self._wake:
            clients = list(self._clients)
        self._tell_worker(clients)
        self._look_at_worker({id(client.programs) for client in clients})
        for client in clients:
            try:
                self._attend_to(client)
            except OSError as e:  # the model cannot be read or written to a file
                client.programs.give_up(f"the model's file: {e.strerror or e}")
        watching = [client.let_idle_base_go() for client in clients]  # once it is known which programs there are
        return any(watching) or self._worker is not None

    def _attend_to(self, client: Client) -> None:
        """Recalls what is kept, and begins to make what is not."""
        while client.programs.recalled():
            pass
        if not client.makes:
            client.programs.rule_out()
        elif self._worker is None:
            self._begin(client.programs)

    def _tell_worker(self, clients: Sequence[Client]) -> None:
        """Lets the worker rest while calls arrive."""
        before, self._activity = self._activity, sum(client.activity() for client in clients)
        if self._worker:
            self._worker.tell(self._activity != before)

    def _look_at_worker(self, wanted: Collection[int]) -> None:
        """Enters what the worker has made; ends one whose session, by its programs, is not `wanted` any more."""
        with self._wake:
            worker = self._worker
            if worker is None or (id(worker.programs) in wanted and not worker.ended):
                return
            self._worker = None
        if id(worker.programs) in wanted:
            worker.settle()
        else:
            worker.kill()

    def _begin(self, programs: Specialisations) -> None:
        """Starts to make the next program, if one is wanted."""
        with self._wake:
            asked = programs.request()
            if asked is None:
                return
            try:
                self._worker = _Worker(programs, *asked)
            except OSError as e:
                programs.fail(asked[0], f"no process could be started: {e.strerror or e}")


class _Worker:
    """The process that makes one specialisation."""

    def __init__(self, programs: Specialisations, chosen: Specialisation, request: Request) -> None:
        self.programs, self._chosen, self._request = programs, chosen, request
        self._folder = owned_folder("korch-service-")
        self._flag = self._folder / "busy"
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", WORKER, str(os.getpid()), str(self._flag)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self._errors, env=plain_environment(), start_new_session=True,
        )  # fmt: skip
        assert self._process.stdin
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(asdict(request)).encode() + b"\n")
            self._process.stdin.close()

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def tell(self, busy: bool) -> None:
        """Whether the process is to rest after each piece of work."""
        with suppress(OSError):
            self._flag.touch() if busy else self._flag.unlink(missing_ok=True)

    def settle(self) -> None:
        """Enters what came of it."""
        assert self._process.stdout
        answer = self._process.stdout.read()
        self._process.stdout.close()
        try:
            outcome = Outcome.from_json(answer.splitlines()[-1].decode())
        except (ValueError, TypeError, LookupError):
            outcome = Outcome(self._request.options.patience, reason=self._complaint())
        self._errors.close()
        discard(self._folder)
        self.programs.settle(self._chosen, outcome, self._request.place)

    def _complaint(self) -> str:
        """Why there is no answer."""
        status = self._process.returncode
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        return f"the process that made the program {how}{': ' if lines else ''}{lines[-1] if lines else ''}"

    def kill(self) -> None:
        """Ends the process and all that it has started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            if pipe:
                pipe.close()
        discard(self._folder)


SERVICE = Service()
atexit.register(SERVICE.stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=SERVICE.forked)
