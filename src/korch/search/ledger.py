"""The candidates and the offers for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from korch.backends.contract import Backend, Graded, Refusal
from korch.backends.precision import faster
from korch.ir.cone import Cone
from korch.ir.primitive import Primitive
from korch.machine import Machine
from korch.profile.physics import Physics, Work
from korch.search.error_limit import ErrorLimit
from korch.search.forms import Forms
from korch.search.kinds import Kind, is_unlikely, sort_of, trait_of
from korch.search.offers import KernelName, LedgerEntry, Offer
from korch.search.price import Price
from korch.search.steering import BYTE_PRICE, CHANNELS_FIRST_PENALTY


@dataclass
class Ledger:
    """The costs of `cones`, those that some backend takes, by signature. `collector` asks the backends; `pricing`: the
    price of memory now, for all parts of a ledger. `limit`: of the error of plans; None where no primitive is loose."""

    cones: tuple[Cone, ...]
    entries: tuple[LedgerEntry, ...]
    collector: _Collector
    pricing: Price = field(default_factory=Price)
    limit: ErrorLimit | None = None

    @property
    def refusals(self) -> Mapping[str, str]:
        """Why no backend takes a primitive alone, by the name of its output."""
        return self.collector.refusals

    def fallbacks(self, cone: Cone) -> list[Offer]:
        """The offers of backends that take any one primitive."""
        return self.collector.fallbacks(cone)

    def extended(self, cones: Iterable[Cone]) -> Ledger:
        """With more cones, those that some backend takes, at the costs of equal ones where these are known."""
        more = [(c, e) for c in cones if (e := self.collector.entry_of(c))]
        return replace(self, cones=(*self.cones, *(c for c, _ in more)), entries=(*self.entries, *(e for _, e in more)))

    def within(self, primitives: Collection[Primitive]) -> Ledger:
        """The cones that hold nothing but `primitives`, at the same costs."""
        return self.where(lambda cone: all(p in primitives for p in cone.primitives))

    def where(self, wanted: Callable[[Cone], bool]) -> Ledger:
        """The cones that are `wanted`, at the same costs."""
        kept = [(c, e) for c, e in zip(self.cones, self.entries, strict=True) if wanted(c)]
        return replace(self, cones=tuple(c for c, _ in kept), entries=tuple(e for _, e in kept))

    def ban(self, kernels: Collection[KernelName], held: Collection[Primitive], threads: int) -> None:
        """Rules out `kernels` for all cones that hold `held`, and for equal ones elsewhere.

        Single primitives are offered to the fallback backends then, so that a plan of single primitives stays.
        """
        holding = {
            id(e): e for c, e in zip(self.cones, self.entries, strict=True) if all(p in c.primitives for p in held)
        }
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

    def entry(self, i: int) -> LedgerEntry:
        """The entry of `cones[i]`."""
        return self.entries[i]

    @property
    def distinct(self) -> list[LedgerEntry]:
        return list({id(e): e for e in self.entries}.values())


def open_ledger(
    cones: Iterable[Cone],
    backends: Sequence[Backend],
    machine: Machine,
    physics: Physics | None = None,
    way_out: str = "",
) -> Ledger:
    """Asks every backend about every distinct cone; cones that all refuse are left out. A refusal ends in `way_out`.

    Fallback backends (those that take any single primitive) are asked only where no other takes the cone. `physics`:
    the best rates known, by default the machine's.
    """
    collector = _Collector(tuple(backends), machine, physics or Physics.of(machine), way_out)
    return Ledger((), (), collector).extended(cones)


@dataclass
class _Collector:
    """Collects the offers for one cone after another."""

    backends: tuple[Backend, ...]
    machine: Machine
    physics: Physics
    way_out: str = ""
    known: dict[str, LedgerEntry | None] = field(default_factory=dict[str, LedgerEntry | None])
    refusals: dict[str, str] = field(default_factory=dict[str, str])
    refused: dict[str, int] = field(default_factory=dict[str, int])
    kinds: dict[tuple[object, ...], Kind] = field(default_factory=dict[tuple[object, ...], Kind])
    forms: dict[tuple[str, ...], Forms] = field(default_factory=dict[tuple[str, ...], Forms])

    def entry_of(self, cone: Cone) -> LedgerEntry | None:
        """The entry of all cones of that signature; None where all backends refuse."""
        if cone.signature not in self.known:
            self.known[cone.signature] = self._entry(cone)
        entry = self.known[cone.signature]
        if entry is None and len(cone.primitives) == 1:
            self.refusals[cone.root.name] = f"{self.refusal(cone)}{self.way_out}"
        return entry

    def _entry(self, cone: Cone) -> LedgerEntry | None:
        offers = [self._offer(b, cone) for b in self.backends if not b.fallback and self._takes(b, cone)]
        offers = offers or self.fallbacks(cone)
        held = sum(t.nbytes for t in cone.leaves if t.const and t.value is None)
        return LedgerEntry(cone, offers, BYTE_PRICE * held / self.machine.bandwidths[-1][1]) if offers else None

    def fallbacks(self, cone: Cone) -> list[Offer]:
        return [self._offer(b, cone) for b in self.backends if b.fallback and self._takes(b, cone)]

    def refusal(self, cone: Cone) -> str:
        """Why all backends refuse the only primitive of the cone, in one line."""
        (p,), answers = cone.primitives, [(b.name, b.refuses(cone)) for b in self.backends]
        reasons = [f"{name}: {answer.reason}" for name, answer in answers if answer]
        return f"{p.origin or p.op}: {'; '.join(reasons) or 'there is no backend'}"

    def _offer(self, backend: Backend, cone: Cone) -> Offer:
        roofline = backend.bound(cone, self.machine)
        alike = self.kinds.setdefault((backend.name, len(cone.linear)), Kind())
        kind = Kind(CHANNELS_FIRST_PENALTY if backend.name != "loops" and is_unlikely(cone) else 1.0, alike)
        forms = self.forms.setdefault((backend.name, *sorted(map(trait_of, cone.linear))), Forms())
        kind = self.kinds.setdefault(sort_of(backend, cone, roofline), kind)
        work = Work.of(cone, max(backend.precisions, key=faster, default="") if isinstance(backend, Graded) else "")
        beside = min(work.operations / self.machine.peak_flops, self.machine.moving(work.moved))
        return Offer(backend, roofline, kind, beside, work, self.physics, forms=forms)

    def _takes(self, backend: Backend, cone: Cone) -> bool:
        answer = backend.refuses(cone)
        if isinstance(answer, Refusal):
            self.refused[backend.name] = self.refused.get(backend.name, 0) + 1
            return False
        return True
