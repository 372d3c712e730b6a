"""Costs that are measured once and remembered, wherever kernels run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from korch.backends.contract import Kernel
from korch.ir.cone import Cone
from korch.profile.database import Database
from korch.profile.physics import Physics, Work
from korch.profile.results import Measurement, Result, Tally
from korch.profile.setting import Setting, cost_key, offer_key
from korch.system.deadline import NEVER, Deadline
from korch.system.samples import CROWDED

Progress = Callable[[int, int], None]
SLOWEST = 1.5
"""By how much a machine that others use is believed to be slower for a while."""


class Remembered(ABC):
    """Measures what `database` does not have, and remembers every result at once.

    `progress(done, total)` is called within `measure`. `measured` counts the kernels that really ran, each once;
    `physics`: the best rates seen so far; `tally`: the samples taken.
    """

    def __init__(self, setting: Setting, database: Database, progress: Progress | None = None) -> None:
        self.setting = setting
        self.database = database
        self.measured = 0
        self.physics = Physics()
        self.tally = Tally()
        self._progress: Progress = progress or (lambda done, total: None)
        self._remeasured: set[str] = set()

    def key(self, kernel: Kernel) -> str:
        """Under which the database has the kernel."""
        return cost_key(kernel, self.setting)

    def known(self, kernel: Kernel) -> Result | None:
        """What the database has of the kernel alone."""
        return self._recall(kernel, self.key(kernel))

    def offer_key(self, cone: Cone, backend: str) -> str:
        """Under which the database has what `backend` offers for all cones of this signature."""
        return offer_key(cone, backend, self.setting)

    def measure(self, kernels: Sequence[Kernel]) -> list[Result]:
        """The result of each kernel, in order; equal ones are measured once."""
        return [r for r in self.measure_until(NEVER, kernels) if r]

    def measure_until(self, deadline: Deadline, kernels: Sequence[Kernel]) -> list[Result | None]:
        """The same, but None for kernels whose turn had not come by `deadline`."""
        keys = [self.key(k) for k in kernels]
        todo = dict(zip(keys, kernels, strict=True))
        results = {key: r for key, k in todo.items() if (r := self._recall(k, key))}
        missing = {key: k for key, k in todo.items() if key not in results}
        self._progress(len(results), len(todo))
        for key, result in self._results(missing, deadline):
            results[key] = result
            self._progress(len(results), len(todo))
        return [results.get(key) for key in keys]

    def measure_again(
        self, deadline: Deadline, kernels: Sequence[Kernel], rivals: Sequence[Kernel | None] = ()
    ) -> list[Result | None]:
        """The same of kernels that are known: each keeps the least of its times, as a busy machine only adds.

        A kernel of the same cone may be named as its rival. It runs next to it, and where it takes longer than it is
        known to, so does the kernel: both would have been faster in a better moment.
        """
        rivals = rivals or [None] * len(kernels)
        todo = {self.key(k): k for k in (*kernels, *filter(None, rivals)) if not k.alias}
        known = {key: r for key, k in todo.items() if (r := self._recall(k, key))}
        self._remeasured = set(todo)
        try:
            fresh = dict(self._results(todo, deadline))
        finally:
            self._remeasured = set()
        for k, rival in zip(kernels, rivals, strict=True):
            pace = _pace(known, fresh, self.key(rival)) if rival else 1.0
            self._lower(self.key(k), k, known, fresh, pace)
        return [known.get(key) if key in fresh else None for key in map(self.key, kernels)]

    def _lower(
        self, key: str, kernel: Kernel, known: dict[str, Result], fresh: Mapping[str, Result], pace: float
    ) -> None:
        """Remembers what the kernel takes at that pace, where that is less than what is known."""
        before, now = known.get(key), fresh.get(key)
        if isinstance(now, Measurement):
            least = self.physics.seconds(Work.of(kernel.cone, kernel.variant.precision))
            now = replace(now, seconds=max(pace * now.seconds, least))
            if isinstance(before, Measurement) and now.spread >= CROWDED:  # no quiet moment: expectations count
                now = replace(now, seconds=(now.seconds + before.seconds) / 2)
            if not isinstance(before, Measurement) or now.seconds < before.seconds:
                known[key] = self._record(key, kernel, now)

    @abstractmethod
    def _results(self, kernels: Mapping[str, Kernel], deadline: Deadline) -> Iterator[tuple[str, Result]]:
        """Measures `kernels`, by their keys, until the deadline."""

    def _recall(self, kernel: Kernel, key: str) -> Result | None:
        if kernel.alias:
            return Measurement(0.0)
        if key in self._remeasured:
            return None
        return self.database.cost(key) or self.database.failure(key)

    def _keep(self, key: str, kernel: Kernel, result: Result) -> Result:
        return result if key in self._remeasured else self._record(key, kernel, result)

    def _record(self, key: str, kernel: Kernel, result: Result) -> Result:
        if isinstance(result, Measurement) or result.lasting:
            label = f"{kernel.backend} {kernel.variant} {kernel.cone.key}"
            self.database.record(key, result, kernel.workspace, label)
        return result


def _pace(known: Mapping[str, Result], fresh: Mapping[str, Result], key: str) -> float:
    """Of what a kernel takes now, the part that is known, within reason; at most all of it."""
    before, now = known.get(key), fresh.get(key)
    if not isinstance(before, Measurement) or not isinstance(now, Measurement) or not now.seconds:
        return 1.0
    return min(max(before.seconds / now.seconds, 1 / SLOWEST), 1.0)


def by_cone(kernels: Mapping[str, Kernel]) -> list[tuple[str, Kernel]]:
    """Neighbours share their cone and precision as far as possible, so that each reference is evaluated once."""

    def place(item: tuple[str, Kernel]) -> tuple[str, str, str]:
        key, kernel = item
        return kernel.cone.signature, kernel.variant.precision, key

    return sorted(kernels.items(), key=place)
