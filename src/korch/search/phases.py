"""The search as a table, read from top to bottom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from korch.search import steering as by
from korch.search.offers import Offer

SolveWith = Callable[[Offer], float]
"""Seconds of an offer in a phase's problem."""


def bounds(o: Offer) -> float:
    """Measured, or extrapolated from the best of the kind. A plan of measured kernels is the cheapest then."""
    return o.estimate.expected if o.measured else o.extrapolated


def expected(o: Offer) -> float:
    """Measured, or what the better kernels of the kind take."""
    return o.estimate.expected


def optimistic(o: Offer) -> float:
    """Less than expected for what was timed alone only: it may be better in a program."""
    return o.estimate.optimistic if o.measured else o.estimate.expected


def pessimistic(o: Offer) -> float:
    """More than expected for what was timed alone only; without a measurement infinitely much. An outlying time
    in a program counts until the kernel is timed there again."""
    return o.before if o.before and o.in_place is None else o.estimate.pessimistic


def physical(o: Offer) -> float:
    """Measured, or what physics allow."""
    return o.estimate.physical


def measured(o: Offer) -> float:
    """Measured kernels only."""
    return o.seconds


class First(Enum):
    """The first action of a phase, before it solves."""

    NOTHING = "nothing"
    REMEASURE = "measure promising kernels again"
    RETRY_OUTLIERS = "forget times in place that are far above the kind's"


@dataclass(frozen=True)
class Phase:
    """One line of the search.

    `solve_with`: the costs of its problems. `gap`: how exact solutions are; 0 proves. `batch`: offers measured between
    two. `settle`: the share of the plan that may stay unmeasured. `placed`: plans timed in place at most. `first`, for
    `most` kernels. `needs`: seconds that must be left. `keeps`: seconds kept for later phases, or a quarter of what is
    left. `times`: how often the line is gone through at most.
    """

    name: str
    solve_with: SolveWith
    gap: float = by.ROUGH
    batch: int = by.SKETCHED
    settle: float = by.SETTLED
    placed: int = 0
    first: First = First.NOTHING
    most: int = by.REMEASURED
    needs: float = 0.0
    keeps: float = 0.0
    times: int = 1


SKETCH = Phase("sketch", expected)
EXPLORE = Phase("explore", bounds, batch=by.BATCH, settle=0.0, placed=4, keeps=by.LAST)
PROVE = Phase("prove", bounds, gap=0.0, batch=by.BATCH, settle=0.0, times=3)
PHASES = (
    SKETCH,
    Phase("place the sketch", expected, placed=4, needs=2 * by.LOOK),
    Phase("remeasure early", expected, first=First.REMEASURE, most=by.REMEASURED_EARLY, needs=by.LOOK),
    EXPLORE,
    Phase("retry outliers", optimistic, placed=3, first=First.RETRY_OUTLIERS, needs=by.LOOK),
    Phase("confirm", expected, placed=4, needs=by.LOOK),
    Phase("remeasure", expected, placed=4, first=First.REMEASURE, needs=by.LOOK, times=3),
    PROVE,
)
"""First a plan that is expected to be good, timed in place, and another look at the kernels that it left out: there may
be no time for that later, with half of the chains measured in a bad moment. Then bounds decide."""
TRANSFER = (Phase("transfer", expected, settle=by.TAKEN_OVER),)
"""The kernels of another binding's plan, at the costs that they had there for their size."""
RIVALS = Phase("rivals", expected, settle=0.0)
"""The offers of other backends for kernels that are slow at the new extents."""
TRADE_OFF = Phase("trade-off", expected, batch=by.BATCH, placed=1)
"""A plan within another error, from the kernels that are mostly measured."""
LINKS = Phase("links", expected, settle=by.ROUGHLY)
"""A plan without chains, to be timed in place."""
