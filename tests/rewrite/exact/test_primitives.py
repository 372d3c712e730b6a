"""What primitives mean over the fields: the laws that rewrites use hold, and no others."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from korch.ir import Builder, Value
from korch.ir.evaluate import evaluate_graph
from korch.rewrite.exact import Beyond, Field, Residues
from korch.rewrite.exact.field import P

SHAPE = (2, 4, 6, 5)
WINDOW = {"strides": (2, 1), "pads": (1, 0, 1, 2), "dilations": (1, 2), "channels_last": 0}


def values(build: Callable[[Builder, Value, Value], list[Value]], seed: int = 0) -> list[Residues]:
    """What the field gives for the values that `build` makes of two inputs."""
    b, f = Builder(), Field(seed)
    outputs = build(b, b.input("x", "float32", SHAPE), b.input("y", "float32", SHAPE))
    known: dict = {t: f.input(t) for t in b.inputs}
    for p in b.primitives:
        operands = [f.constant(t, b.constants[t.name]) if t.const else known[t] for t in p.inputs]
        known[p.output] = f.evaluate(p, operands)
    return [known[v.tensor] for v in outputs]


def conv(b: Builder, x: Value, **attrs: object) -> Value:
    w = np.arange(-20, 28, dtype=np.float32).reshape(4, 2, 3, 2)
    return b.op("Conv", x, b.constant(w), **(WINDOW | {"group": 2} | attrs))


def deconv(b: Builder, x: Value) -> Value:
    w = np.arange(-20, 28, dtype=np.float32).reshape(4, 2, 3, 2)
    return b.op("ConvTranspose", x, b.constant(w), **WINDOW, group=2, output_shape=(2, 4, 11, 5))


RATIONAL = {
    "arithmetic": lambda b, x, y: (x + y * 3.0) / (-y) - b.op("Reciprocal", x) * 0.25,
    "mean": lambda b, x, y: b.op("ReduceMean", x * y, axes=(1, 3), keepdims=0),
    "sum": lambda b, x, y: b.op("ReduceSum", x, axes=(0,), keepdims=1) - y,
    "product": lambda b, x, y: b.op("ReduceProd", x, axes=(1, 2), keepdims=1),
    "matmul": lambda b, x, y: x @ b.op("Transpose", y, perm=(0, 1, 3, 2)),
    "conv": lambda b, x, y: conv(b, x * y),
    "deconv": lambda b, x, y: deconv(b, x),
    "pad": lambda b, x, y: b.op("Pad", x, pads=(0, 1, 2, 0, 0, 0, 1, 0), mode="constant", value=0.5),
    "pool": lambda b, x, y: b.op("AveragePool", x, **WINDOW, kernel_shape=(2, 2), count_include_pad=0),
    "resize": lambda b, x, y: b.op(
        "Interpolate", x, axis=2, taps=2, indices=(0, 1, 4, 5), weights=(0.25, 0.75, 1 / 3, 2 / 3)
    ),
    "strassen": lambda b, x, y: b.op(
        "StrassenOutput", b.op("StrassenInput", b.op("Reshape", x, shape=(2, 4, 5, 6))), shape=(4, 10, 6)
    ),
    "power": lambda b, x, y: b.op("Pow", x, 3.0),
}


@pytest.mark.parametrize("name", RATIONAL)
def test_rational_primitives_are_what_the_reference_says(name: str):
    """On small whole inputs, float64 gives the fraction whose residue the field must give."""
    b = Builder()
    y = RATIONAL[name](b, b.input("x", "float32", SHAPE), b.input("y", "float32", SHAPE))
    graph = b.graph([("out", y)])
    rng, f = np.random.default_rng(1), Field(0)
    feeds = {n: rng.integers(1, 6, SHAPE).astype(np.float64) for n in ("x", "y")}
    known: dict = {t: Residues(feeds[t.name].astype(np.int64), None) for t in graph.inputs}
    for p in graph.primitives:
        operands = [f.constant(t, graph.constants[t.name]) if t.const else known[t] for t in p.inputs]
        known[p.output] = f.evaluate(p, operands)
    for got, real in zip(known[y.tensor].p.reshape(-1), evaluate_graph(graph, feeds)["out"].reshape(-1), strict=True):
        near = Fraction(float(real)).limit_denominator(5000)
        assert float(near) == pytest.approx(float(real), rel=1e-12)
        assert got == near.numerator * pow(near.denominator, -1, P) % P


def same(build: Callable[[Builder, Value, Value], list[Value]], seed: int) -> bool:
    a, b = values(build, seed)
    return a.same(b)


def over(b: Builder, op: str, x: Value, axis: int) -> Value:
    return b.op(op, x, axes=(axis,), keepdims=1)


LAWS = {
    "exp": lambda b, x, y: [b.op("Exp", x + y), b.op("Exp", x) * b.op("Exp", y)],
    "exp of a negative": lambda b, x, y: [b.op("Exp", -x), b.op("Reciprocal", b.op("Exp", x))],
    "sigmoid": lambda b, x, y: [b.op("Sigmoid", x), b.op("Exp", x) / (b.op("Exp", x) + 1.0)],
    "tanh": lambda b, x, y: [b.op("Tanh", x), b.op("Sigmoid", x * 2.0) * 2.0 - 1.0],
    "max commutes": lambda b, x, y: [b.op("Max", x, y), b.op("Max", y, x)],
    "max in parts": lambda b, x, y: [
        b.op("ReduceMax", x, axes=(1, 2), keepdims=1),
        over(b, "ReduceMax", over(b, "ReduceMax", x, 2), 1),
    ],
    "relu is a max": lambda b, x, y: [b.op("Relu", x), b.op("Max", x, 0.0)],
    "relu twice": lambda b, x, y: [b.op("Relu", b.op("Relu", x)), b.op("Relu", x)],
    "equal operands": lambda b, x, y: [b.op("Sqrt", x + y), b.op("Sqrt", y + x)],
    "square": lambda b, x, y: [b.op("Pow", x, 2.0), x * x],
    "behind exp": lambda b, x, y: [b.op("Exp", b.op("Exp", x + y)), b.op("Exp", b.op("Exp", x) * b.op("Exp", y))],
}

FALSE = {
    "exp of a sum": lambda b, x, y: [b.op("Exp", x + y), b.op("Exp", x) + b.op("Exp", y)],
    "relu of a sum": lambda b, x, y: [b.op("Relu", x + y), b.op("Relu", x) + b.op("Relu", y)],
    "relu of nothing": lambda b, x, y: [b.op("Relu", x), x],
    "max of one": lambda b, x, y: [b.op("Max", x, y), x],
    "max for min": lambda b, x, y: [b.op("Max", x, y), b.op("Min", x, y)],
    "sqrt of a sum": lambda b, x, y: [b.op("Sqrt", x + y), b.op("Sqrt", x) + b.op("Sqrt", y)],
    "two functions": lambda b, x, y: [b.op("Sqrt", x), b.op("Log", x)],
    "tanh without two": lambda b, x, y: [b.op("Tanh", x), b.op("Sigmoid", x) * 2.0 - 1.0],
    "mean for sum": lambda b, x, y: [over(b, "ReduceMean", x, 1), over(b, "ReduceSum", x, 1)],
}


@pytest.mark.parametrize("name", LAWS)
@settings(deadline=None)
@given(seed=st.integers(0, 1000))
def test_laws(name: str, seed: int):
    assert same(LAWS[name], seed)


@pytest.mark.parametrize("name", FALSE)
@settings(deadline=None)
@given(seed=st.integers(0, 1000))
def test_what_is_no_law(name: str, seed: int):
    assert not same(FALSE[name], seed)


def test_linear_maps_of_one_input_by_their_matrices():
    """Pooling by its matrix is pooling by a convolution with ones."""

    def build(b: Builder, x: Value, y: Value) -> list[Value]:
        ones = b.constant(np.ones((4, 1, 2, 3), np.float32))
        pooled = b.op("AveragePool", x, **WINDOW, kernel_shape=(2, 3), count_include_pad=1)
        return [pooled, b.op("Conv", x, ones, **WINDOW, group=4) / 6.0]

    assert same(build, 0)


def test_comparisons_give_bools():
    def build(b: Builder, x: Value, y: Value) -> list[Value]:
        return [b.op("Where", b.op("Less", x, y), y, x), b.op("Max", x, y)]

    assert same(build, 0)


def test_what_has_no_meaning_says_so():
    with pytest.raises(Beyond, match="Cast"):
        values(lambda b, x, y: [b.op("Cast", x, to="int64")])
    with pytest.raises(Beyond, match="not finite"):
        values(lambda b, x, y: [b.op("Max", x, float("-inf"))])
