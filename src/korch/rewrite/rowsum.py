"""What scales the rows of a matrix moves through a product; a row sum is a product with a column of ones."""

from __future__ import annotations

from collections.abc import Iterator

from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.rule import algebra
from korch.rewrite.space import Space

SCALING = ("Mul", "Div")
MANY = 8
"""Rows for each column from which a pass over the rows costs all, and what is done to a single row nothing."""


@algebra(pays=True, laws=("(A / v) @ B = (A @ B) / v",))
def scale_behind_product(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """(A / r) B = (A B) / r, r one number a row, where A B is smaller than A (softmax before values)."""
    for q in s.producers(p.inputs[0]) if p.spec.is_product and p.output.size < p.inputs[0].size else ():
        for a, r in _scaled_rows(q):
            yield s.op(q.op, s.op("MatMul", a, p.inputs[1]), r)


@algebra(pays=True, laws=("(A / v) @ B = (A @ B) / v",))
def scale_before_product(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """(A B) / r = (A / r) B, r one number a row, where A is smaller than A B."""
    for y, r in _scaled_rows(p):
        for q in s.producers(y):
            if q.spec.is_product and q.inputs[0].size < y.size and q.inputs[0].shape[:-1] == y.shape[:-1]:
                yield s.op("MatMul", s.op(p.op, q.inputs[0], r), q.inputs[1])


@algebra(laws=("(A / v) @ B = (A @ B) / v",))
def norm_before_product(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """(A B) / (A v + c) = (A / (row sums of A * v^T + c)) B, for many rows: one pass sums a row and divides it.

    The sums are not noted as equal to A v, or cones would mix all that is made of the one with all of the other.
    """
    for q in s.producers(p.inputs[0]) if p.op == "Div" and _scaled_rows(p) else ():
        if q.spec.is_product and q.inputs[0].shape == p.output.shape:
            for norm in _norms(s, p.inputs[1], q.inputs[0]):
                yield s.op("MatMul", s.op("Div", q.inputs[0], norm), q.inputs[1])


def _norms(s: Space, r: Tensor, a: Tensor) -> Iterator[Tensor]:
    """r, which is a v or a v + c, made of row sums."""
    for q in s.producers(r):
        if q.spec.is_product and q.inputs[0] == a and _is_computed(q, a) and a.shape[-2] >= MANY * a.shape[-1]:
            v = q.inputs[1]
            row = s.op("Transpose", v, perm=(*range(v.rank - 2), v.rank - 1, v.rank - 2))
            yield s.op("ReduceSum", s.op("Mul", a, row), axes=(a.rank - 1,), keepdims=1)
        elif q.op == "Add" and q.inputs[1].const and q.inputs[0].shape == r.shape:
            yield from (s.op("Add", norm, q.inputs[1]) for norm in _norms(s, q.inputs[0], a))


@algebra(pays=True)
def row_sum_in_product(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """(A / sum A) B = C / c with [C c] = A [B 1]: one product gives the row sums too (paper, Figure 2)."""
    for q in s.producers(p.inputs[0]) if p.spec.is_product and p.inputs[1].rank == p.output.rank else ():
        if q.op == "Div" and _scaled_rows(q) and any(_sums_rows(r, q.inputs[0]) for r in s.producers(q.inputs[1])):
            n, both = p.inputs[1].shape[-1], _with_row_sums(s, q.inputs[0], p.inputs[1])
            yield s.op("Div", _columns(s, both, 0, n), _columns(s, both, n, 1))


@algebra(pays=True)
def row_sum_beside_product(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """A B and sum A are columns of A [B 1], whatever reads them, where B is no larger than A (linear attention)."""
    a = p.inputs[0]
    readers = s.graph.consumers.get(a, ())
    product = next((q for q in readers if q.spec.is_product and _is_computed(q, a)), None)
    if product and p in readers and (p == product or _sums_rows(p, a)) and any(_sums_rows(q, a) for q in readers):
        n, both = product.output.shape[-1], _with_row_sums(s, a, product.inputs[1])
        yield _columns(s, both, 0, n) if p == product else _columns(s, both, n, 1)


def _is_computed(p: Primitive, a: Tensor) -> bool:
    """Whether `p` multiplies `a` by a matrix that is no constant, one a batch, and no larger."""
    b = p.inputs[1]
    return p.inputs[0] == a and not a.const and not b.const and b.shape[:-2] == a.shape[:-2] and b.size <= a.size


def _with_row_sums(s: Space, a: Tensor, b: Tensor) -> Tensor:
    """A [B 1]."""
    more = (*(0,) * (2 * b.rank - 1), 1)
    return s.op("MatMul", a, s.op("Pad", b, pads=more, mode="constant", value=1.0))


def _scaled_rows(p: Primitive) -> list[tuple[Tensor, Tensor]]:
    """(x, r) where `p` multiplies or divides each row of x by one number, r.

    Not in half precision: a sum of 256 terms of 300 is beyond it, though their average is not, and nothing says that
    what is small on one side of a product is so on the other.
    """
    if p.op not in SCALING or any(t.const for t in p.inputs) or p.output.dtype not in ("float32", "float64"):
        return []
    pairs = (p.inputs, p.inputs[::-1]) if p.op == "Mul" else (p.inputs,)
    return [(x, r) for x, r in pairs if x.rank >= 2 and x.shape == p.output.shape and r.shape == (*x.shape[:-1], 1)]


def _sums_rows(r: Primitive, x: Tensor) -> bool:
    return r.op == "ReduceSum" and r.inputs[0] == x and r.attr("axes") == (x.rank - 1,) and bool(r.attr("keepdims"))


def _columns(s: Space, x: Tensor, start: int, n: int) -> Tensor:
    starts = (*(0,) * (x.rank - 1), start)
    return s.op("Slice", x, starts=starts, steps=(1,) * x.rank, lengths=(*x.shape[:-1], n))
