"""What is known about the cost of every candidate: a lower bound until it is measured, then the measurement."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, isfinite, log2
from statistics import median

from korch.backends.contract import Backend, Declined, Kernel
from korch.backends.cuda.precision import precision_of
from korch.backends.program import named_for
from korch.ir.cone import Cone
from korch.ir.ops.elementwise import COSTLY
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive
from korch.machine import Machine
from korch.orchestrate.forms import Forms
from korch.orchestrate.price import Price
from korch.profile.results import Best, Measurement, Result

MOVING = frozenset({"Gather", "Concat", "Pad", "Interpolate"})
MANY = 3
"""So many of a trait and more count as the same."""
ENOUGH = 6
"""Measurements of a kind of kernel after which its best efficiency is trusted."""
MARGIN = 0.95
SEEN = 3
"""Kernels of a kind that must have been timed, alone or in place, before that tells what to expect of the others."""
UNLIKELY = 4.0
"""By how much convolutions of channels-first images miss their bounds more than others, on processors. `loops` takes
only those whose channels would not fill a vector."""
HELD = 0.5
"""A byte of constants that a program holds for a kernel is worth as much of the time that memory takes to read it: ways
to multiply that are faster by less are not worth what they hold (Winograd's F(4, 3) has four times the weights)."""
HOPE = 0.1
"""What a kernel may take less in a program than alone, of its time: its neighbours leave caches warm, and the moment in
which it was measured may have been a slow one."""
FEAR = 1.15
"""How many times as much it may take: of the kernels that have been timed alone the cheapest are those that happened to
be, and without time to see them in a program they are taken for no better than others. (5.8 ms alone, 7.1 in a program:
of `efficientvit`, when time was over.)"""
UNLIKE = 1.25
"""How many times as long as others of its kind, of what they take alone, a kernel may have taken in a program before
that is doubted. (A depthwise convolution with SiLU behind it took 129 us alone and 219 where it was timed in place, in
a slow moment; without it three kernels of 200 were in the plan.)"""
BETTER = 4
"""One in so many kernels of a kind is as good as is expected of those that nobody has timed."""


Named = tuple[str, str]
"""A backend and one of its variants; or no backend and a precision, for all that multiply in it."""


@dataclass
class Kind:
    """How near to the roofline the kernels of one kind have come: what calibrates the bounds of the rest.

    And by how much those that were timed in place took longer there than alone: what calibrates the costs of the
    rest, or the next plan would be made of kernels that only look cheaper because nobody has seen them in place.
    """

    prior: float = 1.0
    """By how much its kernels may be expected to miss their rooflines while nobody has timed any, nor any `alike`."""
    alike: Kind | None = None
    """The kind of all kernels of the same backend and as many linear primitives."""
    alone: list[float] = field(default_factory=list[float])
    placed: list[float] = field(default_factory=list[float])
    slowdown: float = 1.0
    """Of a kernel in a program against the kernel alone, as far as it is known; at least 1."""

    def learn(self, seconds: float, bound: float) -> None:
        if isfinite(seconds) and bound > 0:
            insort(self.alone, seconds / bound)
            if self.alike:
                self.alike.learn(seconds, bound)

    def place(self, alone: float, in_place: float) -> None:
        if alone > 0:
            self.placed.append(in_place / alone)
            self.slowdown = max(1.0, median(self.placed)) if len(self.placed) >= SEEN else 1.0

    @property
    def factor(self) -> float:
        """By how much every kernel of the kind misses its roofline at least, a margin allowed."""
        return max(1.0, MARGIN * self.alone[0]) if len(self.alone) >= ENOUGH else 1.0

    @property
    def usual(self) -> float:
        """By how much the better ones of the kind miss their rooflines, or of those alike while few are known."""
        if len(self.alone) >= SEEN:
            return max(1.0, self.alone[len(self.alone) // BETTER])
        return max(self.prior, self.alike.usual) if self.alike else self.prior


@dataclass
class Offer:
    """One backend's offer for all cones of one signature: its best variant, once measured.

    `alone` is the kernel's time by itself; `in_place` what it took inside the linked program, which then counts;
    `before` what it took there when that was doubted. `banned` variants are no longer offered, nor `forms` that have
    never come near. `built`: the best that was measured and kernels of plans so far, by cone, threads and variant; a
    chain takes a quarter of a second.
    """

    backend: Backend
    roofline: float
    kind: Kind
    variant: str = ""
    alone: float | None = None
    error: float = 0.0
    in_place: float | None = None
    before: float | None = None
    banned: frozenset[str] = frozenset()
    built: dict[tuple[Cone, int, str], Kernel] = field(default_factory=dict[tuple[Cone, int, str], Kernel],
                                                       repr=False, compare=False)  # fmt: skip
    forms: Forms = field(default_factory=Forms, repr=False, compare=False)

    @property
    def measured(self) -> bool:
        return self.alone is not None

    @property
    def bound(self) -> float:
        """A lower bound in seconds: the roofline as nearly as kernels of this kind reach it."""
        return self.roofline * self.kind.factor

    @property
    def seconds(self) -> float:
        """The measured cost; infinite without one."""
        if self.in_place is not None:
            return self.in_place
        return inf if self.alone is None else self.alone * self.kind.slowdown

    @property
    def cost(self) -> float:
        """Seconds: measured, or at least this much."""
        return self.seconds if self.measured else self.bound

    @property
    def guess(self) -> float:
        """Seconds: measured, or as many as a good kernel of its kind would take."""
        return self.seconds if self.measured else self.usual

    @property
    def hoped(self) -> float:
        """Seconds in a program, or what may be hoped for where nobody has seen the kernel in one."""
        return self.guess if self.in_place is not None or self.alone is None else (1 - HOPE) * self.alone

    @property
    def usual(self) -> float:
        """Seconds that a good kernel of its kind takes in a program."""
        return self.roofline * self.kind.usual * self.kind.slowdown

    @property
    def feared(self) -> float:
        """Seconds in a program, or what may be feared of a measured kernel that nobody has seen in one."""
        return self.seconds if self.in_place is not None else self.before or FEAR * self.seconds

    def place(self, seconds: float) -> None:
        """Enters what the kernel took in place; of two times the least."""
        assert self.alone is not None
        self.in_place = min(seconds, self.before or inf)
        self.kind.place(self.alone, self.in_place)

    def doubtful(self, worth: float) -> bool:
        """Whether it took much longer in place than alone, by `worth` seconds and more, and nobody has looked again."""
        if self.before or self.in_place is None or self.alone is None:
            return False
        usual = self.alone * self.kind.slowdown
        return self.in_place > max(UNLIKE * usual, usual + worth)

    def excuse(self) -> None:
        """Forgets what it took in place, until it is timed there again."""
        self.before, self.in_place = self.in_place, None

    @property
    def best(self) -> Best:
        """What was measured."""
        assert self.alone is not None
        return Best(self.variant, self.alone, self.error)

    def learn(self, kernels: Sequence[Kernel], results: Sequence[Result], threads: int) -> None:
        """Enters what measuring the kernels, built for so many threads, gave."""
        self.forms.learn(kernels, results)
        self.settle(best_of(kernels, results))
        if self.alone != inf:
            best = next(k for k in kernels if k.variant == self.variant)
            self.built[best.cone, threads, best.variant] = best

    def settle(self, best: Best) -> None:
        """Enters the measurement of the best."""
        self.variant, self.alone, self.error = best.variant, best.seconds, best.error
        self.kind.learn(best.seconds, self.roofline)

    def lower(self, seconds: float) -> None:
        """Enters another measurement of the kernel alone, where it is below the known one."""
        assert self.alone is not None
        self.alone = min(self.alone, seconds)

    def ban(self, variants: Collection[str]) -> None:
        """The offer without `variants`: to be measured again where the best is among them."""
        self.banned |= frozenset(variants)
        if self._is_banned(self.variant):
            self.alone = self.in_place = self.before = None

    def kernels(self, cone: Cone, threads: int) -> list[Kernel]:
        """What is worth measuring."""
        return self.worthwhile(self.backend.build(cone, threads))

    def worthwhile(self, built: Sequence[Kernel]) -> list[Kernel]:
        """The same of all that the backend has built for a cone."""
        return self.forms.worthwhile([k for k in built if not self._is_banned(k.variant)])

    def _is_banned(self, variant: str) -> bool:
        return variant in self.banned or (precision_of(variant) or None) in self.banned

    def kernel(self, cone: Cone, threads: int) -> Kernel:
        """The best variant's kernel for `cone`."""
        key = cone, threads, self.variant
        if key not in self.built:
            known = next((k for (_, *same), k in self.built.items() if same == [threads, self.variant]), None)
            built = (k for k in self.backend.build(cone, threads) if k.variant == self.variant)
            self.built[key] = named_for(known, cone) if known and known.source else next(built)
        return self.built[key]


@dataclass
class Entry:
    """The offers for one signature; `cone` stands for all cones that have it. `price`: seconds that the memory of its
    constants is worth at first."""

    cone: Cone
    offers: list[Offer]
    price: float = 0.0

    @property
    def best(self) -> Offer:
        """The cheapest that is measured, as only that can be in a plan; while none is, the one of least bound."""
        return min(self.offers, key=lambda o: (o.seconds, o.cost, o.backend.name))

    @property
    def cost(self) -> float:
        """What the entry costs at least."""
        return min(o.cost for o in self.offers)

    @property
    def guess(self) -> float:
        """What the entry will cost once it is measured, as far as its kinds tell."""
        return min(o.guess for o in self.offers)

    @property
    def hoped(self) -> float:
        """What the entry may cost in a program."""
        return min(o.hoped for o in self.offers)

    @property
    def feared(self) -> float:
        """What the entry may cost in a program, of what is measured."""
        return self.best.feared

    @property
    def open(self) -> list[Offer]:
        """Offers that must be measured before the entry's cost is known."""
        return [o for o in self.offers if not o.measured and o.bound <= self.best_measured]

    @property
    def promising(self) -> list[Offer]:
        """Those of them that are expected to cost less than what is measured."""
        return [o for o in self.open if o.guess <= self.best_measured]

    @property
    def best_measured(self) -> float:
        return min((o.seconds for o in self.offers if o.measured), default=inf)

    def ban(self, kernels: Collection[Named], threads: int) -> None:
        """The entry without `kernels`; an offer that has no other costs infinitely much."""
        for o in self.offers:
            if own := [variant for backend, variant in kernels if backend in ("", o.backend.name)]:
                o.ban(own)
                if not o.kernels(self.cone, threads):
                    o.settle(Best("", inf))

    def add(self, offers: Iterable[Offer]) -> None:
        """The entry with the `offers` of other backends."""
        known = {o.backend.name for o in self.offers}
        self.offers += [o for o in offers if o.backend.name not in known]


def _nobody(cone: Cone) -> list[Offer]:
    return []


@dataclass
class Ledger:
    """The costs of `cones` (those that some backend takes), by signature. `fallbacks`: who takes any one primitive;
    `pricing`: what memory costs now, for all parts of a ledger."""

    cones: tuple[Cone, ...]
    entries: tuple[Entry, ...]
    declined: dict[str, int] = field(default_factory=dict)
    fallbacks: Callable[[Cone], list[Offer]] = _nobody
    pricing: Price = field(default_factory=Price)

    def within(self, primitives: Collection[Primitive]) -> Ledger:
        """The cones that hold nothing but `primitives`, at the same costs."""
        return self.where(lambda cone: all(p in primitives for p in cone.primitives))

    def where(self, wanted: Callable[[Cone], bool]) -> Ledger:
        """The cones that are `wanted`, at the same costs."""
        kept = [(c, e) for c, e in zip(self.cones, self.entries, strict=True) if wanted(c)]
        return replace(self, cones=tuple(c for c, _ in kept), entries=tuple(e for _, e in kept))

    def ban(self, kernels: Collection[Named], held: Collection[Primitive], threads: int) -> None:
        """Rules out `kernels` for all cones that hold `held`, and for equal ones elsewhere.

        Single primitives are offered to the fallback backends then, so that a plan of single primitives stays.
        """
        holding = {id(e): e for c, e in zip(self.cones, self.entries, strict=True)
                   if all(p in c.primitives for p in held)}  # fmt: skip
        for entry in holding.values():
            entry.ban(kernels, threads)
            if len(entry.cone.primitives) == 1:
                entry.add(self.fallbacks(entry.cone))

    def price(self, i: int) -> float:
        """Seconds that the memory of the constants of `cones[i]` is worth now."""
        return self.pricing.of(self.entries[i].price, self._places[i])

    @cached_property
    def _places(self) -> list[float]:
        """Of each cone, its place among those of its entry, in [0, 1)."""
        equal, before = Counter(map(id, self.entries)), Counter[int]()
        places = list[float]()
        for key in map(id, self.entries):
            places.append(before[key] / equal[key])
            before[key] += 1
        return places

    def entry(self, i: int) -> Entry:
        """The entry of `cones[i]`."""
        return self.entries[i]

    @property
    def distinct(self) -> list[Entry]:
        return list({id(e): e for e in self.entries}.values())


def open_ledger(cones: Iterable[Cone], backends: Sequence[Backend], machine: Machine) -> Ledger:
    """Asks every backend about every distinct cone; cones that all decline are left out.

    Fallback backends (those that take any single primitive) are asked only where no other takes the cone.
    """
    known: dict[str, Entry | None] = {}
    kept: list[Cone] = []
    entries: list[Entry] = []
    office = _Office(tuple(backends), machine)
    for cone in cones:
        if cone.signature not in known:
            known[cone.signature] = office.entry(cone)
        entry = known[cone.signature]
        if entry:
            kept.append(cone)
            entries.append(entry)
    return Ledger(tuple(kept), tuple(entries), office.declined, office.fallbacks)


@dataclass
class _Office:
    """Collects the offers for one cone after another."""

    backends: tuple[Backend, ...]
    machine: Machine
    declined: dict[str, int] = field(default_factory=dict)
    kinds: dict[tuple[object, ...], Kind] = field(default_factory=dict)
    forms: dict[tuple[str, ...], Forms] = field(default_factory=dict)

    def entry(self, cone: Cone) -> Entry | None:
        offers = [self._offer(b, cone) for b in self.backends if not b.fallback and self._takes(b, cone)]
        offers = offers or self.fallbacks(cone)
        held = sum(t.nbytes for t in cone.leaves if t.const and t.value is None)
        return Entry(cone, offers, HELD * held / self.machine.bandwidths[-1][1]) if offers else None

    def fallbacks(self, cone: Cone) -> list[Offer]:
        return [self._offer(b, cone) for b in self.backends if b.fallback and self._takes(b, cone)]

    def _offer(self, backend: Backend, cone: Cone) -> Offer:
        roofline = backend.bound(cone, self.machine)
        alike = self.kinds.setdefault((backend.name, len(cone.linear)), Kind())
        kind = Kind(UNLIKELY if backend.name != "loops" and _is_unlikely(cone) else 1.0, alike)
        forms = self.forms.setdefault((backend.name, *sorted(map(_trait, cone.linear))), Forms())
        return Offer(backend, roofline, self.kinds.setdefault(_kind(backend, cone, roofline), kind), forms=forms)

    def _takes(self, backend: Backend, cone: Cone) -> bool:
        answer = backend.declines(cone)
        if isinstance(answer, Declined):
            self.declined[backend.name] = self.declined.get(backend.name, 0) + 1
            return False
        return True


def _kind(backend: Backend, cone: Cone, roofline: float) -> tuple[object, ...]:
    """Kernels that may be expected to miss their rooflines alike: same backend, sort of work and order of size."""
    size = round(log2(roofline) / 2) if roofline > 0 else None
    traits = Counter(trait for p in cone.primitives if (trait := _trait(p))) + Counter(exports=len(cone.exports))
    return backend.name, frozenset((t, min(n, MANY)) for t, n in traits.items()), size


def _is_unlikely(cone: Cone) -> bool:
    return any(p.op in ("Conv", "ConvTranspose") and not p.attr("channels_last") for p in cone.linear)


def _trait(p: Primitive) -> str:
    """What of a primitive shapes the loops or the call: coarse, so that a few measurements tell of many kernels."""
    if p.op in ("Conv", "ConvTranspose"):
        w = p.inputs[1]
        depthwise = p.attr("group") > 1 and w.shape[1] == 1
        return f"{p.op} {p.attr('channels_last')} {depthwise} {max(w.shape[2:], default=1) > 1} {w.shape[0] < 16}"
    if p.category is Category.ELEMENTWISE:
        return "heavy" if p.op in COSTLY else ""
    if p.op.startswith("Reduce"):
        return "along rows" if p.inputs[0].rank - 1 in p.attr("axes") else "across rows"
    if p.op == "Transpose":
        return "moves" if p.attr("perm")[-1] == p.output.rank - 1 else "turns"
    return "moves" if p.op in MOVING else "" if p.op in ("Reshape", "Slice", "Expand") else p.op


def best_of(kernels: Sequence[Kernel], results: Sequence[Result]) -> Best:
    """The fastest right variant; infinitely slow where none works."""
    measured = [(r.seconds, k.variant, r.error) for k, r in zip(kernels, results, strict=True)
                if isinstance(r, Measurement)]  # fmt: skip
    if not measured:
        return Best("", inf)
    seconds, variant, error = min(measured)
    return Best(variant, seconds, error)
