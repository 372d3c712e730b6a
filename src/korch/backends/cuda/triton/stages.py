"""Reductions as tiles fold them: what is neutral, how values meet, what the end of a sum is divided by."""

from __future__ import annotations

import math
from dataclasses import dataclass

from korch.backends.cuda.triton import windows
from korch.backends.cuda.triton.blocks import BlockTrace
from korch.backends.cuda.triton.elementwise import TYPES
from korch.backends.cuda.triton.language import literal
from korch.backends.maps.index import Index, unflat
from korch.backends.maps.trace import Indices
from korch.ir.ops.table import Aggregate, Category
from korch.ir.primitive import Primitive

NARROW = ("bool", "int8", "int16", "uint8", "uint16")
FAR = 2**31 - 1
"""A position after every other."""


def is_stage(p: Primitive) -> bool:
    """Whether `p` folds several elements that are not written out."""
    if p.spec.is_pool:
        return windows.taps(p) > windows.MOST_TAPS
    return p.category is Category.REDUCE and math.prod(_extents(p)) > 1


def _extents(p: Primitive) -> tuple[int, ...]:
    """The lengths that `p` folds along."""
    if p.spec.is_pool:
        return windows.kernel_of(p)
    axes: tuple[int, ...] = (p.attr("axis"),) if p.spec.ranks else p.attr("axes")
    return tuple(p.inputs[0].shape[a] for a in sorted(axes))


@dataclass(frozen=True)
class ReductionStage:
    """A reduction of `length` elements for each of its output's."""

    p: Primitive

    @property
    def length(self) -> int:
        return math.prod(_extents(self.p))

    @property
    def picks(self) -> bool:
        """Whether it finds a position."""
        return self.p.spec.ranks

    @property
    def low(self) -> bool:
        return self.p.spec.picks < 0

    @property
    def dtype(self) -> str:
        """What is folded: small integers as larger ones."""
        dtype = self.p.inputs[0].dtype
        return "int32" if dtype in NARROW else dtype

    @property
    def fold(self) -> str:
        """The fold of a whole dimension."""
        of = self.p.spec.aggregate or Aggregate.SUM
        return "folds.total" if of is Aggregate.SUM else f"folds.{of.value}"

    @property
    def neutral(self) -> str:
        match self.fold:
            case "folds.total":
                return literal(0, self.dtype)
            case "folds.product":
                return literal(1, self.dtype)
            case _:
                return _extreme(self.dtype, least=not self.low)

    def meet(self, a: str, b: str) -> str:
        """Two values, folded."""
        match self.fold:
            case "folds.total":
                return f"{a} + {b}"
            case "folds.product":
                return f"{a} * {b}"
            case _:
                return f"folds.{'smaller' if self.low else 'larger'}({a}, {b})"

    def value(self, trace: BlockTrace, idx: Indices, k: Index) -> str:
        """The element number `k` of those that the output's element `idx` is folded from."""
        p, at = self.p, unflat(k, _extents(self.p))
        x = p.inputs[0]
        if p.spec.is_pool:
            return windows.under(trace, p, idx, at) or literal(windows.neutral(p), x.dtype)
        v = trace.value(x, self._source(idx, at))
        return trace.name(f"tl.cast({v}, tl.int32)", "int32") if x.dtype in NARROW else v

    def _source(self, idx: Indices, at: Indices) -> Indices:
        p = self.p
        axes = (p.attr("axis"),) if self.picks else p.attr("axes")
        kept, folded = iter(idx), iter(at)
        source: list[Index] = []
        for a in range(p.inputs[0].rank):
            if a in axes:
                source.append(next(folded))
                if p.attr("keepdims"):
                    next(kept)
            else:
                source.append(next(kept))
        return tuple(source)

    def end(self, trace: BlockTrace, folded: str, idx: Indices) -> str:
        """The output's value."""
        p = self.p
        if p.spec.is_pool and p.spec.averages:
            return windows.averaged(trace, p, folded, idx)
        if p.spec.averages:
            n = self.length
            return trace.name(f"{folded} / {float(n)!r}" if p.output.is_float else f"{folded} // {n}", p.output.dtype)
        if p.inputs[0].dtype in NARROW and not self.picks:
            cast = f"{folded} != 0" if p.output.dtype == "bool" else f"tl.cast({folded}, {TYPES[p.output.dtype]})"
            return trace.name(cast, p.output.dtype)
        return folded


def _extreme(dtype: str, least: bool) -> str:
    if dtype.startswith("float"):
        return 'float("-inf")' if least else 'float("inf")'
    bits = int("".join(c for c in dtype if c.isdigit()))
    if dtype.startswith("u"):
        return "0" if least else str(2**bits - 1)
    return str(-(2 ** (bits - 1)) if least else 2 ** (bits - 1) - 1)
