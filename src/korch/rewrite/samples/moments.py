"""Variances, as norms take them."""

from __future__ import annotations

from random import Random

from korch.ir.builder import Builder
from korch.ir.graph import Graph
from korch.rewrite.evidence.table import sample
from korch.rewrite.moments import one_pass_variance
from korch.rewrite.samples.drawing import graph

NO_SIGN = "that a variance is not negative is nothing a field could know"


@sample(one_pass_variance, beyond=NO_SIGN)
def norms(draw: Random) -> Graph:
    """(x - mean) / deviation, the square as a product or a power; the bare variance without the reduced axes."""
    b = Builder()
    x = b.input("x", "float32", (draw.randint(1, 2), 2, draw.randint(91, 99), 2, draw.randint(91, 99)))
    axes = draw.choice(((2, 4), (2, 3, 4), (1, 2, 4)))
    centred = x - b.op("ReduceMean", x, axes=axes, keepdims=1)
    square = draw.choice((centred * centred, b.op("Pow", centred, 2.0)))
    deviation = b.op("Sqrt", b.op("ReduceMean", square, axes=axes, keepdims=1) + 1e-5)
    return graph(b, centred / deviation, b.op("ReduceMean", square, axes=axes, keepdims=0))
