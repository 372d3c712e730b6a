"""Matrix products are associative: the order with the fewest multiply-adds is as good as another."""

from __future__ import annotations

from collections.abc import Iterator

from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.rule import algebra
from korch.rewrite.space import Space


@algebra(laws=("(A @ B) @ C = A @ (B @ C)",))
def product_to_the_right(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """(A B) C = A (B C), where that takes fewer multiply-adds (linear attention)."""
    for q in s.producers(p.inputs[0]) if p.spec.is_product else ():
        if q.spec.is_product and _same_batch(q.inputs[0], q.inputs[1], p.inputs[1]):
            (a, b), c = q.inputs, p.inputs[1]
            m, k, n, j = a.shape[-2], a.shape[-1], b.shape[-1], c.shape[-1]
            if not (b.const and c.const) and k * n * j + m * k * j < m * k * n + m * n * j:
                yield s.op("MatMul", a, s.op("MatMul", b, c))


@algebra(laws=("(A @ B) @ C = A @ (B @ C)",))
def product_to_the_left(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """A (B C) = (A B) C, where that takes fewer multiply-adds."""
    for q in s.producers(p.inputs[1]) if p.spec.is_product else ():
        if q.spec.is_product and _same_batch(p.inputs[0], q.inputs[0], q.inputs[1]):
            a, (b, c) = p.inputs[0], q.inputs
            m, k, n, j = a.shape[-2], a.shape[-1], b.shape[-1], c.shape[-1]
            if not (a.const and b.const) and m * k * n + m * n * j < k * n * j + m * k * j:
                yield s.op("MatMul", s.op("MatMul", a, b), c)


def _same_batch(a: Tensor, b: Tensor, c: Tensor) -> bool:
    """Whether no product repeats another: as many of each, or one constant between that serves every batch alike."""
    return a.shape[:-2] == c.shape[:-2] and (b.shape[:-2] == a.shape[:-2] or (b.const and b.rank == 2))
