"""The programs of one model, by the shapes of its inputs: which are wanted, being made, ready, or not to be used."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import count
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from korch.options import Options
from korch.session.archives import Outcome, ProgramFiles
from korch.session.making import Request, make
from korch.session.source import ModelSource
from korch.session.status import SpecialisationStatus
from korch.session.trial import Trial

if TYPE_CHECKING:
    from korch.executable import Executable

log = logging.getLogger(__name__)

FIRST_BUDGET = 30.0
"""Seconds of the first search for a model: it reaches 0.9 of the full search's speed in a ninth of its time."""
CERTAIN = 0.5
"""Of onnxruntime's time: a program whose time may depend on the data is tried in use unless it takes less on random
inputs. (A model of diacritics 0.73 on lengths of 0 and 1, 1.3 on one of 48.)"""
TRANSFER_BUDGET = 10.0
"""Seconds in which the plan of a near binding is compiled, checked and judged for another."""
WAITING_PER_PROGRAM = 4
"""How many bindings are remembered for each program that may be loaded; of more, those used least recently go."""

Known = tuple[tuple[int, ...], tuple[int, ...]]
"""The shape and the numbers of an input whose value decides what is computed."""
Binding = tuple[tuple[int, ...] | Known, ...]
"""The shapes of the model's inputs, in order; of structural ones also their values."""


class SpecialisationState(StrEnum):
    """`WANTED`: the cache was not looked at yet. `ABSENT`: not kept, and not to be made. `TRIED`: made, and
    timed call by call beside onnxruntime. `REJECTED`: made, and not used. `FAILED`: not made."""

    WANTED = "wanted"
    WAITING = "waiting"
    MAKING = "making"
    TRIED = "tried"
    READY = "ready"
    ABSENT = "absent"
    REJECTED = "rejected"
    FAILED = "failed"


@dataclass(eq=False)
class Specialisation:
    """The state of one binding. `since`: when its state began, in seconds since the epoch. `calls`: with these
    shapes; `used`: the number of the last one among all."""

    binding: Binding
    state: SpecialisationState = SpecialisationState.WANTED
    program: Executable | None = None
    outcome: Outcome | None = None
    trial: Trial | None = None
    since: float = field(default_factory=time.time)
    calls: int = 0
    used: int = 0

    def enter(self, state: SpecialisationState) -> None:
        self.state, self.since = state, time.time()


