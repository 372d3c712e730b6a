"""Queries, keys and values of several heads that convolutions make together."""

from __future__ import annotations

from random import Random

from korch.ir.builder import Builder, Value
from korch.ir.graph import Graph
from korch.rewrite.channels import channels_of_heads
from korch.rewrite.evidence.table import sample
from korch.rewrite.samples.drawing import activation, conv, graph, weights


def part(b: Builder, x: Value, axis: int, start: int, n: int) -> Value:
    """Positions `start` to `start + n` of one axis."""
    starts = tuple(start if a == axis else 0 for a in range(x.rank))
    return b.op("Slice", x, starts=starts, steps=(1,) * x.rank, lengths=(*x.shape[:axis], n, *x.shape[axis + 1 :]))


@sample(channels_of_heads)
def scales(draw: Random) -> Graph:
    """Of an image and of windows of it, side by side, as linear attention of several scales has them."""
    b = Builder()
    heads, d = draw.randint(2, 3), draw.randint(1, 2)
    x = conv(b, draw, activation(b, draw, 2, smallest=4), heads * 3 * d, (1, 1)) + weights(b, draw, heads * 3 * d, 1, 1)
    window = conv(b, draw, x, x.shape[1], (3, 3), pads=(1,) * 4, group=x.shape[1]) * weights(b, draw, x.shape[1], 1, 1)
    y = b.op("Concat", x, conv(b, draw, window, x.shape[1], (1, 1), group=3 * heads), axis=1)
    n, _, h, w = y.shape
    y = b.op("Transpose", b.op("Reshape", y, shape=(n, 2 * heads, 3 * d, h * w)), perm=(0, 1, 3, 2))
    q, k, v = (part(b, y, 3, i * d, d) for i in range(3))
    return graph(b, q @ (b.op("Transpose", k, perm=(0, 1, 3, 2)) @ v))


@sample(channels_of_heads)
def planes(draw: Random) -> Graph:
    """All queries, then all keys, then all values; scores in between."""
    b = Builder()
    heads, d = draw.randint(1, 3), draw.randint(1, 3)
    y = b.op("Neg", conv(b, draw, activation(b, draw, 2, smallest=4), 3 * heads * d, (1, 1)))
    n, _, h, w = y.shape
    y = b.op("Reshape", y, shape=(n, 3, heads, d, h * w))
    q, k, v = (b.op("Reshape", part(b, y, 1, i, 1), shape=(n, heads, d, h * w)) for i in range(3))
    return graph(b, v @ (b.op("Transpose", q, perm=(0, 1, 3, 2)) @ k))
