"""Variances, as norms take them."""

from __future__ import annotations

from random import Random

from korch.ir.builder import Builder, Value
from korch.ir.graph import Graph
from korch.rewrite.evidence.table import sample
from korch.rewrite.moments import one_pass_variance
from korch.rewrite.samples.drawing import graph

NO_SIGN = "that a variance is not negative is nothing a field could know"


@sample(one_pass_variance, beyond=NO_SIGN)
def variances(draw: Random) -> Graph:
    """Of enough elements, the square as a product or as a power, the reduced axes kept or not."""
    b = Builder()
    return variance(b, draw, b.input("x", "float32", (draw.randint(2, 3), 513, draw.randint(2, 3), 257)))


def variance(b: Builder, draw: Random, x: Value) -> Graph:
    """mean (x - mean x)^2 over at least the second axis."""
    axes = draw.choice(((1,), (1, 3), (1, 2, 3)))
    centred = x - b.op("ReduceMean", x, axes=axes, keepdims=1)
    square = draw.choice((centred * centred, b.op("Pow", centred, 2.0)))
    return graph(b, b.op("ReduceMean", square, axes=axes, keepdims=draw.randint(0, 1)))


@sample(one_pass_variance, beyond=NO_SIGN)
def spreads(draw: Random) -> Graph:
    """Around what is no mean of the same elements."""
    b = Builder()
    x, m = b.input("x", "float32", (2, 513, draw.randint(2, 3), 257)), b.input("m", "float32", (2, 513, 1, 1))
    centred = x - m
    return graph(b, b.op("ReduceMean", centred * centred, axes=(2, 3), keepdims=1))


def small_variances(draw: Random) -> Graph:
    """Of fewer elements than the rule is for."""
    b = Builder()
    return variance(b, draw, b.input("x", "float32", (2, draw.randint(5, 9), draw.randint(2, 4), 3)))
