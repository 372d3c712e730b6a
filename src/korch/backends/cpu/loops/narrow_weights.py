"""Weights of a product that its cone computes from narrow constants: (codes - zero) scale, by blocks of steps.

The pattern is one of numbers: codes of four or eight bits behind any moves of elements, zero points and scales that are
the same for all steps of a block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from korch.backends.cpu.loops.ctypes import is_expressible
from korch.backends.cpu.loops.language import C
from korch.backends.maps.index import Index, Var, flat, unflat
from korch.backends.maps.trace import Indices, Requests, Trace, broadcast
from korch.ir.cone import Cone
from korch.ir.ops.integers import BYTES
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor

BLOCKS = (256, 128, 64, 32, 16)
"""Steps of a block: sums of digits of 15 bits and codes of eight stay within int32."""
WHOLE = 8
"""Bits of codes that are bytes."""
MOST_ROWS = 32
"""Beyond, digits of all rows outgrow a near cache, and floats, widened once for all rows, are faster anyway."""


@dataclass(frozen=True)
class TensorElement:
    """An element of a tensor of the cone: its position by the variables `block`, `i` (a step of it) and `n`."""

    tensor: Tensor
    at: Indices


@dataclass(frozen=True)
class NarrowWeights:
    """The weights of `product`, `block` steps at a time. Without a `zero`, `center` is subtracted from the codes, which
    are counted from 0 on; with one, that and the zero point less what is `given` for it."""

    product: Primitive
    codes: TensorElement
    scale: TensorElement
    zero: TensorElement | None
    number: int
    bits: int
    block: int

    @property
    def steps(self) -> int:
        return self.product.inputs[1].shape[0]

    @property
    def columns(self) -> int:
        return self.product.inputs[1].shape[1]

    @property
    def blocks(self) -> int:
        return -(-self.steps // self.block)

    @property
    def first(self) -> int:
        """The least code, which is 0 where codes are kept."""
        return -(1 << (self.bits - 1)) if self.codes.tensor.dtype == "int8" else 0

    @property
    def center(self) -> int:
        """The number subtracted from a code as it is kept: the zero point if it is a number, else the middle of all."""
        return self.number - self.first if self.zero is None else 1 << (self.bits - 1)


def narrow_weights(cone: Cone) -> NarrowWeights | None:
    """The weights of the cone's only product, if it computes them from narrow constants."""
    if len(cone.linear) != 1 or not cone.linear[0].spec.is_product:
        return None
    p = cone.linear[0]
    w = p.inputs[1]
    if w not in cone.makers or w.rank != 2 or w.dtype != "float32" or not of_constants(cone, w):
        return None
    blocks = (block for block in BLOCKS if block < 2 * w.shape[0] or block == BLOCKS[-1])
    return next((found for block in blocks if (found := _Search(cone, p, block).found())), None)


def has_plain_ends(cone: Cone) -> bool:
    """Whether a leaf is multiplied, by few rows, and elementwise primitives follow."""
    p = cone.linear[0]
    if not p.spec.is_product or p.inputs[1].const or p.inputs[0] not in cone.leaves or p.inputs[0].const:
        return False
    if p.output.dtype != "float32" or p.output.size > MOST_ROWS * p.output.shape[-1]:
        return False
    behind = {*cone.primitives}.difference(weight_makers(cone, p.inputs[1]), (p,))
    return all(
        q.category is Category.ELEMENTWISE and q.output.shape == p.output.shape and is_expressible(q) for q in behind
    )


def weight_makers(cone: Cone, w: Tensor) -> Iterator[Primitive]:
    """The primitives that compute the weights w."""
    needed = {w}
    for p in reversed(cone.primitives):
        if p.output in needed:
            needed.update(p.inputs)
            yield p


def of_constants(cone: Cone, w: Tensor) -> bool:
    """Whether the cone computes the weights w from constants alone."""
    made = cone.makers
    return all(t.const or t in made for p in weight_makers(cone, w) for t in p.inputs)


@dataclass(frozen=True)
class _Search:
    cone: Cone
    product: Primitive
    block: int

    def found(self) -> NarrowWeights | None:
        """The weights by blocks of this length, if zero points and scales are the same for all steps of one."""
        w = self.product.inputs[1]
        step = Index.of(Var("block", 0, -(-w.shape[0] // self.block))) * self.block + Index.of(Var("i", 0, self.block))
        top = self._behind(TensorElement(w, (step, Index.of(Var("n", 0, w.shape[1])))))
        p = self.cone.makers.get(top.tensor)
        if p is None or p.op != "Mul":
            return None
        for x, scale in (p.inputs, p.inputs[::-1]):
            other = self._operand(top, scale)
            found = self._codes(self._behind(self._operand(top, x)))
            if found and self._is_fixed(other):
                codes, zero, number, bits = found
                return NarrowWeights(self.product, codes, other, zero, number, bits, self.block)
        return None

    def _operand(self, e: TensorElement, t: Tensor) -> TensorElement:
        return TensorElement(t, broadcast(e.at, t))

    def _behind(self, e: TensorElement) -> TensorElement:
        return behind(self.cone, e)

    def _codes(self, e: TensorElement) -> tuple[TensorElement, TensorElement | None, int, int] | None:
        """Codes, zero points or the number that all are, and bits of a code; None where `e` is something else."""
        p = self.cone.makers.get(e.tensor)
        if p is None or p.op not in ("Sub", "Cast"):
            return None
        zero, number = None, 0
        if p.op == "Sub":
            zero = self._operand(e, p.inputs[1])
            value = p.inputs[1].value
            if value is not None and float(value).is_integer() and abs(value) < 1 << WHOLE:
                zero, number = None, int(value)
            elif not self._is_fixed(zero):
                return None
            e = self._behind(self._operand(e, p.inputs[0]))
            p = self.cone.makers.get(e.tensor)
        if p is None or p.op != "Cast" or p.inputs[0].dtype not in BYTES:
            return None
        codes = self._behind(self._operand(e, p.inputs[0]))
        maker = self.cone.makers.get(codes.tensor)
        bits = WHOLE if maker is None else maker.attr("bits") if maker.spec.unpacks else 0
        return (codes, zero, number, bits) if bits in (4, WHOLE) else None

    def _is_fixed(self, e: TensorElement) -> bool:
        """Whether the element is the same for all steps of a block."""
        trace = traced(self.cone)
        trace.value(e.tensor, e.at)
        return all("i" not in d.uses for d in trace.definitions)


def behind(cone: Cone, e: TensorElement) -> TensorElement:
    """The element that `e` is after moves."""
    while p := cone.makers.get(e.tensor):
        if p.spec.regroups:
            e = TensorElement(p.inputs[0], unflat(flat(e.at, p.output.shape), p.inputs[0].shape))
        elif p.spec.source and len(p.inputs) == 1:
            moved = p.spec.source(p, e.at)
            if moved.inside:
                return e
            e = TensorElement(p.inputs[0], moved.at)
        else:
            return e
    return e


def traced(cone: Cone, stem: str = "v") -> Trace:
    """A trace of what the cone computes, from arrays that are called as kernels call leaves."""
    arrays = {leaf: f"in{i}" for i, leaf in enumerate(cone.leaves)}
    return Trace(cone.makers, arrays, {}, Requests(), C(), stem)
