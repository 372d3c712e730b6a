"""What the database knows of kernels inside one model's program."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from korch.ir.graph import Graph
from korch.orchestrate.ledger import Entry
from korch.profile.costs import Costs


@dataclass(frozen=True)
class Memory:
    """In-place costs belong to one model: `context` is its digest."""

    profiler: Costs
    context: str

    @staticmethod
    def of(graph: Graph, profiler: Costs) -> Memory:
        """The memory of `graph`."""
        return Memory(profiler, graph.fingerprint[:24])

    def place(self, timed: Iterable[tuple[Entry, float]]) -> None:
        """Enters and keeps what kernels took in place; the first time counts, or noise would never settle, and of those
        that were doubted the least."""
        fresh = [(e.best, self._placed(e), s) for e, s in timed if e.best.in_place is None]
        known = self.profiler.database.in_place([key for _, key, _ in fresh])
        for offer, key, seconds in fresh:
            doubted = offer.before is not None
            offer.place(seconds if doubted else known.get(key, seconds))
            if doubted or key not in known:
                self.profiler.database.record_in_place(key, offer.seconds)

    def lower(self, timed: Iterable[tuple[Entry, float]]) -> None:
        """Enters times in place that are below the known ones."""
        for entry, seconds in [(e, s) for e, s in timed if s < e.best.seconds]:
            entry.best.in_place = seconds
            self.profiler.database.record_in_place(self._placed(entry), seconds)

    def _placed(self, entry: Entry) -> str:
        """Where some variants are banned, of the variant that is left: another may have been timed before."""
        best = entry.best
        variant = f"-{best.variant}" if best.banned else ""
        return f"{self.context}-{self.profiler.offer_key(entry.cone, best.backend.name)}{variant}"
