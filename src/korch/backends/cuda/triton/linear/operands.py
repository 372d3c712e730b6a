"""The operands of a product as tiles: what precedes it in the cone is traced at the places of a tile.

A constant operand is laid out anew, once, where that makes the loads of a tile contiguous: along the steps for the
tensor cores, which want them so in TF32, along the columns else. Where factors are rounded to 16 bits, so is the
constant.
"""

from __future__ import annotations

from dataclasses import dataclass

from korch.backends.contract import Prepared
from korch.backends.cuda.triton.linear.language import Looped, Named
from korch.backends.cuda.triton.linear.product import Bounds, Contraction
from korch.backends.cuda.triton.names import names_in
from korch.backends.maps.index import Index, flat
from korch.backends.maps.trace import Indices
from korch.backends.precision import HALVES
from korch.ir.cone import Cone
from korch.ir.tensor import Tensor

ALIGNED = 16
"""Bytes of the widest load."""


@dataclass(frozen=True)
class Weights:
    """The constant operand `tensor` as a kernel reads it, with its axes in the order `perm`."""

    tensor: Tensor
    name: str
    perm: tuple[int, ...]
    dtype: str
    leaf: int

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape[a] for a in self.perm)

    @property
    def prepared(self) -> Prepared:
        return Prepared(self.dtype, self.shape, self.leaf, self.perm)

    def read(self, t: Tensor, at: Indices) -> tuple[str, Index]:
        return self.name, flat(tuple(at[a] for a in self.perm), self.shape)


def weights_of(cone: Cone, product: Contraction, precision: str) -> tuple[Weights, ...]:
    """The constant operands that are laid out anew or rounded."""
    dtype = HALVES.get(precision, "float32")
    made: list[Weights] = []
    for side, t in enumerate(product.primitive.inputs):
        if t.const and t in cone.leaves and t.value is None:
            perm = _perm(product, side, t, precision)
            if dtype != "float32" or perm != tuple(range(t.rank)):
                made.append(Weights(t, f"w{side}", perm, dtype, cone.leaves.index(t)))
    return tuple(made)


def widths_of(cone: Cone, product: Contraction, precision: str) -> tuple[int, int]:
    """Bytes of an element of each factor as tiles read it: constants are stored rounded."""
    halved = {w.tensor for w in weights_of(cone, product, precision) if w.dtype != "float32"}
    first, second = (2 if t in halved else 4 for t in product.primitive.inputs)
    return first, second


def _perm(product: Contraction, side: int, t: Tensor, precision: str) -> tuple[int, ...]:
    """The order of the axes of the constant operand `t`."""
    if product.primitive.spec.is_product:
        same, turned = tuple(range(t.rank)), (*range(t.rank - 2), t.rank - 1, t.rank - 2)
        return turned if side == 1 and _along_steps(t.shape[-2], precision) else same
    if side == 0:
        return tuple(range(t.rank))
    taps, inner = tuple(range(2, t.rank)), t.size // t.shape[0]
    return (0, *taps, 1) if _along_steps(inner, precision) else (*taps, 1, 0)


def _along_steps(steps: int, precision: str) -> bool:
    return precision != "ieee" and steps * (2 if precision in HALVES else 4) % ALIGNED == 0


@dataclass
class TracedOperand:
    """Traces one side of the product, in the language of its loop; `zero` names the conditions where it is not 0."""

    cone: Cone
    product: Contraction
    side: int
    weights: tuple[Weights, ...]
    language: Looped
    zero: tuple[str, ...] = ()

    def traced(self, at: Indices) -> tuple[list[str], str]:
        """(statements, the expression of the tile): 0 where its steps or positions do not exist."""
        trace = Named("ab"[self.side], self.cone, {w.tensor: w.read for w in self.weights}, self.language)
        value = trace.value(self.product.primitive.inputs[self.side], at)
        masks = self.language.masked(trace.loads[0].at) if len(trace.lines) == len(trace.loads) == 1 else ""
        if not names_in(f"tl.load(at{masks})").issuperset(self.zero):
            value = trace.name(f"tl.where({' & '.join(self.zero)}, {value}, 0.0)", "float32")
        return trace.lines, value


def conditions(bounds: Bounds, language: Looped) -> list[str]:
    """Where a position lies within its axis."""
    found: list[str] = []
    for e, n in bounds:
        lo, hi = e.range()
        found += [f"({language.reaches(e, 0)})"] * (lo < 0) + [f"({language.below(e, n)})"] * (hi >= n)
    return found
