"""Channels-last convolutions with wide windows, in float64 as those of `winograd.py`."""

from __future__ import annotations

from random import Random

import numpy as np

from korch.ir.builder import Builder
from korch.ir.graph import Graph
from korch.rewrite.blocks import conv_in_blocks
from korch.rewrite.evidence.table import sample
from korch.rewrite.samples.drawing import graph, numbers


@sample(conv_in_blocks)
def wide_windows(draw: Random) -> Graph:
    """5x5, from images that are whole blocks and such as are not; tiles enough for the weights."""
    top, left = draw.randint(0, 4), draw.randint(0, 4)
    height, width = 2 * draw.randint(7, 8), 2 * draw.randint(31, 32)
    b = Builder()
    x = b.input("x", "float64", (1, height + 4 - top, width + 4 - left, 2))
    w = b.constant(numbers(draw, 2, 2, 5, 5).astype(np.float64))
    return graph(
        b, b.op("Conv", x, w, strides=(1, 1), pads=(top, left, 0, 0), dilations=(1, 1), group=1, channels_last=1)
    )
