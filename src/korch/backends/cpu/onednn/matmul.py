"""Matrix products as oneDNN calls: batch axes folded into rows or merged, transposed results by swapping operands."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from korch.backends.cpu.onednn.call import Call, PostOps, with_bias
from korch.backends.cpu.onednn.pattern import Binary, Match
from korch.backends.cpu.onednn.views import Shape, View

Move = Callable[[View], View | None]


@dataclass(frozen=True, slots=True)
class Product:
    """c[batch..., M, N] = post_ops(a[batch..., M, K] x b[batch..., K, N]); operands' missing batches have stride 0."""

    a: View
    b: View
    c: View
    post_ops: PostOps
    b_const: bool
    a_const: bool

    @property
    def batch(self) -> Shape:
        return self.c.shape[:-2]

    def seen(self, a: Move, b: Move, c: Move) -> Product | None:
        """The same product with every view looked at otherwise; None where one cannot be."""
        views = (a(self.a), b(self.b), c(self.c))
        post_ops = tuple(_seen(op, c) for op in self.post_ops)
        if None in views or None in post_ops:
            return None
        return replace(self, a=views[0], b=views[1], c=views[2], post_ops=post_ops)


def _seen(op: object, move: Move) -> object | None:
    if not isinstance(op, Binary):
        return op
    operand = move(op.operand)
    return None if operand is None else replace(op, operand=operand)


def matmul_product(m: Match) -> Product:
    """The numpy-style MatMul of `m`."""
    batch = m.output.shape[:-2]
    a, b = (v.broadcast((*batch, *v.shape[-2:])) for v in (m.x, m.w))
    return Product(a, b, m.output, m.post_ops, b_const=m.w_const, a_const=m.x_const)


def product_calls(product: Product, form: str) -> tuple[Call, ...]:
    """The calls that compute `product`, as it stands and as its transpose."""
    sides = ((_compact(product), form), (_compact(_transposed(product)), f"{form} transposed"))
    return tuple(_call(p, text) for p, text in sides if _is_runnable(p))


def _call(p: Product, form: str) -> Call:
    order = tuple(range(len(p.c.shape)))
    return with_bias(Call("matmul", p.a, p.b, p.c, p.post_ops, order, pack_weights=p.b_const, form=form))


def _transposed(p: Product) -> Product:
    """c^T = b^T a^T"""
    swapped = p.seen(_swap, _swap, _swap)
    assert swapped is not None
    return replace(swapped, a=swapped.b, b=swapped.a, a_const=p.b_const, b_const=p.a_const)


def _swap(v: View) -> View:
    rank = len(v.shape)
    return v.transpose((*range(rank - 2), rank - 1, rank - 2))


def _compact(p: Product) -> Product:
    """The product with the fewest axes: batches as rows where b is one matrix, else batches as one axis."""
    compact = _folded(p) or _merged(p) or p
    return _with_unit_batch(compact) if _has_row_operand(compact) else compact


def _has_row_operand(p: Product) -> bool:
    """Whether a post-op's operand is one number a row, which oneDNN knows only as "per channel" of three axes."""
    operands = (op.operand for op in p.post_ops if isinstance(op, Binary))
    return len(p.c.shape) == 2 and any(v.varies(0) and not v.varies(1) for v in operands)


def _with_unit_batch(p: Product) -> Product:
    def unit(v: View) -> View:
        return replace(v, shape=(1, *v.shape), strides=(0, *v.strides))

    batched = p.seen(unit, unit, unit)
    assert batched is not None
    return batched


def _folded(p: Product) -> Product | None:
    if any(p.b.varies(i) for i in range(len(p.batch))):
        return None

    def rows(v: View) -> View | None:
        return v.reshape((math.prod(v.shape[:-1]), v.shape[-1]))

    return p.seen(rows, lambda v: replace(v, shape=v.shape[-2:], strides=v.strides[-2:]), rows)


def _merged(p: Product) -> Product | None:
    def one_batch(v: View) -> View | None:
        return v.reshape((math.prod(v.shape[:-2]), *v.shape[-2:]))

    return p.seen(one_batch, one_batch, one_batch)


def _is_runnable(p: Product) -> bool:
    """oneDNN takes matrices with one dense axis (packing takes any) and results with a dense last axis."""
    return _has_dense_axis(p.a) and (p.b_const or _has_dense_axis(p.b)) and (_steps(p.c, -1) == 1)


def _has_dense_axis(v: View) -> bool:
    steps = (_steps(v, -2), _steps(v, -1))
    return 1 in steps and min(steps) > 0


def _steps(v: View, axis: int) -> int:
    """The stride along `axis`; 1 where there is nothing to step over."""
    return v.strides[axis] if v.shape[axis] > 1 else 1
