"""Matrix products read out of a match: batch axes folded into rows or merged, transposes, pointwise convolutions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from korch.backends.linear.pattern import Binary, Match, PostOp
from korch.backends.linear.views import Shape, View
from korch.ir import Primitive

PostOps = tuple[PostOp, ...]
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


def transposed(p: Product) -> Product:
    """c^T = b^T a^T"""
    swapped = p.seen(_swap, _swap, _swap)
    assert swapped is not None
    return replace(swapped, a=swapped.b, b=swapped.a, a_const=p.b_const, b_const=p.a_const)


def _swap(v: View) -> View:
    rank = len(v.shape)
    return v.transpose((*range(rank - 2), rank - 1, rank - 2))


def folded(p: Product) -> Product | None:
    """One matrix times one matrix, the batches as rows; None where b has batches or rows do not lie in one stride."""
    if any(p.b.varies(i) for i in range(len(p.batch))):
        return None

    def rows(v: View) -> View | None:
        return v.reshape((math.prod(v.shape[:-1]), v.shape[-1]))

    return p.seen(rows, lambda v: replace(v, shape=v.shape[-2:], strides=v.strides[-2:]), rows)


def merged(p: Product) -> Product | None:
    """The product with one batch axis; None where an operand's batches do not lie in one stride."""

    def one_batch(v: View) -> View | None:
        return v.reshape((math.prod(v.shape[:-2]), *v.shape[-2:]))

    return p.seen(one_batch, one_batch, one_batch)


def has_dense_axis(v: View) -> bool:
    """Whether `v` is a matrix of rows or of columns that are dense."""
    both = (steps(v, -2), steps(v, -1))
    return 1 in both and min(both) > 0


def steps(v: View, axis: int) -> int:
    """The stride along `axis`; 1 where there is nothing to step over."""
    return v.strides[axis] if v.shape[axis] > 1 else 1


def pointwise_product(m: Match) -> Product | None:
    """A 1x1 convolution as a matrix product; None where it is none."""
    if not _is_pointwise(m.linear):
        return None
    w = m.w.reshape(m.w.shape[:2])
    if w is None:
        return None
    return _channels_last_product(m, w) if m.linear.attr("channels_last") else _channels_first_product(m, w)


def _is_pointwise(p: Primitive) -> bool:
    still = set(p.attr("strides")) == {1} and not any(p.attr("pads")) and p.attr("group") == 1
    return p.spec.is_convolution and still and set(p.inputs[1].shape[2:]) == {1}


def _channels_last_product(m: Match, w: View) -> Product:
    """[N, ..., W, C] x [C, O]"""
    w = w.transpose((1, 0)).broadcast((*m.x.shape[:-2], w.shape[1], w.shape[0]))
    return Product(m.x, w, m.output, m.post_ops, b_const=m.w_const, a_const=m.x_const)


def _channels_first_product(m: Match, w: View) -> Product | None:
    """[O, C] x [N, C, positions]"""

    def flat(v: View) -> View | None:
        return v.reshape((*v.shape[:2], math.prod(v.shape[2:])))

    w = w.broadcast((m.x.shape[0], *w.shape))
    product = Product(w, m.x, m.output, m.post_ops, b_const=m.x_const, a_const=m.w_const)
    return product.seen(lambda v: v, flat, flat)
