"""Offers of backends for the cones of one signature, with the estimates of their costs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from math import inf

from korch.backends.contract import Backend, Kernel, Variant
from korch.ir.cone import Cone
from korch.profile.physics import Physics, Work
from korch.profile.results import Best, Measurement, Result
from korch.search.estimate import Estimate, Evidence
from korch.search.forms import Forms, alike
from korch.search.kinds import Kind
from korch.search.steering import OUTLYING, SPREAD

KernelName = tuple[str, Variant]
"""A backend and one of its variants; or no backend and a bare precision, for all that multiply in it."""


@dataclass
class Offer:
    """One backend's offer for all cones of one signature: its best variant, once measured.

    `beside`: what computing takes besides moving, or the other way round, if the two are not done at a time.
    `work` by the rates of `physics` takes the least time possible. `alone` is the kernel's time by itself, with its
    `spread`; `in_place` its time inside the linked program, which then counts; `before` an outlying time there.
    `banned` variants are no longer offered, nor `forms` that have never come near. `known`: the fastest of each
    precision that was measured. `sketched`: the variant that a plan for other extents has here; it alone, or what has
    its form, is measured. `slowness`: the multiple of what physics allow that it took there. `built`: the best that was
    measured and kernels of plans so far, by cone, threads and variant; a chain takes a quarter of a second.
    """

    backend: Backend
    roofline: float
    kind: Kind
    beside: float = 0.0
    work: Work = field(default_factory=Work)
    physics: Physics = field(default_factory=Physics)
    variant: Variant = field(default_factory=Variant)
    alone: float | None = None
    spread: float = 0.0
    error: float = 0.0
    in_place: float | None = None
    before: float | None = None
    banned: frozenset[Variant] = frozenset()
    known: tuple[Best, ...] = ()
    sketched: Variant | None = None
    slowness: float = 0.0
    built: dict[tuple[Cone, int, Variant], Kernel] = field(
        default_factory=dict[tuple[Cone, int, Variant], Kernel], repr=False, compare=False
    )
    forms: Forms = field(default_factory=Forms, repr=False, compare=False)

    @property
    def measured(self) -> bool:
        return self.alone is not None

    @property
    def lower(self) -> float:
        """Seconds that physics allow; 0 for what may be an alias."""
        return self.physics.seconds(self.work) if self.roofline and self.alone != 0 else 0.0

    @property
    def extrapolated(self) -> float:
        """Seconds that a kernel takes that comes as near to its roofline as the best of its kind: no bound for one that
        is better than all of these."""
        return max(self.roofline * self.kind.factor, self.lower)

    @property
    def estimate(self) -> Estimate:
        """All that is known of its cost in a program."""
        if self.in_place is not None:
            return Estimate(self.lower, self.in_place, 0.0, Evidence.IN_PROGRAM)
        if self.alone is None:
            return Estimate(self.lower, max(self._usual, self.lower), SPREAD, Evidence.NONE)
        return Estimate(self.lower, self.alone * self.kind.slowdown, max(SPREAD, self.spread), Evidence.ALONE)

    @property
    def seconds(self) -> float:
        """The measured cost; infinite without one."""
        return self.estimate.seconds

    @property
    def _usual(self) -> float:
        """Seconds that a good kernel of its kind takes in a program. While nobody has timed any, one that computes and
        moves in turn: by their rooflines all ways to cut a chain of products cost the same. (30 seconds for
        `efficientvit` on Zen 5: 0.77 and 0.80 of the full search's speed, 0.93 and 0.95 so.)"""
        if self.slowness:
            return self.lower * self.slowness
        alone = self.roofline + (0.0 if self.kind.known else self.beside)
        return alone * self.kind.usual * self.kind.slowdown

    def place(self, seconds: float, telling: bool = True) -> None:
        """Enters what the kernel took in place; of two times the least. `telling`: whether its kind may expect that."""
        assert self.alone is not None
        self.in_place = min(seconds, self.before or inf)
        if telling:
            self.kind.place(self.alone, self.in_place)

    def is_outlier(self, worth: float) -> bool:
        """Whether it took much longer in place than alone, by `worth` seconds and more, and nobody has looked again."""
        if self.before or self.in_place is None or self.alone is None:
            return False
        usual = self.alone * self.kind.slowdown
        return self.in_place > max(OUTLYING * usual, usual + worth)

    def retry(self) -> None:
        """Forgets what it took in place, until it is timed there again."""
        self.before, self.in_place = self.in_place, None

    @property
    def best(self) -> Best:
        """The measurement."""
        assert self.alone is not None
        return Best(self.variant, self.alone, self.error, self.spread)

    def learn(self, kernels: Sequence[Kernel], results: Sequence[Result], threads: int) -> None:
        """Enters what measuring the kernels, built for so many threads, gave."""
        self.forms.learn(kernels, results)
        self.known = worthy(kernels, results)
        self.settle(self.known[0] if self.known else Best(Variant(), inf))
        if self.alone != inf:
            best = next(k for k in kernels if k.variant == self.variant)
            self.built[best.cone, threads, best.variant] = best

    def settle(self, best: Best) -> None:
        """Enters the measurement of the best."""
        self.variant, self.alone, self.error, self.spread = best.variant, best.seconds, best.error, best.spread
        self.kind.learn(best.seconds, self.roofline)

    def remeasured(self, seconds: float) -> None:
        """Enters another measurement of the kernel alone, where it is below the known one."""
        assert self.alone is not None
        if seconds < self.alone:
            self.kind.learn(seconds, self.roofline, self.alone)
            self.alone = seconds

    def ban(self, variants: Collection[Variant]) -> None:
        """The offer without `variants`: to be measured again where the best is among them."""
        self.banned |= frozenset(variants)
        self.known = tuple(b for b in self.known if not self._is_banned(b.variant))
        if self._is_banned(self.variant):
            self.alone = self.in_place = self.before = None

    def kernels(self, cone: Cone, threads: int) -> list[Kernel]:
        """The kernels that are worth measuring."""
        return self.worthwhile(self.backend.build(cone, threads))

    def worthwhile(self, built: Sequence[Kernel]) -> list[Kernel]:
        """The same of all that the backend has built for a cone."""
        allowed = [k for k in built if not self._is_banned(k.variant)]
        return alike(allowed, self.sketched) or self.forms.worthwhile(allowed)

    def _is_banned(self, variant: Variant) -> bool:
        rounded = bool(variant.precision) and Variant(precision=variant.precision) in self.banned
        return rounded or variant in self.banned

    def kernel(self, cone: Cone, threads: int, variant: Variant | None = None) -> Kernel:
        """The kernel for `cone` of the best variant, or of another that is known."""
        variant = variant or self.variant
        key = cone, threads, variant
        if key not in self.built:
            known = next((k for (_, *same), k in self.built.items() if same == [threads, variant]), None)
            built = (k for k in self.backend.build(cone, threads) if k.variant == variant)
            self.built[key] = known.placed(cone) if known and known.code else next(built)
        return self.built[key]


@dataclass
class LedgerEntry:
    """The offers for one signature; `cone` stands for all cones that have it. `price`: seconds that the memory of its
    constants is worth at first."""

    cone: Cone
    offers: list[Offer]
    price: float = 0.0

    @property
    def best(self) -> Offer:
        """The cheapest that is measured, as only that can be in a plan; while none is, the one of least bound."""
        return min(self.offers, key=lambda o: (o.seconds, o.extrapolated, o.backend.name))

    @property
    def seconds(self) -> float:
        """The measured cost; infinite without one."""
        return min(o.seconds for o in self.offers)

    def at(self, cost: Callable[[Offer], float]) -> float:
        """Seconds of the entry where its offers cost so much."""
        return min(map(cost, self.offers))

    def open(self, cost: Callable[[Offer], float]) -> list[Offer]:
        """Offers that must be measured before that is known: those that might be cheaper than what is measured."""
        known = self.seconds
        return [o for o in self.offers if not o.measured and max(cost(o), o.extrapolated) <= known]

    def ban(self, kernels: Collection[KernelName], threads: int) -> None:
        """The entry without `kernels`; an offer that has no other costs infinitely much."""
        for o in self.offers:
            if own := [variant for backend, variant in kernels if backend in ("", o.backend.name)]:
                o.ban(own)
                if not o.kernels(self.cone, threads):
                    o.settle(Best(Variant(), inf))

    def add(self, offers: Iterable[Offer]) -> None:
        """The entry with the `offers` of other backends."""
        known = {o.backend.name for o in self.offers}
        self.offers += [o for o in offers if o.backend.name not in known]


def worthy(kernels: Sequence[Kernel], results: Sequence[Result]) -> tuple[Best, ...]:
    """The right variants, the fastest first, one for each precision."""
    measured = [
        Best(k.variant, r.seconds, r.error, r.spread)
        for k, r in zip(kernels, results, strict=True)
        if isinstance(r, Measurement)
    ]
    kept = dict[str, Best]()
    for best in sorted(measured, key=lambda b: (b.seconds, str(b.variant))):
        kept.setdefault(best.variant.precision, best)
    return tuple(kept.values())
