"""Linear primitives on different axes commute: the cheaper order is where the tensor between them is small."""

from __future__ import annotations

from collections.abc import Iterator

from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.maps import along, map_of, mapped, shift_along
from korch.rewrite.moves import axis_after, axis_before, keeps_constants, moved
from korch.rewrite.rule import algebra
from korch.rewrite.space import Space


@algebra()
def map_before_move(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """W move(x) = move(W x), where `move` (resizing, picking, pooling, views) works on other axes than W."""
    m = map_of(s, p)
    for q in s.producers(m.x) if m else ():
        axis = axis_before(q, m.axis) if m else None
        if m and axis is not None and q.inputs[0].size <= q.output.size:
            y = mapped(s, m.weights, q.inputs[0], axis)
            yield None if y is None else moved(s, q, y, axis)


@algebra()
def move_before_map(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """move(W x) = W move(x), where `move` leaves less: pooling, reducing, cutting."""
    for q in s.producers(p.inputs[0]) if _shrinks(p) else ():
        m = map_of(s, q)
        after = axis_after(p, m.axis) if m else None
        if m and after is not None:
            yield mapped(s, m.weights, moved(s, p, m.x, m.axis), after)


@algebra()
def move_before_shift(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """move(x + v) = move(x) + v along another axis, where the weights of `move` sum to 1 and it leaves less."""
    for q in s.producers(p.inputs[0]) if _shrinks(p) and keeps_constants(p) else ():
        for axis in range(p.inputs[0].rank):
            found, after = shift_along(s, q, axis), axis_after(p, axis)
            if found and after is not None:
                y = moved(s, p, found[0], axis)
                yield s.op("Add", y, along(s, found[1], y, after))


def _shrinks(p: Primitive) -> bool:
    return p.output.size < p.inputs[0].size and any(axis_after(p, a) is not None for a in range(p.inputs[0].rank))
