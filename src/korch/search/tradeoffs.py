"""Latency against error: one search, and the cheapest plans within smaller and smaller errors.

The first plan is that of the search, within the error that the numerics allow. Each further one may have half of the
error that the last one is estimated to have (the epsilon-constraint method), until one has no loose primitive. Plans
that another one beats in both are left out: costs are the better known the later a plan is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from korch.errors import Error
from korch.executable import Executable
from korch.search.error_limit import estimated_error
from korch.search.ledger import Ledger
from korch.search.model import Search, Tried
from korch.search.phases import TRADE_OFF
from korch.search.steering import FINISH, TRADE_OFF_SHARE, TRADE_OFF_STEP, TRADE_OFFS
from korch.system.deadline import Deadline


@dataclass(frozen=True)
class TradeOff:
    """A plan: the error that it was allowed, estimated to have and found to have, of the largest magnitude of the worst
    output; its predicted time, and that in its linked program, which is None where programs cannot be timed."""

    allowed: float
    estimated_error: float
    error: float
    predicted_ms: float
    measured_ms: float | None
    kernels: int
    loose: int


def trade_offs(search: Search, end: Deadline) -> tuple[Executable, tuple[TradeOff, ...]]:
    """The trade-offs that the `search`, which has its own deadline, finds by `end`, the fastest first, and the program
    of that one. Error where no primitive of the model is loose."""
    with search.opened(estimates=True) as (ledger, resources):
        if ledger.limit is None:
            raise Error("the model has no primitive whose rounding can be traded for time (see docs/errors.md)")
        executable, now, ledger = search.accurate(ledger, resources)
        limit = ledger.limit
        assert limit, "limits are corrected, never left out"
        found = [(now, limit.allowed)]
        last, search.end = Deadline(end.at - FINISH), end
        while (error := estimated_error(now.plan)) and len(found) < TRADE_OFFS and not last.passed:
            resources.deadline = last.share(TRADE_OFF_SHARE)
            allowed = TRADE_OFF_STEP * error
            within = replace(ledger, limit=limit.at(allowed))
            program, now = search.attempt(now.plan.graph, within, resources, (), (TRADE_OFF,))
            program.close()
            found.append((now, allowed))
        points = {_trade_off(ledger, *x, search.target.timed): x[0].plan for x in found}
        kept = undominated(list(points))
        if (best := points[kept[0]]) is not found[0][0].plan:
            executable.close()
            executable = search.target.link(best, search.costs)
        return executable, kept


def undominated(found: Sequence[TradeOff]) -> tuple[TradeOff, ...]:
    """Those of `found` than which no other is both as exact, by estimate, and as fast, by prediction; the fastest
    first."""
    ranked = sorted(found, key=lambda x: (x.estimated_error, x.predicted_ms))
    kept: list[TradeOff] = []
    for x in ranked:
        if not kept or x.predicted_ms < kept[-1].predicted_ms:
            kept.append(x)
    return tuple(reversed(kept))


def _trade_off(ledger: Ledger, tried: Tried, allowed: float, timed: bool) -> TradeOff:
    """At the costs that are known in the end."""
    entries = [ledger.entry(i) for i in tried.tuned.chosen]
    return TradeOff(
        allowed=allowed,
        estimated_error=estimated_error(tried.plan),
        error=tried.verdict.error,
        predicted_ms=1e3 * sum(e.seconds for e in entries),
        measured_ms=1e3 * tried.plan.predicted_seconds if timed else None,
        kernels=len(entries),
        loose=sum(s.error > 0 for s in tried.plan.steps),
    )
