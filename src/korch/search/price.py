"""The price of memory: so high that a plan holds not much more constants than its model has."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

DEARER, NEAR, TRIES = 2.0, 1.2, 8
"""By how much memory becomes dearer while plans hold too much, how near the price is to be to the least that will do,
and how many prices a search tries. (`yolov4`, whose plans hold 835 MB of the 643 they may at the first price, 686 at
four times that and 433 at eight times: those take 10% longer.)"""
FULL = 0.85
"""The share of what plans may hold from which on nobody looks for a lower price."""
SPREAD = 0.5
"""How much dearer the last of equal kernels pays for being dear, so that they do not all go at one price."""


@dataclass
class Price:
    """The price of memory: `factor` times as much as at first. `low`, `high`: the highest price known to be too low,
    if any, and the least that was enough."""

    factor: float = 1.0
    low: float = 0.0
    high: float = inf
    tries: int = TRIES

    def of(self, first: float, place: float) -> float:
        """The present cost of something that has cost `first`; `place`, in [0, 1), is its place among equal kernels."""
        return first * (1 + (self.factor - 1) * (1 + SPREAD * place))

    def reopen(self) -> None:
        """Forgets other prices: kernels cost something else by now."""
        self.low, self.high = 0.0, inf

    def moved(self, held: float) -> bool:
        """Whether memory has another price now, as the cheapest plan at this one holds so much of what it may: dearer
        until that is enough, or cheaper until it is not, then between what was too little and what was enough."""
        over, before = held > 1, self.factor
        if over:
            self.low, self.high = before, self.high if self.high > before else inf
        else:
            self.high = before
        if not over and (held >= FULL or before == 1):
            return False
        if self.high <= NEAR * self.low or not self.tries:
            self.factor = self.high if self.high < inf else before
        else:
            self.tries -= 1
            self.factor = self._next()
        return self.factor != before

    def _next(self) -> float:
        if self.high == inf:
            return self.factor * DEARER
        return sqrt(self.low * self.high) if self.low else max(1.0, self.factor / DEARER)
