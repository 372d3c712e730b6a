"""Dilated channels-last convolutions, in float64 as those of `winograd.py`."""

from __future__ import annotations

from random import Random

import numpy as np

from korch.ir.builder import Builder
from korch.ir.graph import Graph
from korch.rewrite.dilated import dilated_convolutions
from korch.rewrite.evidence.table import sample
from korch.rewrite.samples.drawing import graph, numbers, pads
from korch.rewrite.winograd import LEAST_CHANNELS


@sample(dilated_convolutions)
def dilated_3x3(draw: Random) -> Graph:
    """From images that are whole steps and such as are not."""
    d, channels = draw.randint(2, 3), LEAST_CHANNELS
    b = Builder()
    x = b.input("x", "float64", (draw.randint(1, 2), draw.randint(7, 10), draw.randint(7, 10), channels))
    w = b.constant(numbers(draw, channels, channels, 3, 3).astype(np.float64))
    return graph(b, b.op("Conv", x, w, strides=(1, 1), pads=pads(draw, 4), dilations=(d, d), group=1, channels_last=1))


@sample(dilated_convolutions)
def dilated_signal(draw: Random) -> Graph:
    d, channels, around = draw.randint(2, 4), LEAST_CHANNELS, (draw.randint(0, 5), draw.randint(0, 5))
    b = Builder()
    x = b.input("x", "float64", (draw.randint(1, 2), draw.randint(9, 16), channels))
    w = b.constant(numbers(draw, channels, channels, 3).astype(np.float64))
    return graph(b, b.op("Conv", x, w, strides=(1,), pads=around, dilations=(d,), group=1, channels_last=1))
