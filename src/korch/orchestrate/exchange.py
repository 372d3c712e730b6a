"""More exact variants of single kernels, for a plan that errs too much because kernels round the factors of products.

Such a plan is the cheapest without regard to its error, so what it costs bounds every plan that keeps to the numerics.
Of many equal layers some may round and some not; the fewest seconds are spent where each of them saves most of the sum
of squared errors, as roundings of different kernels know nothing of each other. (Of `candy`'s convolutions half must
be exact: with a price on errors all equal ones changed at once, and the plan took 0.58 ms instead of 0.33.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from korch.backends.precision import precision_of
from korch.executable.plan import Plan, Step
from korch.orchestrate.ledger import Ledger
from korch.orchestrate.offers import Entry, Offer
from korch.orchestrate.tuning import Tuned

FITS = 0.9
"""Of what is allowed: what a plan with more exact kernels is made to err, as errors do not add up exactly."""


@dataclass(frozen=True)
class Way:
    """A variant of an offer: what it takes alone, in seconds, and the square of what it errs."""

    offer: Offer
    variant: str
    seconds: float
    square: float


def squares(ledger: Ledger, chosen: Sequence[int]) -> float:
    """The sum of the squared errors of the kernels `chosen`."""
    return sum(ledger.entry(i).best.error ** 2 for i in chosen)


def exchanged(plan: Plan, ledger: Ledger, tuned: Tuned, most: float) -> Plan | None:
    """The `plan` of what was chosen with variants whose squared errors sum to `most` at most; None where none do."""
    chosen = [ledger.entry(i) for i in tuned.chosen]
    ways = _cheapest([_way(e) for e in chosen], [_ways(e) for e in chosen], most)
    if ways is None:
        return None
    steps = tuple(s if w == _way(e) else _step(s, w, plan.threads)
                  for s, w, e in zip(plan.steps, ways, chosen, strict=True))  # fmt: skip
    seconds = sum(s.cost for s in steps)
    return replace(plan, steps=steps, predicted_seconds=seconds, gap=max(0.0, 1 - tuned.bound / seconds))


def told_of(before: Plan, after: Plan) -> list[str]:
    """What the plan after does without, of the plan before."""
    pairs = zip(before.steps, after.steps, strict=True)
    return [f"{s.writes.name} by {precision_of(s.kernel.variant) or s.kernel.variant}" for s, t in pairs
            if (s.kernel.backend, s.kernel.variant) != (t.kernel.backend, t.kernel.variant)]  # fmt: skip


def _way(entry: Entry) -> Way:
    """The entry's best."""
    best = entry.best
    return Way(best, best.variant, best.best.seconds, best.error**2)


def _ways(entry: Entry) -> list[Way]:
    return [Way(o, b.variant, b.seconds, b.error**2) for o in entry.offers for b in o.known]


def _cheapest(own: Sequence[Way], others: Sequence[Sequence[Way]], most: float) -> list[Way] | None:
    """For each place a way, so that the squares sum to `most` at most: one after another of those that cost least for
    what they save, and in the end none that is not needed."""
    ways = list(own)
    while sum(w.square for w in ways) > most:
        moves = [((new.seconds - old.seconds) / (old.square - new.square), k, new) for k, old in enumerate(ways)
                 for new in others[k] if new.square < old.square]  # fmt: skip
        if not moves:
            return None
        _, k, new = min(moves, key=lambda move: move[:2])
        ways[k] = new
    for k in sorted(range(len(ways)), key=lambda k: own[k].seconds - ways[k].seconds):
        if sum(w.square for w in ways) - ways[k].square + own[k].square <= most:
            ways[k] = own[k]
    return ways


def _step(step: Step, way: Way, threads: int) -> Step:
    """The step with another kernel for the same cone."""
    return replace(step, kernel=way.offer.kernel(step.kernel.cone, threads, way.variant), cost=way.seconds)
