"""Maxima: a large window is a small one over the results of another, and monotone maps move behind a pool."""

from __future__ import annotations

import math
from collections.abc import Iterator

from korch.ir.ops.integers import BYTES
from korch.ir.primitive import EXACT, Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.rule import algebra
from korch.rewrite.space import Space

MOST = 4
"""Primitives between bytes and what is pooled."""


@algebra(pays=True, error=EXACT)
def pool_of_pool(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """max over k = max over k - j + 1 of the max over j that there is of the same input (spatial pyramids)."""
    for q in s.graph.consumers.get(p.inputs[0], ()) if _slides(p) else ():
        if _slides(q) and p.attr("channels_last") == q.attr("channels_last"):
            kernel = tuple(k - j + 1 for k, j in zip(p.attr("kernel_shape"), q.attr("kernel_shape"), strict=True))
            pads = tuple(a - b for a, b in zip(p.attr("pads"), q.attr("pads"), strict=True))
            if max(kernel) > 1 and all(0 <= pad < k for pad, k in zip(pads, kernel * 2, strict=True)):
                yield s.op("MaxPool", q.output, **dict(p.attrs, kernel_shape=kernel, pads=pads))


@algebra(error=EXACT)
def pool_of_bytes(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """max over k of f(x) = f(max over k of x), x bytes and f their dequantization, which never decreases."""
    if _takes_maxima(p) and (steps := _from_bytes(s, p.inputs[0])):
        y = s.op(p.op, steps[0].inputs[0], **dict(p.attrs))
        x = steps[0].inputs[0]
        for q in steps:
            y = s.op(q.op, *(y if t == x else t for t in q.inputs), **dict(q.attrs))
            x = q.output
        yield y


def _takes_maxima(p: Primitive) -> bool:
    return p.spec.is_pool and p.spec.picks > 0


def _slides(p: Primitive) -> bool:
    """Whether `p` takes the maximum of every window that fits."""
    return _takes_maxima(p) and {*p.attr("strides"), *p.attr("dilations")} == {1}


def _from_bytes(s: Space, t: Tensor, most: int = MOST) -> list[Primitive]:
    """The monotone primitives, `most` of them, that make t of bytes; empty where others make it."""
    for q in s.producers(t) if most and t.is_float else ():
        if q.spec.casts and q.inputs[0].dtype in BYTES:
            return [q]
        if (x := _monotone_operand(s, q)) and (before := _from_bytes(s, x, most - 1)):
            return [*before, q]
    return []


def _monotone_operand(s: Space, q: Primitive) -> Tensor | None:
    """The operand that `q` shifts by a number, or scales by a positive finite one; None where it does neither."""
    if q.op not in ("Add", "Sub", "Mul", "Div"):
        return None
    x, by = q.inputs
    if not by.const or by.size != 1 or x.shape != q.output.shape:
        return None
    return x if q.op in ("Add", "Sub") or 0 < s.value(by).item() < math.inf else None
