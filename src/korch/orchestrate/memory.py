"""The ledger's memory: what the database knows of offers, alone and in place."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from korch.ir.graph import Graph
from korch.orchestrate.ledger import Entry, Ledger, Offer
from korch.profile.profiler import Profiler
from korch.profile.results import Best


@dataclass(frozen=True)
class Memory:
    """Reads and writes one ledger's offers. In-place costs belong to one model: `context` is its digest."""

    profiler: Profiler
    context: str

    @staticmethod
    def of(graph: Graph, profiler: Profiler) -> Memory:
        return Memory(profiler, hashlib.sha256(str(graph).encode()).hexdigest()[:24])

    def recall(self, ledger: Ledger) -> None:
        """Enters everything that is known; two queries for the whole ledger."""
        offers = [(e, o) for e in ledger.distinct for o in e.offers]
        keys = [self._key(e, o) for e, o in offers]
        alone = self.profiler.database.offers(keys)
        placed = self.profiler.database.in_place([self._placed(k) for k in keys])
        for (_, offer), key in zip(offers, keys, strict=True):
            if key in alone:
                offer.settle(alone[key])
                offer.in_place = placed.get(self._placed(key))

    def settle(self, entry: Entry, offer: Offer, best: Best) -> None:
        """Enters a measurement and keeps it."""
        offer.settle(best)
        self.profiler.database.record_offer(self._key(entry, offer), best)

    def place(self, timed: Iterable[tuple[Entry, float]]) -> None:
        """Enters and keeps what kernels took in place; the first time counts, or noise would never settle."""
        for entry, seconds in timed:
            offer = entry.best
            if offer.in_place is None:
                offer.in_place = seconds
                self.profiler.database.record_in_place(self._placed(self._key(entry, offer)), seconds)

    def _key(self, entry: Entry, offer: Offer) -> str:
        return self.profiler.offer_key(entry.cone, offer.backend.name)

    def _placed(self, key: str) -> str:
        return f"{self.context}-{key}"
