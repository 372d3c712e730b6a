"""Costs that are measured once and remembered, wherever kernels run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf

from korch.backends.contract import Kernel
from korch.ir.cone import Cone
from korch.profile.database import Database
from korch.profile.results import Measurement, Result
from korch.profile.setting import Setting, cost_key, offer_key

Progress = Callable[[int, int], None]


class Remembered(ABC):
    """Measures what `database` does not have, and remembers every result at once.

    `progress(done, total)` is called within `measure`. `measured` counts the kernels that really ran.
    """

    def __init__(self, setting: Setting, database: Database, progress: Progress | None = None) -> None:
        self.setting = setting
        self.database = database
        self.measured = 0
        self._progress = progress or (lambda done, total: None)
        self._doubted: set[str] = set()

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
        return [r for r in self.measure_until(inf, kernels) if r]

    def measure_until(self, deadline: float, kernels: Sequence[Kernel]) -> list[Result | None]:
        """The same, but None for kernels whose turn had not come by `deadline` (of time.monotonic())."""
        keys = [self.key(k) for k in kernels]
        todo = dict(zip(keys, kernels, strict=True))
        results = {key: r for key, k in todo.items() if (r := self._recall(k, key))}
        missing = {key: k for key, k in todo.items() if key not in results}
        self._progress(len(results), len(todo))
        for key, result in self._results(missing, deadline):
            results[key] = result
            self._progress(len(results), len(todo))
        return [results.get(key) for key in keys]

    def measure_again(self, deadline: float, kernels: Sequence[Kernel]) -> list[Result | None]:
        """The same of kernels that are known: each keeps the least of its times, as a busy machine only adds."""
        todo = {self.key(k): k for k in kernels if not k.alias}
        self._doubted = set(todo)
        try:
            results = dict(self._results(todo, deadline))
        finally:
            self._doubted = set()
        return [results.get(self.key(k)) for k in kernels]

    @abstractmethod
    def _results(self, kernels: Mapping[str, Kernel], deadline: float) -> Iterator[tuple[str, Result]]:
        """Measures `kernels`, by their keys, until the deadline."""

    def _recall(self, kernel: Kernel, key: str) -> Result | None:
        if kernel.alias:
            return Measurement(0.0)
        if key in self._doubted:
            return None
        return self.database.cost(key) or self.database.failure(key)

    def _keep(self, key: str, kernel: Kernel, result: Result) -> Result:
        if key in self._doubted:
            self._doubted.remove(key)
            known = self.database.cost(key)
            if known and not (isinstance(result, Measurement) and result.seconds < known.seconds):
                return known
        if isinstance(result, Measurement) or result.lasting:
            label = f"{kernel.backend} {kernel.variant} {kernel.cone.key}"
            self.database.record(key, result, kernel.workspace, label)
        return result


def by_cone(kernels: Mapping[str, Kernel]) -> list[tuple[str, Kernel]]:
    """Neighbours share their cone as far as possible, so that its reference is evaluated once."""
    return sorted(kernels.items(), key=lambda item: (item[1].cone.signature, item[0]))
