"""The ledger's memory: what the database knows of offers, alone and in place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from korch.ir.cone import Cone
from korch.ir.graph import Graph
from korch.orchestrate.ledger import Entry, Ledger, Offer
from korch.profile.profiler import Profiler


@dataclass(frozen=True)
class Memory:
    """Reads and writes one ledger's offers. In-place costs belong to one model: `context` is its digest."""

    profiler: Profiler
    context: str

    @staticmethod
    def of(graph: Graph, ledger: Ledger, profiler: Profiler) -> Memory:
        """The memory of `graph` with the candidates and backends as they are today: plans count candidates."""
        keys = sorted(
            {
                profiler.offer_key(Cone.of(graph.primitives[:1]), o.backend.name)
                for e in ledger.distinct
                for o in e.offers
            }
        )
        digest = hashlib.sha256("\n".join([str(graph), *keys]).encode())
        for cone in ledger.cones:
            digest.update(cone.signature.encode())
        return Memory(profiler, digest.hexdigest()[:24])

    def recall(self, ledger: Ledger, budget: float) -> dict[str, Any] | None:
        """What a search with at least this time budget, or one that came to its end, has left; its costs are entered.

        After a search that was broken off there is nothing: it is gone through again as it went, so that it ends
        where it would have ended; only its measurements are not repeated.
        """
        text = self.profiler.database.plan(self._finished)
        left: dict[str, Any] = json.loads(text) if text else {}
        if not left or (left["budget"] < 0.9 * budget and left["gap"] > 0.0):
            return None
        offers = [(e, o) for e in ledger.distinct for o in e.offers]
        keys = [self._key(e, o) for e, o in offers]
        alone = self.profiler.database.offers([f"{self.context}-{k}" for k in keys])
        placed = self.profiler.database.in_place([self._placed(k) for k in keys])
        for (_, offer), key in zip(offers, keys, strict=True):
            best = alone.get(f"{self.context}-{key}")
            if best:
                offer.settle(best)
                offer.in_place = placed.get(self._placed(key))
        return left

    def finish(self, ledger: Ledger, left: Mapping[str, Any]) -> None:
        """Keeps what the search has settled and what it `left`, for the next time."""
        database = self.profiler.database
        settled = {f"{self.context}-{self._key(e, o)}": o.best for e in ledger.distinct for o in e.offers if o.measured}
        database.record_offers(settled)
        database.record_plan(self._finished, json.dumps(left))

    def place(self, timed: Iterable[tuple[Entry, float]]) -> None:
        """Enters and keeps what kernels took in place; the first time counts, or noise would never settle."""
        fresh = [(e.best, self._placed(self._key(e, e.best)), s) for e, s in timed if e.best.in_place is None]
        known = self.profiler.database.in_place([key for _, key, _ in fresh])
        for offer, key, seconds in fresh:
            offer.in_place = known.get(key, seconds)
            if key not in known:
                self.profiler.database.record_in_place(key, seconds)

    @property
    def _finished(self) -> str:
        return f"{self.context}-finished"

    def _key(self, entry: Entry, offer: Offer) -> str:
        return self.profiler.offer_key(entry.cone, offer.backend.name)

    def _placed(self, key: str) -> str:
        return f"{self.context}-{key}"
