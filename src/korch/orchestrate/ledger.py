"""What is known about the cost of every candidate: a lower bound until it is measured, then the measurement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf

from korch.backends.contract import Backend, Declined, Kernel
from korch.ir.cone import Cone
from korch.machine import Machine
from korch.profile.results import Best, Measurement, Result


@dataclass
class Offer:
    """One backend's offer for all cones of one signature: its best variant, once measured.

    `alone` is the kernel's time by itself; `in_place` what it took inside the linked program, which then counts.
    """

    backend: Backend
    bound: float
    variant: str = ""
    alone: float | None = None
    error: float = 0.0
    in_place: float | None = None

    @property
    def measured(self) -> bool:
        return self.alone is not None

    @property
    def seconds(self) -> float:
        """The measured cost; infinite without one."""
        if self.in_place is not None:
            return self.in_place
        return inf if self.alone is None else self.alone

    @property
    def cost(self) -> float:
        """Seconds: measured, or at least this much."""
        return self.seconds if self.measured else self.bound

    def settle(self, best: Best) -> None:
        """Enters the measurement."""
        self.variant, self.alone, self.error = best.variant, best.seconds, best.error

    def kernel(self, cone: Cone, threads: int) -> Kernel:
        """The best variant's kernel for `cone`."""
        return next(k for k in self.backend.build(cone, threads) if k.variant == self.variant)


@dataclass
class Entry:
    """The offers for one signature; `cone` stands for all cones that have it."""

    cone: Cone
    offers: list[Offer]

    @property
    def best(self) -> Offer:
        return min(self.offers, key=lambda o: (o.cost, o.backend.name))

    @property
    def cost(self) -> float:
        return self.best.cost

    @property
    def open(self) -> list[Offer]:
        """Offers that must be measured before the entry's cost is known."""
        return [o for o in self.offers if not o.measured and o.bound <= self.best_measured]

    @property
    def best_measured(self) -> float:
        return min((o.seconds for o in self.offers if o.measured), default=inf)


@dataclass
class Ledger:
    """The costs of `cones` (those that some backend takes), by signature."""

    cones: tuple[Cone, ...]
    entries: tuple[Entry, ...]
    declined: dict[str, int] = field(default_factory=dict)

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
    declined: dict[str, int] = {}
    for cone in cones:
        if cone.signature not in known:
            known[cone.signature] = _entry(cone, backends, machine, declined)
        entry = known[cone.signature]
        if entry:
            kept.append(cone)
            entries.append(entry)
    return Ledger(tuple(kept), tuple(entries), declined)


def _entry(cone: Cone, backends: Sequence[Backend], machine: Machine, declined: dict[str, int]) -> Entry | None:
    offers = [Offer(b, b.bound(cone, machine)) for b in backends if not b.fallback and _takes(b, cone, declined)]
    if not offers:
        offers = [Offer(b, b.bound(cone, machine)) for b in backends if b.fallback and _takes(b, cone, declined)]
    return Entry(cone, offers) if offers else None


def _takes(backend: Backend, cone: Cone, declined: dict[str, int]) -> bool:
    answer = backend.declines(cone)
    if isinstance(answer, Declined):
        declined[backend.name] = declined.get(backend.name, 0) + 1
        return False
    return True


def best_of(kernels: Sequence[Kernel], results: Sequence[Result]) -> Best:
    """The fastest right variant; infinitely slow where none works."""
    measured = [(r.seconds, k.variant, r.error) for k, r in zip(kernels, results, strict=True)
                if isinstance(r, Measurement)]  # fmt: skip
    if not measured:
        return Best("", inf)
    seconds, variant, error = min(measured)
    return Best(variant, seconds, error)
