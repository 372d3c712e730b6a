"""Grouped channels-last convolutions: of single channels with multipliers, and of a few."""

from __future__ import annotations

from random import Random

import numpy as np

from korch.ir.builder import Builder
from korch.ir.graph import Graph
from korch.rewrite.evidence.table import sample
from korch.rewrite.groups import repeated_channels, wider_groups
from korch.rewrite.samples.drawing import graph, numbers, pads


@sample(repeated_channels)
def multiplied_channels(draw: Random) -> Graph:
    """Of images and of sound, strided and dilated."""
    return _grouped(draw, draw.randint(2, 5), 1, draw.randint(2, 3))


@sample(wider_groups)
def narrow_groups(draw: Random) -> Graph:
    """Of which all or some become one."""
    return _grouped(draw, draw.choice((2, 4, 6, 12)), draw.randint(2, 4), draw.randint(2, 4))


def _grouped(draw: Random, groups: int, inputs: int, outputs: int) -> Graph:
    axes, steps = draw.randint(1, 2), tuple(draw.randint(1, 2) for _ in range(4))
    b = Builder()
    x = b.input("x", "float32", (draw.randint(1, 2), *(draw.randint(5, 8) for _ in range(axes)), groups * inputs))
    w = b.constant(numbers(draw, groups * outputs, inputs, *(3,) * axes).astype(np.float32))
    return graph(
        b,
        b.op(
            "Conv",
            x,
            w,
            strides=steps[:axes],
            dilations=steps[2 : 2 + axes],
            pads=pads(draw, 2 * axes),
            group=groups,
            channels_last=1,
        ),
    )
