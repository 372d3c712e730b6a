"""The map that joins the heads of attention goes into what each head multiplies its rows by."""

from __future__ import annotations

from collections.abc import Iterator

from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.maps import Map, map_of
from korch.rewrite.rule import algebra
from korch.rewrite.space import Space

MANY = 8
"""Rows for each output of the map, from which products with all rows cost many times what one with its weights does."""


@algebra(counts=False)
def map_into_heads(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """W join(A_h B_h) = join(A_h) stack(B_h W_h), W_h what W has for head h: the products A_h B_h are gone.

    For computed B_h with no fewer columns than rows and many rows A_h (linear attention): saves all but a few of the
    multiply-adds of A_h B_h.
    """
    m = map_of(s, p)
    for x in _heads(s, m) if m else ():
        for q in s.producers(x):
            if m and q.spec.is_product and _is_tall(q, m.outputs):
                rows = s.op("MatMul", _joined(s, q.inputs[0]), _stacked(s, q.inputs[1], m.weights))
                yield _laid_out(s, rows, p.output, m.axis)


def _heads(s: Space, m: Map) -> Iterator[Tensor]:
    """The tensors [n, heads, rows, e] whose heads m's input joins along its axis."""
    for r in s.producers(m.x):
        for t in s.producers(r.inputs[0]) if r.spec.regroups else ():
            if t.spec.permutes and t.output.rank == 4 and _merges_heads(t, m):
                yield t.inputs[0]


def _merges_heads(t: Primitive, m: Map) -> bool:
    """Whether `t` and a Reshape bring heads and their columns to the axis of `m`, the last one or that of channels."""
    n, heads, _, e = t.inputs[0].shape
    if m.axis == m.x.rank - 1:
        return t.attr("perm") == (0, 2, 1, 3) and m.x.shape[-1] == heads * e
    return m.axis == 1 and t.attr("perm") == (0, 1, 3, 2) and m.x.shape[:2] == (n, heads * e)


def _is_tall(q: Primitive, outputs: int) -> bool:
    (a, b), rows = q.inputs, q.output.shape[-2]
    computed = not a.const and not b.const and a.shape[:-2] == b.shape[:-2]
    return computed and b.shape[-2] <= b.shape[-1] and rows >= MANY * outputs


def _joined(s: Space, a: Tensor) -> Tensor:
    """a [n, heads, rows, d] as [n, rows, heads * d], as [rows, heads * d] where n is 1."""
    n, heads, rows, d = a.shape
    return s.op("Reshape", s.op("Transpose", a, perm=(0, 2, 1, 3)), shape=(*_batch(n), rows, heads * d))


def _stacked(s: Space, b: Tensor, w: Tensor) -> Tensor:
    """b [n, heads, d, e] times w [o, heads * e], each head by its part of w: [n, heads * d, o]."""
    n, heads, d, e = b.shape
    parts = s.op("Reshape", s.op("Transpose", w, perm=(1, 0)), shape=(1, heads, e, w.shape[0]))
    return s.op("Reshape", s.op("MatMul", b, parts), shape=(*_batch(n), heads * d, w.shape[0]))


def _batch(n: int) -> tuple[int, ...]:
    return () if n == 1 else (n,)


def _laid_out(s: Space, rows: Tensor, y: Tensor, axis: int) -> Tensor:
    """`rows` [.., o] in the shape of y, o along `axis`."""
    last = s.op("Reshape", rows, shape=(*y.shape[:axis], *y.shape[axis + 1 :], y.shape[axis]))
    return s.op("Transpose", last, perm=(*range(axis), y.rank - 1, *range(axis, y.rank - 1)))
