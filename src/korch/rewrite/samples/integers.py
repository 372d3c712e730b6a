"""Products and convolutions of scaled bytes with weights on a grid."""

from __future__ import annotations

from random import Random

import numpy as np

from korch.ir.builder import Builder, Value
from korch.ir.graph import Graph
from korch.rewrite.evidence.table import sample
from korch.rewrite.integers import integer_sums
from korch.rewrite.samples.drawing import graph, pads

ROUNDED = "bytes are integers, and steps of a grid are rounded"


@sample(integer_sums, beyond=ROUNDED)
def scaled_convolution(draw: Random) -> Graph:
    b = Builder()
    kernel = (draw.randint(1, 3), draw.randint(1, 3))
    x = dequantized(b, draw, (draw.randint(1, 2), 3, draw.randint(4, 7), draw.randint(4, 7)))
    w = b.constant(on_grid(draw, (5, 3, *kernel), 0))
    strides = (draw.randint(1, 2), draw.randint(1, 2))
    attrs = {"pads": pads(draw), "strides": strides, "dilations": (1, 1), "group": 1, "channels_last": 0}
    return graph(b, b.op("Conv", x, w, **attrs))


@sample(integer_sums, beyond=ROUNDED)
def scaled_product(draw: Random) -> Graph:
    b = Builder()
    rows, length, columns = draw.randint(1, 6), draw.randint(2, 9), draw.randint(1, 5)
    x = dequantized(b, draw, (2, rows, length))
    return graph(b, x @ b.constant(on_grid(draw, (length, columns), 1)))


def dequantized(b: Builder, draw: Random, shape: tuple[int, ...]) -> Value:
    """A scale times bytes, less a zero point half of the times."""
    wide = b.op("Cast", b.input("x", draw.choice(("int8", "uint8")), shape), to="float32")
    return (wide - draw.choice((0.0, 3.0, 117.0))) * draw.choice((0.5, 0.375))


def on_grid(draw: Random, shape: tuple[int, ...], axis: int) -> np.ndarray:
    """Integers times a step for each position of `axis`: a simple fraction, so that float32 has the products."""
    rng = np.random.default_rng(draw.randrange(1 << 16))
    steps = rng.integers(1, 32, shape[axis]).astype(np.float32) / 256
    low = -127 if draw.random() < 0.5 else -3
    numbers = rng.integers(low, low + 255, shape).astype(np.float32)
    return numbers * steps.reshape([-1 if a == axis else 1 for a in range(len(shape))])