class Specialisations:
    """The programs that serve `model`, whose inputs are `names`; at most `limit` are loaded, those used last.

    `find` answers from a table; `request` says what to make next, and `settle` enters what came of it. Thread-safe.
    """

    def __init__(
        self,
        model: ModelSource,
        names: Sequence[str],
        options: Options,
        folder: Path,
        session: Mapping[str, object],
        limit: int,
    ) -> None:
        self.model, self.names, self.options, self.folder, self.limit = model, tuple(names), options, folder, limit
        self._session = dict(session)
        self._known: dict[Binding, Specialisation] = {}
        self._clock = count(1)
        self.last_call = 0
        """The number of the last call with a known binding."""
        self.structural: frozenset[str] = frozenset()
        """Inputs whose values belong to a binding; known once the first program was to be made."""
        self.lock = threading.RLock()

    def known(self, binding: Binding) -> Specialisation | None:
        """The specialisation of a call's binding; None where it is new."""
        found = self._known.get(binding)
        if found is not None:
            found.used = self.last_call = next(self._clock)
            found.calls += 1
        return found

    def find(self, binding: Binding) -> Specialisation:
        """The specialisation of a call's binding; a new one is entered as wanted."""
        return self.known(binding) or self._wanted(binding)

    @property
    def loaded(self) -> bool:
        """Whether there is a program in use."""
        return any(s.program for s in list(self._known.values()))

    def _wanted(self, binding: Binding) -> Specialisation:
        with self.lock:
            found = self._known.setdefault(binding, Specialisation(binding, calls=1, used=next(self._clock)))
            idle = [s for s in self._known.values() if s.state is not SpecialisationState.MAKING and s is not found]
            if len(self._known) > WAITING_PER_PROGRAM * self.limit and idle:
                del self._known[min(idle, key=lambda s: s.used).binding]
            return found

    def recalled(self) -> bool:
        """Whether there was a binding of which nothing was known yet: now what earlier processes left of it is."""
        with self.lock:
            fresh = [s for s in self._known.values() if s.state is SpecialisationState.WANTED]
            if not fresh:
                return False
            chosen = max(fresh, key=lambda s: s.used)
            chosen.enter(SpecialisationState.WAITING)
        place = self._request(chosen.binding, 1.0).place
        if outcome := place.outcome():
            self.settle(chosen, outcome, place)
            if outcome.usable and not chosen.program and not place.outcome():  # damaged, and removed: made again
                with self.lock:
                    chosen.program = chosen.trial = chosen.outcome = None
                    chosen.enter(SpecialisationState.WAITING)
        return True

    def first_request(self) -> tuple[Specialisation, Request] | None:
        """Of the specialisations without a program the most recently used one, and how it is made; None where no one
        waits."""
        with self.lock:
            if not self.waiting or self._on_trial:
                return None
            chosen = max(self.waiting, key=lambda s: s.used)
            chosen.enter(SpecialisationState.MAKING)
            near = self._nearest(chosen.binding)
            budget = min(TRANSFER_BUDGET if near else FIRST_BUDGET, self.options.patience)
            return chosen, self._request(chosen.binding, budget, near)

    def longer_request(self) -> tuple[Specialisation, Request] | None:
        """Of the specialisations for which a longer search may find a better program the one that is used most, and how
        it is made; None where there is none."""
        with self.lock:
            if not self.coarse or self._on_trial:
                return None
            chosen = max(self.coarse, key=lambda s: s.calls)
            return chosen, self._request(chosen.binding, self.options.patience)

    @property
    def waiting(self) -> list[Specialisation]:
        """Those of which none was made yet."""
        with self.lock:
            return [
                s for s in self._known.values() if s.state in (SpecialisationState.WANTED, SpecialisationState.WAITING)
            ]

    @property
    def coarse(self) -> list[Specialisation]:
        """Those for which a longer search may find a better program."""
        with self.lock:
            return [s for s in self._known.values() if self._is_coarse(s)]

    @property
    def _on_trial(self) -> bool:
        """Whether a trial is under way, which a search beside it would decide."""
        return any(s.trial and s.trial.under_way for s in self._known.values())

    def _is_coarse(self, s: Specialisation) -> bool:
        """Whether a longer search may find a better program."""
        judged = s.state in (SpecialisationState.READY, SpecialisationState.REJECTED)
        return judged and s.outcome is not None and not s.outcome.suffices(self.options.patience)

    def _nearest(self, binding: Binding) -> Binding | None:
        """The binding with a program whose shapes are nearest."""
        ready = [s.binding for s in self._known.values() if s.program and comparable(s.binding, binding)]
        return min(ready, key=lambda other: distance(other, binding), default=None)

    def _request(self, binding: Binding, budget: float, near: Binding | None = None) -> Request:
        shapes, values = self.described(binding)
        options = replace(self.options, shapes=shapes, values=values, time_budget=budget)
        archive = str(self._request(near, budget).place.archive) if near else ""
        return Request(str(self.model.file), self.model.digest, options, str(self.folder), self._session, archive)

    def settle(self, s: Specialisation, outcome: Outcome, place: ProgramFiles) -> None:
        """Enters what came of making `s`; its program takes over where it is usable. After a longer search that found
        nothing to use, the program of the first one stays."""
        if outcome.needs:
            self._require(outcome.needs)
            return
        program = place.open() if outcome.usable else None
        if outcome.usable and program is None:
            outcome = replace(outcome, reason="its archive does not fit this machine or this version")
        with self.lock:
            if s.program and s.outcome and program is None:
                s.outcome = replace(s.outcome, budget=self.options.patience)
                return
            s.program, s.outcome = program, outcome
            uncertain = outcome.share > (CERTAIN if outcome.varies else 1.0)
            s.trial = Trial() if program and uncertain and outcome.base_ms else None
            made = SpecialisationState.TRIED if s.trial else SpecialisationState.READY
            s.enter(
                made if program else SpecialisationState.REJECTED if outcome.base_ms else SpecialisationState.FAILED
            )
            self._evict(s)
        if outcome.reason:
            log.info("%s: onnxruntime goes on: %s", self.described(s.binding), outcome.reason)

    def described(self, binding: Binding) -> tuple[dict[str, tuple[int, ...]], dict[str, Any]]:
        """The shapes of a binding's inputs, and the values of those that have one, as numbers or nested lists."""
        shapes, values = dict[str, Any](), dict[str, Any]()
        for name, part in zip(self.names, binding, strict=True):
            if name in self.structural:
                shape, numbers = part
                values[name] = np.array(numbers).reshape(shape).tolist()
            else:
                shapes[name] = part
        return shapes, values

    def _require(self, names: Collection[str]) -> None:
        """From now on bindings hold the values of these inputs; those without are of no use."""
        with self.lock:
            self.structural |= frozenset(names)
            self._known.clear()

    def fail(self, s: Specialisation, reason: str) -> None:
        """Gives up a program that has failed in use, or whose making was broken off."""
        with self.lock:
            s.program = s.trial = None
            s.outcome = Outcome(self.options.patience, reason=reason)
            s.enter(SpecialisationState.FAILED)

    def decide(self, s: Specialisation) -> None:
        """Ends the trial of `s`."""
        with self.lock:
            trial, s.trial = s.trial, None
            if trial is None or s.outcome is None:
                return
            if trial.won:
                return s.enter(SpecialisationState.READY)
            times = (1e3 * median(x) for x in (trial.base, trial.program))
            reason = "in use onnxruntime takes {:.3f} ms, the program {:.3f} ms".format(*times)
            s.program, s.outcome = None, replace(s.outcome, reason=reason)
            s.enter(SpecialisationState.REJECTED)

    def give_up(self, reason: str) -> None:
        """Nothing can be made."""
        for s in [s for s in self._known.values() if s.program is None]:
            self.fail(s, reason)

    def make_now(self, s: Specialisation) -> None:
        """Makes the program here, unless that is under way or done; whoever else asks meanwhile uses onnxruntime."""
        with self.lock:
            if s.state is not SpecialisationState.WANTED:
                return
            s.enter(SpecialisationState.MAKING)
        try:
            request = self._request(s.binding, self.options.patience)
        except OSError as e:  # a model of bytes, which is written to a file
            return self.fail(s, f"the model's file: {e.strerror or e}")
        self.settle(s, make(request), request.place)

    def rule_out(self) -> None:
        """Nothing is made: what is not kept stays absent."""
        with self.lock:
            for s in self._known.values():
                if s.state is SpecialisationState.WAITING:
                    s.enter(SpecialisationState.ABSENT)

    def forked(self) -> None:
        """Goes on in a fork of the process: what its parent makes waits again, and the lock is nobody's."""
        self.lock = threading.RLock()
        for s in self._known.values():
            if s.state is SpecialisationState.MAKING:
                s.enter(SpecialisationState.WANTED)

    def statuses(self) -> tuple[SpecialisationStatus, ...]:
        """One for each binding, the most recently used first."""
        with self.lock:
            known = sorted(self._known.values(), key=lambda s: -s.used)
        return tuple(self._status(s) for s in known)

    def _status(self, s: Specialisation) -> SpecialisationStatus:
        outcome = s.outcome or Outcome(0.0)
        archive = str(self._request(s.binding, 1.0).place.archive) if s.program else ""
        return SpecialisationStatus(
            *self.described(s.binding),
            str(s.state),
            s.since,
            s.calls,
            outcome.base_ms,
            outcome.program_ms,
            outcome.reason,
            archive,
        )

    def _evict(self, newest: Specialisation) -> None:
        """Forgets the loaded program that was used least recently, where there are more than `limit`."""
        loaded = [s for s in self._known.values() if s.program and s is not newest]
        if len(loaded) >= self.limit:
            del self._known[min(loaded, key=lambda s: s.used).binding]


def comparable(one: Binding, other: Binding) -> bool:
    """Whether two bindings differ in lengths only."""
    return all(len(a) == len(b) and (not _is_known(a) or a == b) for a, b in zip(one, other, strict=True))


def distance(one: Binding, other: Binding) -> float:
    """How far apart the lengths of two comparable bindings are, by their ratios."""
    pairs: list[tuple[tuple[Any, ...], tuple[Any, ...]]] = list(zip(one, other, strict=True))
    shapes = [(a, b) for a, b in pairs if not _is_known(a)]
    return sum(abs(math.log((m + 1) / (n + 1))) for a, b in shapes for m, n in zip(a, b, strict=True))


def _is_known(part: tuple[Any, ...]) -> bool:
    return bool(part) and isinstance(part[0], tuple)
