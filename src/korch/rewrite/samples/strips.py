"""Channels-last convolutions to few channels."""

from __future__ import annotations

from random import Random

from korch.ir.builder import Builder
from korch.ir.graph import Graph
from korch.rewrite.evidence.table import sample
from korch.rewrite.samples.drawing import conv, graph, pads
from korch.rewrite.strips import conv_in_squares, conv_in_strips


@sample(conv_in_strips)
def few_channels(draw: Random) -> Graph:
    b = Builder()
    height, width = draw.randint(5, 8), draw.randint(6, 20)
    x = b.input("x", "float32", (draw.randint(1, 2), height, width, draw.randint(1, 3)))
    kernel = (draw.randint(1, 3), draw.randint(4, 5))
    attrs = {"pads": pads(draw), "strides": (draw.randint(1, 2), 1), "dilations": (draw.randint(1, 2), 1)}
    return graph(b, conv(b, draw, x, draw.choice((1, 3, 4)), kernel, channels_last=1, **attrs))


@sample(conv_in_squares)
def very_few_channels(draw: Random) -> Graph:
    b = Builder()
    height, width = draw.randint(6, 10), draw.randint(6, 13)
    x = b.input("x", "float32", (draw.randint(1, 2), height, width, draw.randint(1, 3)))
    kernel = (draw.randint(4, 5), draw.randint(4, 5))
    return graph(b, conv(b, draw, x, draw.choice((1, 3, 4)), kernel, channels_last=1, pads=pads(draw)))
