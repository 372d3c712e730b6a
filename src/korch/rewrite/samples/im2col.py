"""Channels-last convolutions with windows, of few channels to many."""

from __future__ import annotations

from random import Random

from korch.ir.builder import Builder
from korch.ir.graph import Graph
from korch.rewrite.evidence.table import sample
from korch.rewrite.im2col import im2col
from korch.rewrite.samples.drawing import conv, graph, pads

MANY = 64


@sample(im2col)
def few_inputs(draw: Random) -> Graph:
    """Overlapping windows, dilated, padded and apart."""
    b = Builder()
    x = b.input("x", "float32", (draw.randint(1, 2), draw.randint(5, 9), draw.randint(5, 9), draw.randint(1, 3)))
    attrs = {
        "pads": pads(draw),
        "strides": (draw.randint(1, 3), draw.randint(1, 3)),
        "dilations": (draw.randint(1, 2), draw.randint(1, 2)),
    }
    return graph(b, conv(b, draw, x, MANY, (draw.randint(1, 3), draw.randint(2, 3)), channels_last=1, **attrs))


@sample(im2col)
def patches(draw: Random) -> Graph:
    """Windows side by side, as vision transformers embed them."""
    b = Builder()
    k = draw.randint(2, 3)
    x = b.input("x", "float32", (1, k * draw.randint(1, 3), k * draw.randint(1, 3), draw.randint(1, 3)))
    return graph(b, conv(b, draw, x, MANY, (k, k), channels_last=1, strides=(k, k)))
