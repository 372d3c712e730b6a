"""Does without libraries that gain next to nothing: each takes memory, and time to start, that no kernel's cost shows.

oneDNN takes 17 MB in a program that needs 38 for all else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, isfinite

from korch.search.ledger import Ledger
from korch.search.offers import LedgerEntry, Offer
from korch.search.steering import MIN_LIBRARY_GAIN
from korch.search.tuning import Tuned


def without_spare_libraries(ledger: Ledger, tuned: Tuned, threads: int) -> Tuned:
    """The plan with the next best measured kernels in place of a library's, where that gains less than
    `MIN_LIBRARY_GAIN`; the gap includes this loss."""
    entries = [ledger.entry(i) for i in tuned.chosen]
    for library in sorted({n for e in entries for n in _libraries(e, e.best, threads)}):
        held = {id(e): _needing(e, library, threads) for e in entries}
        if sum(_instead(e, held[id(e)]) - e.best.seconds for e in entries) < MIN_LIBRARY_GAIN * tuned.cost:
            for e in entries:
                e.ban([(o.backend.name, o.variant) for o in held[id(e)]], threads)
    cost = sum(ledger.entry(i).best.seconds + ledger.price(i) for i in tuned.chosen)
    gap = (cost - tuned.bound) / cost if tuned.bound and cost > tuned.cost else tuned.gap
    return replace(tuned, cost=cost, gap=gap)


def _needing(entry: LedgerEntry, library: str, threads: int) -> Sequence[Offer]:
    """The measured offers whose kernels are linked with the library."""
    return [o for o in entry.offers if library in _libraries(entry, o, threads)]


def _libraries(entry: LedgerEntry, offer: Offer, threads: int) -> tuple[str, ...]:
    return offer.kernel(entry.cone, threads).libraries if isfinite(offer.seconds) else ()


def _instead(entry: LedgerEntry, needing: Sequence[Offer]) -> float:
    """Seconds of the best other offer."""
    return min((o.seconds for o in entry.offers if o not in needing), default=inf)
