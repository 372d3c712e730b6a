"""Networks that pool one tensor by several windows."""

from __future__ import annotations

from random import Random

from korch.ir.builder import Builder
from korch.ir.graph import Graph
from korch.rewrite.evidence.table import sample
from korch.rewrite.pools import pool_of_bytes, pool_of_pool
from korch.rewrite.samples.drawing import activation, graph
from korch.rewrite.samples.integers import dequantized


@sample(pool_of_pool)
def pyramid(draw: Random) -> Graph:
    """Windows inside others, padded by as much as they may be."""
    b = Builder()
    x = activation(b, draw, 2, smallest=7)
    small = [draw.randint(1, 3) for _ in range(2)]
    large = [k + draw.randint(1, 2) for k in small]
    pads = [draw.randint(0, k - 1) for k in (*small, *small)]
    more = [pad + draw.randint(0, k - j) for pad, k, j in zip(pads, large * 2, small * 2, strict=True)]
    plain = {"strides": (1, 1), "dilations": (1, 1), "channels_last": 0}
    ys = [b.op("MaxPool", x, kernel_shape=tuple(k), pads=tuple(p), **plain) for k, p in ((small, pads), (large, more))]
    return graph(b, *ys)


@sample(pool_of_bytes, beyond="an order that scales keep is none of a field")
def dequantized_windows(draw: Random) -> Graph:
    """Bytes, less a zero point and scaled, then the maxima of windows."""
    b = Builder()
    x = dequantized(b, draw, (draw.randint(1, 2), 2, draw.randint(4, 7), draw.randint(4, 7)))
    kernel = [draw.randint(2, 3) for _ in range(2)]
    pads = tuple(draw.randint(0, k - 1) for k in kernel * 2)
    strides = (draw.randint(1, 2), draw.randint(1, 2))
    attrs = {"strides": strides, "dilations": (1, 1), "channels_last": 0}
    return graph(b, b.op("MaxPool", x, kernel_shape=tuple(kernel), pads=pads, **attrs))
