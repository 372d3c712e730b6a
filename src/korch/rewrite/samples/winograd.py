"""Channels-last convolutions in float64, whose digits show the square roots in the folded weights of six points.

The kernels of a few channels recur, as a field takes long to read all that may be folded from many.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np

from korch.ir.builder import Builder
from korch.ir.graph import Graph
from korch.rewrite.evidence.table import sample
from korch.rewrite.samples.drawing import graph, numbers, pads
from korch.rewrite.winograd import LEAST_CHANNELS, winograd

DISTINCT = 2


@sample(winograd)
def plain_3x3(draw: Random) -> Graph:
    lengths = draw.randint(5, 8), draw.randint(5, 8)
    return _single(draw, "Conv", lengths, 3, strides=(1, 1), pads=pads(draw, 1))


@sample(winograd)
def grouped_3x3(draw: Random) -> Graph:
    lengths = draw.randint(5, 8), draw.randint(5, 8)
    return _single(draw, "Conv", lengths, 3, 2, strides=(1, 1), pads=pads(draw, 1))


@sample(winograd)
def strided_3x3(draw: Random) -> Graph:
    """5 or 6 outputs an axis, for tiles of 5 or of 2 and 3; some with a last sample that no window reaches."""
    top, left, bottom, right = beside = pads(draw, 2)
    lengths = [2 * draw.randint(5, 6) + draw.randint(1, 2) - around for around in (top + bottom, left + right)]
    return _single(draw, "Conv", lengths, 3, strides=(2, 2), pads=beside)


@sample(winograd)
def plain_2x2(draw: Random) -> Graph:
    lengths = draw.randint(6, 8), draw.randint(6, 8)
    return _single(draw, "Conv", lengths, 2, strides=(1, 1), pads=pads(draw, 1))


@sample(winograd)
def along_a_signal(draw: Random) -> Graph:
    pads = draw.randint(0, 2), draw.randint(0, 2)
    return _single(draw, "Conv", (draw.randint(8, 14),), draw.choice((3, 5)), strides=(1,), pads=pads)


@sample(winograd)
def through_frames(draw: Random) -> Graph:
    begin, end = (draw.randint(0, 2), 1, 0), (draw.randint(0, 1), 0, 1)
    lengths = draw.randint(2, 3), draw.randint(5, 6), draw.randint(5, 6)
    strides = draw.randint(1, 2), 1, 1
    return _single(draw, "Conv", lengths, (2, 3, 3), strides=strides, pads=(*begin, *end))


@sample(winograd)
def transposed_4x4(draw: Random) -> Graph:
    begin, ends = [draw.randint(0, 3) for _ in range(2)], [draw.randint(10, 11) for _ in range(2)]
    lengths = [5 + pad // 3 for pad in begin]
    beside = (max(0, 2 * n + 2 - pad - end) for n, pad, end in zip(lengths, begin, ends, strict=True))
    return _single(
        draw,
        "ConvTranspose",
        lengths,
        4,
        strides=(2, 2),
        pads=(*begin, *beside),
        output_shape=(1, *ends, LEAST_CHANNELS),
    )


def _single(
    draw: Random, op: str, lengths: Sequence[int], taps: int | Sequence[int], groups: int = 1, **attrs: Any
) -> Graph:
    window = [taps] * len(lengths) if isinstance(taps, int) else taps
    b = Builder()
    x = b.input("x", "float64", (1, *lengths, groups * LEAST_CHANNELS))
    few = numbers(draw, DISTINCT, LEAST_CHANNELS, *window).astype(np.float64)
    w = b.constant(np.resize(few, (groups * LEAST_CHANNELS, *few.shape[1:])))
    return graph(b, b.op(op, x, w, dilations=(1,) * len(lengths), group=groups, channels_last=1, **attrs))
