"""Kernels that may be expected to miss their rooflines alike, and by how much."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from dataclasses import dataclass, field
from math import inf, isfinite, log2
from statistics import median

from korch.backends.contract import Backend
from korch.ir.cone import Cone
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive
from korch.search.steering import BOUND_MARGIN, EXPECTED_QUANTILE, MIN_FOR_BOUNDS, MIN_FOR_EXPECTATIONS, SAME_FROM


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

    def learn(self, seconds: float, bound: float, instead: float = inf) -> None:
        """Enters what a kernel takes alone, `instead` of what it seemed to take before."""
        if isfinite(seconds) and bound > 0:
            insort(self.alone, seconds / bound)
            if isfinite(instead):
                self.alone.remove(instead / bound)
            if self.alike:
                self.alike.learn(seconds, bound, instead)

    def place(self, alone: float, in_place: float) -> None:
        if alone > 0:
            self.placed.append(in_place / alone)
            self.slowdown = max(1.0, median(self.placed)) if len(self.placed) >= MIN_FOR_EXPECTATIONS else 1.0

    @property
    def factor(self) -> float:
        """By how much every kernel of the kind misses its roofline at least, a margin allowed; below 1 where one has
        done better than the rates that were found on a busy machine."""
        if self.alone and self.alone[0] < 1:
            return BOUND_MARGIN * self.alone[0]
        return max(1.0, BOUND_MARGIN * self.alone[0]) if len(self.alone) >= MIN_FOR_BOUNDS else 1.0

    @property
    def known(self) -> bool:
        """Whether a few of the kind have been timed, or of those alike."""
        return len(self.alone) >= MIN_FOR_EXPECTATIONS or bool(self.alike and self.alike.known)

    @property
    def usual(self) -> float:
        """By how much the better ones of the kind miss their rooflines, or of those alike while few are known."""
        if len(self.alone) >= MIN_FOR_EXPECTATIONS:
            return max(1.0, self.alone[len(self.alone) // EXPECTED_QUANTILE])
        return max(self.prior, self.alike.usual) if self.alike else self.prior


def sort_of(backend: Backend, cone: Cone, roofline: float) -> tuple[object, ...]:
    """Kernels that may be expected to miss their rooflines alike: same backend, sort of work and order of size."""
    size = round(log2(roofline) / 2) if roofline > 0 else None
    traits = Counter(trait for p in cone.primitives if (trait := trait_of(p)))
    return backend.name, frozenset((t, min(n, SAME_FROM)) for t, n in traits.items()), size


def is_unlikely(cone: Cone) -> bool:
    """Whether it convolves images whose channels come first: on processors, kernels of it miss their bounds."""
    return any(p.spec.convolves and not p.attr("channels_last") for p in cone.linear)


def trait_of(p: Primitive) -> str:
    """The traits of a primitive that shape the loops or the call: coarse, so that kinds have many kernels."""
    if p.spec.convolves:
        w = p.inputs[1]
        depthwise = p.attr("group") > 1 and w.shape[1] == 1
        return f"{p.op} {p.attr('channels_last')} {depthwise} {max(w.shape[2:], default=1) > 1} {w.shape[0] < 16}"
    if p.category is Category.ELEMENTWISE:
        return "heavy" if p.spec.costly else ""
    if p.spec.folds:
        return "along rows" if p.inputs[0].rank - 1 in p.attr("axes") else "across rows"
    if p.spec.permutes:
        return "moves" if p.attr("perm")[-1] == p.output.rank - 1 else "turns"
    if p.spec.is_view:
        return ""
    at_known_positions = p.category is Category.LAYOUT and not p.spec.takes
    return "moves" if at_known_positions or p.spec.interpolates else p.op
