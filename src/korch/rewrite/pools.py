"""Maxima: a large window is a small one over the results of another, and dequantization moves behind a pool."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from korch.ir.primitive import EXACT, Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.integers import codes_of
from korch.rewrite.rule import algebra
from korch.rewrite.space import Space


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
    """max over k of v (x - z) = v (max over k of x - z), x bytes and v a positive scale."""
    codes = codes_of(p.inputs[0], s.graph) if _takes_maxima(p) else None
    if codes and codes.scale.const and 0 < s.value(codes.scale).item() < math.inf:
        wide = s.op("Cast", s.op(p.op, codes.tensor, **dict(p.attrs)), to=p.output.dtype)
        if codes.zero:
            wide = s.op("Sub", wide, s.constant(np.asarray(codes.zero, np.float64), p.output.dtype))
        yield s.op("Mul", wide, codes.scale)


def _takes_maxima(p: Primitive) -> bool:
    return p.spec.is_pool and p.spec.picks > 0


def _slides(p: Primitive) -> bool:
    """Whether `p` takes the maximum of every window that fits."""
    return _takes_maxima(p) and {*p.attr("strides"), *p.attr("dilations")} == {1}
