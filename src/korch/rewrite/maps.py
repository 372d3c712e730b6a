"""What rules match and build: maps of one axis, constant summands and factors along one axis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from korch.ir.ops.windows import is_still
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.space import Space


@dataclass(frozen=True)
class Map:
    """y[.., o, ..] = sum over i of weights[o, i] * x[.., i, ..], constant weights, along `axis` of x."""

    x: Tensor
    axis: int
    outputs: int
    make: Callable[[], Tensor]

    @cached_property
    def weights(self) -> Tensor:
        """[o, i]; made when first asked for, as most rules that look at a map do not go on."""
        return self.make()


def map_of(s: Space, p: Primitive) -> Map | None:
    """`p` as a map of one axis: a 1x1 convolution, or a product with a constant matrix on either side."""
    if p.spec.is_convolution and is_pointwise(p):
        x, w = p.inputs
        return Map(x, 1, w.shape[0], lambda: s.op("Reshape", w, shape=w.shape[:2]))
    if p.spec.is_product:
        a, b = p.inputs
        if b.const and b.rank == 2 and not a.const:
            return Map(a, a.rank - 1, b.shape[1], lambda: s.op("Transpose", b, perm=(1, 0)))
        if a.const and a.rank == 2 and not b.const:
            return Map(b, b.rank - 2, a.shape[0], lambda: a)
    return None


def mapped(s: Space, weights: Tensor, x: Tensor, axis: int) -> Tensor | None:
    """`weights` [o, i] along `axis` of x; None where no primitive maps that axis; a product takes no vectors."""
    if axis == x.rank - 1 and x.rank > 1:
        return s.op("MatMul", x, s.op("Transpose", weights, perm=(1, 0)))
    if axis == x.rank - 2:
        return s.op("MatMul", weights, x)
    return s.op("Conv", x, _kernel(s, weights, x.rank), **_pointwise(x.rank)) if axis == 1 and x.rank == 4 else None


def _kernel(s: Space, weights: Tensor, rank: int) -> Tensor:
    return s.op("Reshape", weights, shape=(*weights.shape, *(1,) * (rank - 2)))


def _pointwise(rank: int) -> dict[str, object]:
    ones, none = (1,) * (rank - 2), (0,) * (2 * rank - 4)
    return {"strides": ones, "dilations": ones, "pads": none, "group": 1, "channels_last": 0}


def is_pointwise(p: Primitive) -> bool:
    """Whether a convolution just maps channels, by constant weights."""
    return is_dense(p) and p.output.rank == 4 and is_still(p)


def is_dense(p: Primitive) -> bool:
    """A convolution with constant weights in which every output channel reads every input channel."""
    return (
        p.spec.is_convolution
        and p.attr("group") == 1
        and not p.attr("channels_last")
        and p.inputs[1].const
        and not p.inputs[0].const
    )


# Constants along an axis ---------------------------------------------------------------------------------------


def shift_along(s: Space, p: Primitive, axis: int) -> tuple[Tensor, Tensor] | None:
    """`p` as x + v, v [n] along `axis`: (x, v)."""
    if p.op == "Sub" and p.inputs[1].const:
        found = _constant_along(s, p, axis)
        return None if found is None else (found[0], s.op("Neg", found[1]))
    return _constant_along(s, p, axis) if p.op == "Add" else None


def scale_along(s: Space, p: Primitive, axis: int) -> tuple[Tensor, Tensor] | None:
    """`p` as x * v, v [n] along `axis`: (x, v)."""
    if p.op == "Div" and p.inputs[1].const and s.value(p.inputs[1]).all():
        found = _constant_along(s, p, axis)
        return None if found is None else (found[0], s.op("Reciprocal", found[1]))
    return _constant_along(s, p, axis) if p.op == "Mul" else None


def _constant_along(s: Space, p: Primitive, axis: int) -> tuple[Tensor, Tensor] | None:
    found = beside_constant(p)
    if found is None:
        return None
    x, c = found
    n, at = x.shape[axis], axis - (x.rank - c.rank)
    if any(m != 1 for i, m in enumerate(c.shape) if i != at):
        return None
    return x, s.op("Expand", s.op("Reshape", c, shape=(c.size,)), shape=(n,))


def beside_constant(p: Primitive) -> tuple[Tensor, Tensor] | None:
    """The operands of `p`: a tensor of floats, of its shape, and a constant."""
    x, c = p.inputs if p.inputs[1].const else p.inputs[::-1]
    return (x, c) if c.const and not x.const and x.shape == p.output.shape and x.is_float else None


def along(s: Space, v: Tensor, x: Tensor, axis: int) -> Tensor:
    """v [n] so that it broadcasts along `axis` of x."""
    return s.op("Reshape", v, shape=(*v.shape, *(1,) * (x.rank - 1 - axis)))


def column(s: Space, v: Tensor) -> Tensor:
    """v [n] as a matrix [n, 1]."""
    return s.op("Reshape", v, shape=(v.size, 1))


def vector(s: Space, v: Tensor) -> Tensor:
    """All elements of v in a row."""
    return s.op("Reshape", v, shape=(v.size,))
