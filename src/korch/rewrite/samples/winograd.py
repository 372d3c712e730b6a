"""Channels-last 3x3 convolutions in float64, whose digits show the square roots in F(4, 3)'s folded weights."""

from __future__ import annotations

from random import Random

from korch.ir.builder import Builder
from korch.ir.graph import Graph
from korch.rewrite.evidence.table import sample
from korch.rewrite.samples.drawing import conv, graph, pads
from korch.rewrite.winograd import LEAST_CHANNELS, winograd


@sample(winograd)
def plain_3x3(draw: Random) -> Graph:
    b = Builder()
    x = b.input("x", "float64", (1, draw.randint(5, 8), draw.randint(5, 8), LEAST_CHANNELS))
    return graph(b, conv(b, draw, x, LEAST_CHANNELS, channels_last=1, pads=pads(draw, 1)))
