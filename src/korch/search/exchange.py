"""Other variants of single kernels, for a plan that errs too much because kernels round the factors of products.

Such a plan is the cheapest without regard to its error, so what it costs bounds every plan that keeps to the numerics.
Of many equal layers some may round and some not; the fewest seconds are spent where each of them saves most of the sum
of squared errors, as roundings of different kernels know nothing of each other. How much of a kernel's own error
reaches the outputs is its `weight`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

from korch.backends.contract import Variant
from korch.executable.plan import Plan, Step
from korch.search.ledger import Ledger
from korch.search.offers import LedgerEntry, Offer
from korch.search.tuning import Tuned

NARROW = "fp16"
"""The precision whose largest number is 65504: with it outputs may become infinite."""


@dataclass(frozen=True)
class Way:
    """A variant of an offer: what it takes alone, in seconds, and the square of what it errs."""

    offer: Offer
    variant: Variant
    seconds: float
    square: float


@dataclass(frozen=True)
class Exchange:
    """The kernels of `plan`, which `tuned` chose of `ledger`, and what may stand in their places. `weights`: of each
    kernel's squared error, all alike where they are left out."""

    plan: Plan
    ledger: Ledger
    tuned: Tuned
    weights: Sequence[float] = ()

    @property
    def total(self) -> float:
        """The weighted sum of the squared errors of the plan's kernels."""
        return self._total(self._own)

    @property
    def rounding(self) -> list[int]:
        """The places of kernels that others would make more exact."""
        return [k for k, own in enumerate(self._own) if any(w.square < own.square for w in self._known[k])]

    def squares(self, places: Collection[int]) -> float:
        """The sum of the squared errors of the kernels at `places`, without weights."""
        return sum(self._own[k].square for k in places)

    def within(self, most: float) -> Plan | None:
        """The plan with ways whose squared errors sum to `most` at most: one after another of those that cost least for
        what they save, and in the end none that is not needed. None where none do."""
        ways = list(self._own)
        while (left := self._total(ways)) > most:
            moves = [
                ((new.seconds - old.seconds) / (self._weight(k) * (old.square - new.square)), k, new)
                for k, old in enumerate(ways)
                for new in self._known[k]
                if new.square < old.square
            ]
            if not moves or not left:
                return None
            _, k, new = min(moves, key=lambda move: move[:2])
            ways[k] = new
        for k in sorted(range(len(ways)), key=lambda k: self._own[k].seconds - ways[k].seconds):
            if self._total(ways) + self._weight(k) * (self._own[k].square - ways[k].square) <= most:
                ways[k] = self._own[k]
        return self._with(ways)

    def exact_but(self, places: Collection[int]) -> Plan:
        """The plan with the most exact ways everywhere but at `places`."""
        exact = [min((own, *known), key=lambda w: w.square) for own, known in zip(self._own, self._known, strict=True)]
        return self._with([own if k in places else exact[k] for k, own in enumerate(self._own)])

    def widened(self) -> Plan | None:
        """The plan without products in FP16; None where it has none, or nothing else computes them."""
        wide = [[w for w in known if w.variant.precision != NARROW] for known in self._known]
        narrow = [own.variant.precision == NARROW for own in self._own]
        if not any(narrow) or any(n and not ways for n, ways in zip(narrow, wide, strict=True)):
            return None
        return self._with(
            [
                min(ways, key=lambda w: w.seconds) if n else own
                for own, n, ways in zip(self._own, narrow, wide, strict=True)
            ]
        )

    @cached_property
    def _own(self) -> list[Way]:
        return [_way(s, self.ledger.entry(i)) for s, i in zip(self.plan.steps, self.tuned.chosen, strict=True)]

    @cached_property
    def _known(self) -> list[list[Way]]:
        return [
            [Way(o, b.variant, b.seconds, b.error**2) for o in self.ledger.entry(i).offers for b in o.known]
            for i in self.tuned.chosen
        ]

    def _weight(self, k: int) -> float:
        return self.weights[k] if self.weights else 1.0

    def _total(self, ways: Sequence[Way]) -> float:
        return sum(self._weight(k) * w.square for k, w in enumerate(ways))

    def _with(self, ways: Sequence[Way]) -> Plan:
        steps = tuple(
            s if new is old else _step(s, new, self.plan.threads)
            for s, old, new in zip(self.plan.steps, self._own, ways, strict=True)
        )
        seconds = sum(s.cost for s in steps)
        cost = seconds + self._held
        gap, physical = (max(0.0, 1 - b / cost) if cost > 0 else 0.0 for b in (self.tuned.bound, self.tuned.physical))
        return replace(self.plan, steps=steps, predicted_seconds=seconds, gap=gap, gap_physical=physical)

    @property
    def _held(self) -> float:
        """Seconds that the memory of what was chosen is worth: other variants hold as much."""
        return self.tuned.cost - sum(self.ledger.entry(i).best.seconds for i in self.tuned.chosen)


def exchanges(before: Plan, after: Plan) -> list[str]:
    """The kernels of the plan before that the plan after does without."""
    pairs = zip(before.steps, after.steps, strict=True)
    return [
        f"{s.writes.name} by {s.kernel.variant.precision or s.kernel.variant}"
        for s, t in pairs
        if (s.kernel.backend, s.kernel.variant) != (t.kernel.backend, t.kernel.variant)
    ]


def _way(step: Step, entry: LedgerEntry) -> Way:
    """The way that the step takes."""
    kernel = step.kernel
    known = (
        Way(o, b.variant, b.seconds, b.error**2)
        for o in entry.offers
        for b in o.known
        if (o.backend.name, b.variant) == (kernel.backend, kernel.variant)
    )
    best = entry.best
    return next(known, Way(best, best.variant, best.alone or inf, best.error**2))


def _step(step: Step, way: Way, threads: int) -> Step:
    """The step with another kernel for the same cone."""
    kernel = way.offer.kernel(step.kernel.cone, threads, way.variant)
    return replace(step, kernel=kernel, cost=way.seconds, lower=way.offer.lower)
