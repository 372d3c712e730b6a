"""Products just large enough, and 1x1 convolutions of channels-last images."""

from __future__ import annotations

from random import Random

from korch.ir.builder import Builder
from korch.ir.graph import Graph
from korch.rewrite.evidence.table import sample
from korch.rewrite.samples.drawing import conv, graph, weights
from korch.rewrite.strassen import strassen

SIDES = ((448, 448), (416, 512), (512, 384))
"""Input and output channels."""


@sample(strassen)
def rows(draw: Random) -> Graph:
    """Two products of one tensor, which share its sums."""
    b = Builder()
    c, k = draw.choice(SIDES)
    x = b.input("x", "float32", draw.choice([(64, c), (2, 33, c), (1, 5, 14, c)]))
    return graph(b, *(x @ weights(b, draw, c, k) for _ in range(draw.randint(1, 2))))


@sample(strassen)
def image(draw: Random) -> Graph:
    """Also with rows of an odd width."""
    b = Builder()
    c, k = draw.choice(SIDES)
    x = b.input("x", "float32", (draw.randint(1, 2), 2 * draw.randint(4, 5), draw.randint(8, 9), c))
    return graph(b, conv(b, draw, x, k, (1, 1), channels_last=1))
