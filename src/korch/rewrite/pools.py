"""Maxima of maxima: a large window is a small one over the results of another."""

from __future__ import annotations

from collections.abc import Iterator

from korch.ir.primitive import EXACT, Primitive
from korch.ir.tensor import Tensor
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


def _slides(p: Primitive) -> bool:
    """Whether `p` takes the maximum of every window that fits."""
    return p.spec.is_pool and p.spec.picks > 0 and {*p.attr("strides"), *p.attr("dilations")} == {1}
