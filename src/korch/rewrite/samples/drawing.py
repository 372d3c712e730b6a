"""What samples draw: lengths and weights."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from korch.ir.builder import Builder, Value
from korch.ir.graph import Graph
from korch.ir.ops.table import Array

WEIGHTS = range(2, 20)
"""Magnitudes: products of a few such weights are exact in float32, and so are folded ones; sums rarely cancel."""


def weights(b: Builder, draw: Random, *shape: int, dtype: str = "float32") -> Value:
    """A constant of small whole numbers, none of them zero or one: what a rule folds must leave traces."""
    return b.constant(numbers(draw, *shape).astype(dtype))


def numbers(draw: Random, *shape: int) -> Array:
    """What `weights` are."""
    rng = np.random.default_rng(draw.getrandbits(32))
    return rng.choice(WEIGHTS, shape) * rng.choice([-1, 1], shape)


def conv(b: Builder, draw: Random, x: Value, outputs: int, kernel: tuple[int, int] = (3, 3), **attrs: Any) -> Value:
    """A convolution of an activation with small weights; `attrs` beside the plain ones."""
    plain = dict[str, Any](strides=(1, 1), pads=(0,) * 4, dilations=(1, 1), group=1, channels_last=0) | attrs
    channels = x.shape[3] if plain["channels_last"] else x.shape[1]
    w = weights(b, draw, outputs, channels // plain["group"], *kernel, dtype=x.dtype)
    return b.op("Conv", x, w, **plain)


def activation(b: Builder, draw: Random, channels: int, smallest: int = 3, largest: int = 8) -> Value:
    """An input [1 or 2, channels, height, width]."""
    shape = (draw.randint(1, 2), channels, draw.randint(smallest, largest), draw.randint(smallest, largest))
    return b.input("x", "float32", shape)


def pads(draw: Random, largest: int = 2) -> tuple[int, int, int, int]:
    """Pads of two spatial axes."""
    top, left, bottom, right = (draw.randint(0, largest) for _ in range(4))
    return top, left, bottom, right


def graph(b: Builder, *outputs: Value) -> Graph:
    """The graph with outputs y0, y1, …"""
    return b.graph([(f"y{i}", y) for i, y in enumerate(outputs)])
