"""The price of memory: so high that a plan holds not much more constants than its model has."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

DEARER, NEAR, TRIES = 2.0, 1.2, 8
"""By how much memory becomes dearer while plans hold too much, how near the price is to be to the least that will do,
and how many prices a search tries. (`yolov4`, whose plans hold 835 MB of the 643 they may at the first price, 686 at
four times that and 433 at eight times: those take 10% longer.)"""
SPREAD = 0.5
"""How much dearer the last of equal kernels pays for being dear, so that they do not all go at one price."""


@dataclass
class Price:
    """What memory costs now: `factor` times as much as at first. `low`, `high`: the highest price that is known to be
    too low, and the least that was enough."""

    factor: float = 1.0
    low: float = 1.0
    high: float = inf
    tries: int = TRIES

    def of(self, first: float, place: float) -> float:
        """What something costs that has cost `first`; `place`, in [0, 1), is its place among equal kernels."""
        return first * (1 + (self.factor - 1) * (1 + SPREAD * place))

    def reopen(self) -> None:
        """The price for another search, which may find it too high by now."""
        self.low, self.high, self.tries = max(1.0, self.factor / DEARER), inf, TRIES

    def moved(self, over: bool) -> bool:
        """Whether memory has another price now, as the cheapest plan at this one holds too much (`over`), or less than
        it may: dearer until one is enough, then between what was too little and that."""
        if over:
            self.low, self.high = self.factor, self.high if self.high > self.factor else inf
        else:
            self.high = self.factor
        near = self.high <= NEAR * self.low
        if not over and (near or not self.tries):
            return False
        if over and (near or not self.tries):
            self.factor, moved = (self.high, True) if self.high < inf else (self.factor, False)
            return moved
        self.tries -= 1
        self.factor = sqrt(self.low * self.high) if self.high < inf else self.factor * DEARER
        return True
