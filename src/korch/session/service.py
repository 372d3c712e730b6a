"""The thread of this process that has specialisations made, one at a time, and lets idle bases go."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol
from weakref import WeakSet

from korch.session.archives import Outcome
from korch.session.making import Request
from korch.session.specialisations import Specialisation, Specialisations
from korch.session.worker_process import SpecialisationProcess

log = logging.getLogger(__name__)

TICK = 0.2
"""Seconds between two looks at the process that makes programs, and at bases that idle."""
WORKER_IDLE_SECONDS = 15.0
"""After which a worker without a request is ended. The next shape of a client arrives earlier as a rule, and a worker
needs about a second to start."""
QUIET_SECONDS = 10.0
"""Without a new shape, after which a longer search begins for one that is known. A new one ends it: what was measured
is kept."""
LONGEST_SEARCH, LONGEST_BESIDES = 20.0, 600.0
"""How many times its budget a worker may take for a program, and how many seconds besides. Beside a server that is
never idle it rests four times as long as it works, at a low priority."""


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


@dataclass(frozen=True)
class Job:
    """The request that the worker serves, and its session."""

    programs: Specialisations
    chosen: Specialisation
    request: Request
    longer: bool
    """Whether there is a program already."""
    begun: float

    @property
    def overdue(self) -> bool:
        """Whether the worker seems to hang, in a loop of the model that does not end on random inputs, for one."""
        limit = LONGEST_SEARCH * self.request.options.patience + LONGEST_BESIDES
        return time.monotonic() - self.begun > limit


def _started(run: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=run, name="korch-session", daemon=True)
    thread.start()
    return thread


class Service:
    """One for each process. Its thread runs while there is something to do, and starts again when there is."""

    def __init__(self) -> None:
        self._clients = WeakSet[Client]()
        self._wake = threading.Condition()
        self._asked = False
        self._activity = 0
        self._thread: threading.Thread | None = None
        self._worker: SpecialisationProcess | None = None
        self._job: Job | None = None
        self._worked = 0.0  # when something was last made, or waited for it

    def attend(self, client: Client) -> None:
        """There may be something to do for `client` now: it has met a new binding, or has loaded its base."""
        with self._wake:
            self._clients.add(client)
            self._asked = True
            if self._thread is None:
                try:
                    self._thread = _started(self._run)
                except RuntimeError:  # there are too many; the next binding tries again
                    client.programs.give_up("no thread could be started to make it")
            self._wake.notify()

    def stop(self) -> None:
        """Ends the process that makes something; nothing is begun any more."""
        with self._wake:
            self._clients.clear()
            worker, self._worker, self._job = self._worker, None, None
        if worker:
            worker.kill()

    def forked(self) -> None:
        """Forgets, in a fork, the thread and the process that only the parent has."""
        self._wake, self._thread, self._worker, self._job = threading.Condition(), None, None, None
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
        self._look_at_worker(clients)
        for client in clients:
            try:
                self._recall(client)
            except OSError as e:  # the model cannot be read or written to a file
                client.programs.give_up(f"the model's file: {e.strerror or e}")
        makers = [client.programs for client in clients if client.makes]
        self._make(makers)
        watching = [client.let_idle_base_go() for client in clients]  # once it is known which programs there are
        return any(watching) or self._worker is not None or any(p.waiting or p.coarse for p in makers)

    def _recall(self, client: Client) -> None:
        """Enters what is kept."""
        while client.programs.recalled():
            pass
        if not client.makes:
            client.programs.rule_out()

    def _make(self, makers: Sequence[Specialisations]) -> None:
        """Begins to make what is not kept: first programs before better ones."""
        if any(programs.waiting for programs in makers):
            self._worked = time.monotonic()
            if self._worker and self._job and self._job.longer:
                self._end(self._worker)
        for programs in makers:
            if self._job is None:
                self._begin(programs, longer=False)
        if self._job is None and time.monotonic() - self._worked > QUIET_SECONDS:
            for programs in makers:
                if self._job is None:
                    self._begin(programs, longer=True)

    def _tell_worker(self, clients: Sequence[Client]) -> None:
        """Lets the worker rest while calls arrive."""
        before, self._activity = self._activity, sum(client.activity() for client in clients)
        if self._worker:
            self._worker.tell(self._activity != before)

    def _look_at_worker(self, clients: Sequence[Client]) -> None:
        """Enters what the worker has made; ends one whose session is gone, or that idles."""
        worker, job = self._worker, self._job
        if worker is None:
            return
        if job is None:
            if time.monotonic() - self._worked > WORKER_IDLE_SECONDS:
                self._end(worker)
        elif not any(job.programs is client.programs for client in clients):
            self._end(worker)
        elif job.overdue:
            self._end(worker)
            self._give_up(job, "making the program took too long")
        else:
            self._settle(worker, job)

    def _settle(self, worker: SpecialisationProcess, job: Job) -> None:
        """Enters the outcome of the job, once there is one."""
        try:
            outcome = worker.outcome()
        except OSError as e:
            self._end(worker)
            return self._give_up(job, f"the process that made the program cannot be read: {e.strerror or e}")
        if outcome:
            self._worked, self._job = time.monotonic(), None
            if worker.ended:
                self._end(worker)
            job.programs.settle(job.chosen, outcome, job.request.place)

    @staticmethod
    def _give_up(job: Job, reason: str) -> None:
        """Enters that nothing came of it; a program that is there stays."""
        job.programs.settle(job.chosen, Outcome(job.request.options.patience, reason=reason), job.request.place)

    def _end(self, worker: SpecialisationProcess) -> None:
        """Ends the worker, unless `stop` does."""
        with self._wake:
            mine = self._worker is worker
            if mine:
                self._worker = self._job = None
        if mine:
            worker.kill()

    def _begin(self, programs: Specialisations, longer: bool) -> None:
        """Has the next program made, if one is wanted."""
        with self._wake:
            asked = programs.longer_request() if longer else programs.first_request()
            if asked is None:
                return
            try:
                self._worker = self._worker or SpecialisationProcess()
                self._worker.begin(asked[1])
                self._job = Job(programs, *asked, longer, time.monotonic())
            except OSError as e:
                self._give_up(Job(programs, *asked, longer, 0.0), f"no process could be started: {e.strerror or e}")


SERVICE = Service()
atexit.register(SERVICE.stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=SERVICE.forked)
