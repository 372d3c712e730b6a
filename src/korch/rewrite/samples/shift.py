"""Softmax of what is bounded and of anything."""

from __future__ import annotations

from random import Random

from korch.ir.builder import Builder, Value
from korch.ir.graph import Graph
from korch.rewrite.evidence.table import sample
from korch.rewrite.samples.drawing import graph, weights
from korch.rewrite.saturate import algebra
from korch.rewrite.shift import softmax_unshifted, softmax_unshifted_unproved


def softmax(b: Builder, x: Value, axes: tuple[int, ...], shift: str = "ReduceMax") -> Value:
    """Shifted by the maximum, or by another number of the row."""
    e = b.op("Exp", x - b.op(shift, x, axes=axes, keepdims=1))
    return e / b.op("ReduceSum", e, axes=axes, keepdims=1)


def clipped(b: Builder, x: Value, bound: float) -> Value:
    return b.op("Min", b.op("Max", x, -bound), bound)


@sample(softmax_unshifted, softmax_unshifted_unproved)
def bounded_rows(draw: Random) -> Graph:
    """Products of what is clipped with constants: at most 6 * 8 * 19 / 32."""
    b = Builder()
    x = clipped(b, b.input("x", "float32", (draw.randint(1, 3), draw.randint(2, 5), 6)), 8.0)
    scores = (x @ weights(b, draw, 6, draw.randint(2, 7))) / 32.0
    return graph(b, softmax(b, scores, draw.choice(((2,), (1,), (1, 2)))))


@sample(softmax_unshifted_unproved)
def any_rows(draw: Random) -> Graph:
    b = Builder()
    x = b.input("x", "float32", (draw.randint(2, 4), draw.randint(2, 6)))
    return graph(b, softmax(b, x, (draw.randint(0, 1),)), softmax(b, x, (1,), "ReduceMean"))


@sample(algebra)
def large_rows(draw: Random) -> Graph:
    """Enough of them for the maxima to cost more than the estimate's margin."""
    b = Builder()
    x = b.input("x", "float32", (draw.randint(3, 4), draw.randint(300, 310)))
    return graph(b, softmax(b, x, (1,)))
