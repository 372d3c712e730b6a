"""The price of memory: so high that a plan holds not much more constants than its model has."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

from korch.search.steering import FULL_ENOUGH, PRICE_PRECISION, PRICE_SPREAD, PRICE_STEP, PRICES_TRIED


@dataclass
class Price:
    """The price of memory: `factor` times as much as at first. `low`, `high`: the highest price known to be too low,
    if any, and the least that was enough."""

    factor: float = 1.0
    low: float = 0.0
    high: float = inf
    tries: int = PRICES_TRIED

    def of(self, first: float, place: float) -> float:
        """The present cost of something that has cost `first`; `place`, in [0, 1), is its place among equal kernels."""
        return first * (1 + (self.factor - 1) * (1 + PRICE_SPREAD * place))

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
        if not over and (held >= FULL_ENOUGH or before == 1):
            return False
        if self.high <= PRICE_PRECISION * self.low or not self.tries:
            self.factor = self.high if self.high < inf else before
        else:
            self.tries -= 1
            self.factor = self._next()
        return self.factor != before

    def _next(self) -> float:
        if self.high == inf:
            return self.factor * PRICE_STEP
        return sqrt(self.low * self.high) if self.low else max(1.0, self.factor / PRICE_STEP)
