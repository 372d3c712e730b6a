"""Scaling moves through linear primitives, into their constant weights."""

from __future__ import annotations

from collections.abc import Iterator

from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.maps import column, is_dense, map_of, mapped, scale_along
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
