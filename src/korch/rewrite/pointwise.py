"""A convolution of single positions is a matrix product: what is known of products holds for it.

The way back needs no rule of its own: `map_before_move` takes a product with constant weights through the views of
an image and writes it as a convolution there (`maps.mapped`).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from korch.ir.ops.windows import is_still
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.rule import algebra
from korch.rewrite.space import Space


@algebra()
def pointwise_as_product(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """conv(x, W) = W x, W [o, i, 1, ..] a matrix, the positions of x in a row; where it meets another product."""
    if p.spec.is_convolution and is_still(p) and p.attr("group") == 1 and not p.attr("channels_last"):
        x, w = p.inputs
        if not w.const or _meets_a_product(s, p.output):
            rows = s.op("Reshape", x, shape=(*x.shape[:2], prod(x.shape[2:])))
            yield s.op("Reshape", s.op("MatMul", s.op("Reshape", w, shape=w.shape[:2]), rows), shape=p.output.shape)


def _meets_a_product(s: Space, t: Tensor) -> bool:
    """Whether a product reads t, or t with its positions in a row: elsewhere the algebra of maps says it all."""
    rows = (t, *(q.output for q in s.consumers(t) if q.spec.regroups))
    return any(q.spec.is_product for r in rows for q in s.consumers(r))
