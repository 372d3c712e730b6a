"""Depthwise channels-last convolutions with channel multipliers."""

from __future__ import annotations

from random import Random

from korch.ir.builder import Builder
from korch.ir.graph import Graph
from korch.rewrite.depthwise import repeated_channels
from korch.rewrite.evidence.table import sample
from korch.rewrite.samples.drawing import graph, numbers, pads


@sample(repeated_channels)
def multiplied_channels(draw: Random) -> Graph:
    """Of images and of sound, strided and dilated."""
    axes, channels, each = draw.randint(1, 2), draw.randint(2, 5), draw.randint(2, 3)
    steps = tuple(draw.randint(1, 2) for _ in range(2 * axes))
    b = Builder()
    x = b.input("x", "float32", (draw.randint(1, 2), *(draw.randint(5, 8) for _ in range(axes)), channels))
    w = b.constant(numbers(draw, channels * each, 1, *(3,) * axes))
    return graph(b, b.op("Conv", x, w, strides=steps[:axes], dilations=steps[axes:], pads=pads(draw, 2 * axes),
                         group=channels, channels_last=1))  # fmt: skip
