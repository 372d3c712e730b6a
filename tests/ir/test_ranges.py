"""Intervals hold every value that occurs, whatever the inputs, and are as narrow as the structure says."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from korch.fission.normalization import instance_normalization, layer_normalization
from korch.fission.softmax import softmax
from korch.ir import Builder, Graph, Value
from korch.ir.evaluate import values_of
from korch.ir.ranges import ANY, Interval, ranges

Build = Callable[[Builder, Value], Value]
SHAPE = (2, 4, 5, 6)


def graph_of(build: Build, shape: tuple[int, ...] = SHAPE, dtype: str = "float32") -> Graph:
    b = Builder()
    return b.graph([("y", build(b, b.input("x", dtype, shape)))])


def bounds(build: Build, shape: tuple[int, ...] = SHAPE, dtype: str = "float32") -> tuple[float, float]:
    graph = graph_of(build, shape, dtype)
    found = ranges(graph)[graph.outputs[0]]
    return found.lo, found.hi


def conv(b: Builder, x: Value, op: str = "Conv", pad: int = 1, group: int = 2) -> Value:
    window = {"strides": (1, 1), "dilations": (1, 1), "pads": (pad,) * 4, "group": group, "channels_last": 0}
    w = np.random.default_rng(x.shape[1]).standard_normal((6 if op == "Conv" else 4, 4 // group, 3, 3))
    if op == "ConvTranspose":
        window["output_shape"] = (x.shape[0], w.shape[1] * group, *x.shape[2:])
    return b.op(op, x, b.constant(w.astype(np.float32)), **window)


def pooled(b: Builder, x: Value, op: str, **more: int) -> Value:
    return b.op(
        op, x, kernel_shape=(2, 2), strides=(1, 1), pads=(1, 1, 0, 0), dilations=(1, 1), channels_last=0, **more
    )


def interpolated(b: Builder, x: Value) -> Value:
    return b.op("Interpolate", x, axis=3, taps=2, indices=(0, 1, 2, 3), weights=(0.75, 0.25, 1.5, -0.5))


def embedded(b: Builder, x: Value) -> Value:
    mask = b.op("Less", x, 0.5)
    return b.op(
        "Where",
        mask,
        x * 3.0,
        b.op(
            "Concat",
            *[
                b.op("Slice", x, starts=(0, 0, i, 0), steps=(1, 1, 1, 1), lengths=(2, 4, n, 6))
                for i, n in ((3, 2), (0, 3))
            ],
            axis=2,
        ),
    )


def normed(b: Builder, x: Value, divided: bool = False) -> Value:
    centred = x - b.op("ReduceMean", x, axes=(1, 3), keepdims=1)
    deviation = b.op("Sqrt", b.op("ReduceMean", centred * centred, axes=(1, 3), keepdims=1) + 1e-6)
    return centred / deviation if divided else centred * b.op("Reciprocal", deviation)


def weights(b: Builder, *shape: int) -> Value:
    return b.constant(np.random.default_rng(shape).standard_normal(shape).astype(np.float32))


STEPS: dict[str, Build] = {
    "half": lambda b, x: x * -0.5,
    "plus": lambda b, x: x + weights(b, 4, 1, 1),
    "minus": lambda b, x: 1.5 - x,
    "tanh": lambda b, x: b.op("Tanh", x),
    "sigmoid": lambda b, x: b.op("Sigmoid", x),
    "relu": lambda b, x: b.op("Relu", x),
    "leaky": lambda b, x: b.op("LeakyRelu", x, alpha=0.1),
    "abs": lambda b, x: b.op("Abs", x),
    "sin": lambda b, x: b.op("Sin", x),
    "square": lambda b, x: x * x,
    "power": lambda b, x: b.op("Pow", x, 2.0),
    "swish": lambda b, x: x * b.op("Sigmoid", x),
    "clip": lambda b, x: b.op("Min", b.op("Max", x, -2.0), 3.0),
    "softmax": lambda b, x: softmax(b, x, axis=1),
    "exp": lambda b, x: b.op("Exp", b.op("Min", x, 4.0)),
    "root": lambda b, x: b.op("Sqrt", b.op("Abs", x) + 0.25),
    "inverse": lambda b, x: b.op("Reciprocal", b.op("Abs", x) + 0.5),
    "log": lambda b, x: b.op("Log", x * x + 0.1),
    "quotient": lambda b, x: x / (b.op("Sigmoid", x) + 0.125),
    "softplus": lambda b, x: b.op("Softplus", x),
    "pad": lambda b, x: b.op("Pad", x, pads=(0, 0, 1, 0, 0, 0, 0, 1), mode="constant", value=7.0),
    "mean": lambda b, x: x - b.op("ReduceMean", x, axes=(2, 3), keepdims=1),
    "sum": lambda b, x: x + b.op("ReduceSum", x, axes=(3,), keepdims=1),
    "max": lambda b, x: x + b.op("ReduceMax", x, axes=(2,), keepdims=1),
    "max pool": lambda b, x: pooled(b, x, "MaxPool"),
    "resize": interpolated,
    "where": embedded,
    "mean pool": lambda b, x: pooled(b, x, "AveragePool", count_include_pad=1),
    "other pool": lambda b, x: pooled(b, x, "AveragePool", count_include_pad=0),
    "conv": lambda b, x: conv(b, x),
    "inner": lambda b, x: conv(b, x, pad=0, group=1),
    "deconv": lambda b, x: conv(b, x, "ConvTranspose"),
    "dedense": lambda b, x: conv(b, x, "ConvTranspose", group=1),
    "right": lambda b, x: x @ weights(b, x.shape[-1], 3),
    "left": lambda b, x: weights(b, 7, x.shape[-2]) @ x,
    "product": lambda b, x: x @ b.op("Transpose", b.op("Tanh", x), perm=(0, 1, 3, 2)),
    "norm": normed,
    "divided norm": lambda b, x: normed(b, x, True),
    "instance": lambda b, x: instance_normalization(b, x, weights(b, 4), weights(b, 4)),
    "layer": lambda b, x: layer_normalization(b, x, weights(b, x.shape[-1]))[0],
}


FOR_SHAPE = ("where", "resize", "inner", "conv", "deconv", "dedense", "plus", "instance")


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=5), st.integers(0, 2**16), st.integers(-3, 3))
def test_every_value_lies_within(steps: list[str], seed: int, magnitude: int):
    def build(b: Builder, x: Value) -> Value:
        for name in steps:
            x = STEPS[name](b, x) if x.shape == SHAPE or name not in FOR_SHAPE else x
        return b.op("Relu", x)

    graph = graph_of(build)
    known = ranges(graph)
    x = np.random.default_rng(seed).standard_normal(SHAPE) * 10.0**magnitude
    for t, value in values_of(graph, {"x": x}, known).items():
        found, slack = known.get(t, ANY), 1e-9 * max(1.0, float(np.abs(value[np.isfinite(value)]).max(initial=0.0)))
        assert np.isnan(value).any() or found.lo - slack <= value.min() <= value.max() <= found.hi + slack, t


@pytest.mark.parametrize(
    "build, expected",
    [
        (lambda b, x: b.op("Sigmoid", x), (0, 1)),
        (lambda b, x: b.op("Tanh", x * 9.0) * 3.0 + 1.0, (-2, 4)),
        (lambda b, x: b.op("Relu", x), (0, inf)),
        (lambda b, x: b.op("Min", b.op("Max", x, 0.0), 6.0), (0, 6)),
        (lambda b, x: softmax(b, x, axis=2), (0, 1)),
        (lambda b, x: b.op("ReduceSum", b.op("Sin", x), axes=(1, 2), keepdims=0), (-20, 20)),
        (lambda b, x: b.op("Sin", x) * b.op("Cos", x), (-1, 1)),
        (normed, (-sqrt(23), sqrt(23))),
        (lambda b, x: b.op("Exp", x), (0, inf)),
        (lambda b, x: x, (-inf, inf)),
        (lambda b, x: b.op("Sin", x) / b.op("Sin", x + 1.0), (-inf, inf)),
    ],
)
def test_bounds_are_those_of_the_structure(build: Build, expected: tuple[float, float]):
    assert bounds(lambda b, x: b.op("Neg", -build(b, x))) == pytest.approx(expected)


def test_linear_primitives_take_the_weights_by_sign():
    w = np.asarray([[1.0, -2.0], [3.0, 4.0]], np.float32)
    assert bounds(lambda b, x: b.op("Sigmoid", x) @ b.constant(w), (5, 2)) == (-2, 4)
    assert bounds(lambda b, x: b.op("Sigmoid", x) @ b.op("Sigmoid", x + 1.0), (5, 5)) == (0, 5)


def test_bounds_that_a_dtype_cannot_hold_are_none():
    assert bounds(lambda b, x: b.op("Exp", b.op("Tanh", x) * 80.0), dtype="float32")[1] < inf
    assert bounds(lambda b, x: b.op("Exp", b.op("Tanh", x) * 80.0), dtype="float16") == (0, inf)
    assert bounds(lambda b, x: b.op("Log", b.op("Exp", b.op("Tanh", x) * 200.0))) == (-inf, inf)


def test_a_layer_norm_is_bounded_by_its_length():
    one = np.ones(10, np.float32)
    lo, hi = bounds(lambda b, x: layer_normalization(b, x, b.constant(one * 2), b.constant(one))[0], (3, 10))
    assert (lo, hi) == pytest.approx((1 - 6, 1 + 6))
    worst = np.zeros((3, 10), np.float32)
    worst[:, 0] = 1e3
    graph = graph_of(lambda b, x: layer_normalization(b, x, b.constant(one * 2), b.constant(one))[0], (3, 10))
    reached = values_of(graph, {"x": worst}, graph.outputs)[graph.outputs[0]].max()
    assert reached == pytest.approx(hi, rel=1e-6)


def test_intervals_multiply_without_nan():
    assert Interval(0, inf) * Interval(-1, 2) == ANY
    assert Interval(0, 0) * ANY == Interval(0, 0)
    assert ANY + Interval(inf, inf) == Interval(-inf, inf)
