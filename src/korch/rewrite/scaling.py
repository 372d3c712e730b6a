"""Scaling moves through linear primitives, into their constant weights or scales."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.maps import beside_constant, column, is_dense, map_of, mapped, scale_along
from korch.rewrite.rule import algebra
from korch.rewrite.space import Space


@algebra()
def map_after_scale(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """W (v * x) = (W diag v) x."""
    m = map_of(s, p)
    for q in s.producers(m.x) if m else ():
        found = scale_along(s, q, m.axis) if m else None
        if m and found:
            yield mapped(s, s.op("Mul", m.weights, found[1]), found[0], m.axis)


@algebra()
def scale_after_map(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """v * (W x) = (diag v W) x, also where others read W x."""
    for q in (q for t in p.inputs for q in s.producers(t)) if p.op in ("Mul", "Div") else ():
        m = map_of(s, q)
        found = scale_along(s, p, m.axis) if m else None
        if m and found and found[0] == q.output:
            yield mapped(s, s.op("Mul", m.weights, column(s, found[1])), m.x, m.axis)


@algebra()
def convolution_after_scale(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """conv(v * x, w) = conv(x, w diag v), v along the channels."""
    for q in s.producers(p.inputs[0]) if is_dense(p) and not map_of(s, p) else ():
        found = scale_along(s, q, 1)
        if found:
            w = p.inputs[1]
            channels = s.op("Reshape", found[1], shape=(found[1].size, *(1,) * (w.rank - 2)))
            yield s.op("Conv", found[0], s.op("Mul", w, channels), **dict(p.attrs))


@algebra(pays=True)
def scale_of_sum(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """(v * x + w * y) / u = (v / u) * x + (w / u) * y, as sums of dequantized tensors are quantized again. It pays even
    where others read v * x, which kernels compute again."""
    found = _scaling(p)
    if found is None or found[1].size != 1:
        return
    total, by = found
    for q in (q for q in s.producers(total) if q.op == "Add"):
        terms = [term for t in q.inputs if (term := _rescaled(s, t, p.op, by))]
        if len(terms) == len(q.inputs):
            yield s.op("Add", *(s.op("Mul", x, scale) for x, scale in terms))


def _scaling(p: Primitive) -> tuple[Tensor, Tensor] | None:
    """`p` as floats of its shape that a constant multiplies or divides."""
    return beside_constant(p) if p.op == "Mul" or (p.op == "Div" and p.inputs[1].const) else None


def _rescaled(s: Space, t: Tensor, op: str, by: Tensor) -> tuple[Tensor, Tensor] | None:
    """The tensor that a constant scales to `t`, and that constant scaled by `by`; None where there is none, or its
    dtype does not hold both as one."""
    limits = np.finfo(t.dtype)
    for q in s.producers(t):
        if q.op == "Mul" and (found := _scaling(q)):
            x, scale = found
            with np.errstate(all="ignore"):
                both = s.value(scale) * s.value(by) if op == "Mul" else s.value(scale) / s.value(by)
            if ((limits.tiny <= np.abs(both)) & (np.abs(both) <= limits.max)).all():
                return x, s.constant(both.reshape(scale.shape), scale.dtype)
    return None
