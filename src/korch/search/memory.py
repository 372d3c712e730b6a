"""Times of kernels inside one model's program, in the database."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from korch.ir.graph import Graph
from korch.profile.costs import Costs
from korch.search.offers import LedgerEntry, Offer
from korch.system.samples import CROWDED


@dataclass(frozen=True)
class InPlace:
    """Seconds of a kernel in a program, and their relative spread."""

    seconds: float
    spread: float = 0.0


@dataclass(frozen=True)
class Placed:
    """The time of a kernel of a plan in its program: of an entry's offer that was the best then."""

    entry: LedgerEntry
    offer: Offer
    seconds: float
    spread: float = 0.0


@dataclass(frozen=True)
class Memory:
    """In-place costs belong to one model: `context` is its digest."""

    profiler: Costs
    context: str

    @staticmethod
    def of(graph: Graph, profiler: Costs) -> Memory:
        """The memory of `graph`."""
        return Memory(profiler, graph.fingerprint[:24])

    def place(self, timed: Iterable[Placed], telling: bool = True) -> None:
        """Enters and keeps what kernels took in place; the first time counts, or noise would never settle, and of
        outlying ones the least. `telling`: whether it says what to expect of others."""
        fresh = [(p.offer, self._key(p), p.seconds) for p in timed if p.offer.in_place is None]
        known = self.profiler.database.in_place([key for _, key, _ in fresh])
        for offer, key, seconds in fresh:
            again = offer.before is not None
            offer.place(seconds if again else known.get(key, seconds), telling)
            if again or key not in known:
                self.profiler.database.record_in_place(key, offer.seconds)

    def lower(self, timed: Iterable[Placed]) -> None:
        """Enters times in place that are below the known ones, as a busy machine only adds; where there was no quiet
        moment, the mean with the known one."""
        for placed in (p for p in timed if p.seconds < p.offer.seconds):
            trusted = placed.spread < CROWDED
            placed.offer.in_place = placed.seconds if trusted else (placed.seconds + placed.offer.seconds) / 2
            self.profiler.database.record_in_place(self._key(placed), placed.offer.seconds)

    def _key(self, placed: Placed) -> str:
        """Where some variants are banned, of the variant that is left: another may have been timed before."""
        variant = f"-{placed.offer.variant}" if placed.offer.banned else ""
        return f"{self.context}-{self.profiler.offer_key(placed.entry.cone, placed.offer.backend.name)}{variant}"
