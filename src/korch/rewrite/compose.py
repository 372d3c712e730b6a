"""Linear after linear with constant weights is one linear primitive; so are constants added in a row."""

from __future__ import annotations

from collections.abc import Iterator

from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.maps import along, column, is_dense, map_of, mapped, shift_along, vector
from korch.rewrite.rule import algebra
from korch.rewrite.space import Space


@algebra()
def map_after_map(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """W (V x) = (W V) x along one axis."""
    outer = map_of(s, p)
    for q in s.producers(outer.x) if outer else ():
        inner = map_of(s, q)
        if outer and inner and inner.axis == outer.axis:
            yield mapped(s, s.op("MatMul", outer.weights, inner.weights), inner.x, outer.axis)


@algebra()
def map_after_shift(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """W (x + v) = W x + W v."""
    m = map_of(s, p)
    for q in s.producers(m.x) if m else ():
        found = shift_along(s, q, m.axis) if m else None
        y = mapped(s, m.weights, found[0], m.axis) if m and found else None
        if m and found and y:
            more = vector(s, s.op("MatMul", m.weights, column(s, found[1])))
            yield s.op("Add", y, along(s, more, y, m.axis))


@algebra()
def shift_after_shift(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """(x + u) + v = x + (u + v) along one axis."""
    for axis in range(p.output.rank):
        outer = shift_along(s, p, axis)
        for q in s.producers(outer[0]) if outer else ():
            inner = shift_along(s, q, axis)
            if outer and inner:
                yield s.op("Add", inner[0], along(s, s.op("Add", inner[1], outer[1]), inner[0], axis))


@algebra()
def convolution_after_map(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """conv(V x, w) = conv(x, w V): the map of channels goes into the kernel (padding is 0, and V 0 = 0)."""
    if not is_dense(p) or map_of(s, p):
        return
    x, w = p.inputs
    for q in s.producers(x):
        m = map_of(s, q)
        if m and m.axis == 1:
            yield s.op("Conv", m.x, _inputs_mapped(s, w, m.weights), **dict(p.attrs))


@algebra()
def map_after_convolution(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """W conv(x, v) = conv(x, W v): the map of channels goes into the kernel."""
    m = map_of(s, p)
    for q in s.producers(m.x) if m and m.axis == 1 else ():
        if m and is_dense(q) and not map_of(s, q):
            v = q.inputs[1]
            rows = s.op("MatMul", m.weights, s.op("Reshape", v, shape=(v.shape[0], v.size // v.shape[0])))
            kernel = s.op("Reshape", rows, shape=(m.weights.shape[0], *v.shape[1:]))
            yield s.op("Conv", q.inputs[0], kernel, **dict(q.attrs))


def _inputs_mapped(s: Space, w: Tensor, v: Tensor) -> Tensor:
    """w [o, i, *k] over channels that are v [i, j] of others: [o, j, *k]."""
    to_last = (0, *range(2, w.rank), 1)
    to_first = (0, w.rank - 1, *range(1, w.rank - 1))
    return s.op("Transpose", s.op("MatMul", s.op("Transpose", w, perm=to_last), v), perm=to_first)
