"""Kernels that are worth another measurement: they would be in a plan had they been measured in a better moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

from korch.ir.macs import multiply_adds
from korch.ir.primitive import Primitive
from korch.search.ledger import Ledger
from korch.search.offers import LedgerEntry, Offer
from korch.search.steering import FAR_OUT, SLOWED, WORTH


def promising(
    ledger: Ledger, chosen: Sequence[int], cost: float, near: Mapping[int, float]
) -> list[tuple[LedgerEntry, Offer]]:
    """The offers that a plan as cheap as the `chosen` one, which costs `cost`, could hold if they took as much less as
    may be; the most promising first. `near`: what candidates lack to be in a plan, as far as solutions say."""
    extra = dict(near) | dict.fromkeys(chosen, 0.0)
    spent = shares(ledger, chosen)
    least = WORTH * cost
    found: dict[int, tuple[float, LedgerEntry, Offer]] = {}
    for i, cone in enumerate(ledger.cones):
        entry = ledger.entry(i)
        worth = max(entry.best.seconds - extra.get(i, inf), sum(spent.get(p, 0.0) for p in cone.primitives))
        for o in entry.offers:
            slack = worth - _least(o)
            timed_once = o.measured and o.in_place is None and least < o.seconds < inf
            if timed_once and slack > max(0.0, found.get(id(o), (0.0,))[0]):
                found[id(o)] = slack, entry, o
    ranked = sorted(found.values(), key=lambda one: -one[0])
    return [(e, o) for _, e, o in ranked]


def shares(ledger: Ledger, chosen: Sequence[int]) -> dict[Primitive, float]:
    """Seconds that the plan spends on each primitive, by its work in the kernels that compute it. Solutions do not
    contain kernels that cost more than their parts, such as one that was measured in a bad moment."""
    found: dict[Primitive, float] = {}
    for i in chosen:
        cone, seconds = ledger.cones[i], ledger.entry(i).best.seconds
        work = {p: max(multiply_adds(p), p.output.size) for p in cone.primitives}
        for p, own in work.items():
            found[p] = found.get(p, 0.0) + seconds * own / max(sum(work.values()), 1)
    return found


def _least(o: Offer) -> float:
    """Seconds that the offer may take on a quiet machine."""
    quick = max((1 - FAR_OUT) * o.seconds, o.extrapolated)
    return max(min((1 - SLOWED) * o.seconds, o.roofline * o.kind.usual * o.kind.slowdown, quick), o.lower)
