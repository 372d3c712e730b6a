"""Products of codes: which weights lie on a grid, which activations are scaled bytes, and what becomes of both."""

from __future__ import annotations

import numpy as np
import pytest

from korch.executable.feeds import random_feeds
from korch.ir import Builder, Graph
from korch.ir.builder import Value
from korch.ir.evaluate import evaluate_graph
from korch.rewrite.integers import Grid, codes_of, grid_of, integer_sums
from korch.rewrite.table import add_choices

RNG = np.random.default_rng(0)


def on_grid(shape: tuple[int, ...], axis: int, low: int = -127, high: int = 127) -> tuple[np.ndarray, np.ndarray]:
    steps = RNG.uniform(1e-4, 1e-1, shape[axis]).astype(np.float32)
    numbers = RNG.integers(low, high + 1, shape)
    return numbers.astype(np.float32) * steps.reshape([-1 if a == axis else 1 for a in range(len(shape))]), numbers


def value_of(grid: Grid, axis: int) -> np.ndarray:
    shape = [-1 if a == axis else 1 for a in range(grid.integers.ndim)]
    return (grid.integers.astype(np.float64) - grid.zero) * grid.steps.reshape(shape)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("limits", [(-127, 127), (-128, 127), (0, 255), (-3, 200), (-1, 1)])
def test_what_lies_on_a_grid(axis: int, limits: tuple[int, int]):
    weights, _ = on_grid((24, 40), axis, *limits)
    grid = grid_of(weights, axis)
    assert grid and grid.integers.dtype == np.int8
    np.testing.assert_allclose(value_of(grid, axis), weights, rtol=1e-6, atol=0)


def test_channels_of_zeros_are_on_any_grid():
    weights, _ = on_grid((6, 5), 0)
    weights[2] = 0
    grid = grid_of(weights, 0)
    assert grid and not grid.integers[2].any() and np.isfinite(grid.steps).all()


@pytest.mark.parametrize("spoilt", [0.37, np.nan, np.inf, 1e30])
def test_what_does_not(spoilt: float):
    weights, _ = on_grid((6, 50), 0)
    weights[3, 49] = spoilt * (weights[3, 48] or 1.0)
    assert grid_of(weights, 0) is None
    assert grid_of(RNG.standard_normal((6, 50)).astype(np.float32), 0) is None
    assert grid_of(np.zeros((0, 5), np.float32), 0) is None


def dequantized(b: Builder, shape: tuple[int, ...], zero: float = 3.0, dtype: str = "uint8") -> Value:
    return (b.op("Cast", b.input("x", dtype, shape), to="float32") - zero) * 0.05


def added(graph: Graph) -> list[str]:
    return [p.op for p in integer_sums(graph).primitives[len(graph.primitives) :]]


def test_a_scale_of_bytes_is_found():
    b = Builder()
    y = dequantized(b, (4, 8))
    graph = b.graph([("y", y)])
    codes = codes_of(y.tensor, graph)
    assert codes and (codes.tensor.name, codes.zero, codes.scale.value) == ("x", 3, pytest.approx(0.05))
    assert codes_of(graph.primitives[0].output, graph) is None


@pytest.mark.parametrize("zero", [0.5, 256.0, -1.0])
def test_what_is_no_zero_point_of_bytes_is_none(zero: float):
    b = Builder()
    y = dequantized(b, (4, 8), zero) @ b.constant(on_grid((8, 6), 1)[0])
    assert added(b.graph([("y", y)])) == []


def test_float_weights_stay_floats():
    b = Builder()
    y = dequantized(b, (4, 8)) @ b.constant(RNG.standard_normal((8, 6)).astype(np.float32))
    assert added(b.graph([("y", y)])) == []


def test_sums_that_could_overflow_stay_floats():
    b = Builder()
    y = dequantized(b, (1, 40000)) @ b.constant(on_grid((40000, 2), 1)[0])
    assert added(b.graph([("y", y)])) == []


@pytest.mark.parametrize("limits", [(-127, 127), (0, 255)])
def test_integers_compute_the_same(limits: tuple[int, int]):
    b = Builder()
    x = dequantized(b, (1, 6, 9, 9))
    w = b.constant(on_grid((10, 6, 3, 3), 0, *limits)[0])
    plain = {"strides": (2, 1), "pads": (1, 0, 2, 1), "dilations": (1, 1), "group": 1, "channels_last": 0}
    graph = b.graph([("y", b.op("Conv", x, w, **plain))])
    changed = integer_sums(graph)
    (scaled,) = [p for p in changed.primitives if p.rule and p.output == graph.outputs[0]]
    feeds = {"x": RNG.integers(0, 256, (1, 6, 9, 9)).astype(np.uint8)}
    other = changed.without([p for p in graph.primitives if p.output == scaled.output])
    want, got = (evaluate_graph(g, feeds)["y"] for g in (graph, other))
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-6 * np.abs(want).max())


def test_a_scale_that_is_computed_stays_one():
    b = Builder()
    codes = b.op("Cast", b.input("x", "int8", (4, 8)), to="float32") * b.input("s", "float32", ())
    graph = b.graph([("y", codes @ b.constant(on_grid((8, 6), 1)[0]))])
    assert added(graph) == ["MatMulInteger", "Cast", "Mul", "Mul"]
    assert random_feeds(graph)


def test_convolutions_of_bytes_have_a_form_with_channels_last():
    b = Builder()
    x, w = b.input("x", "uint8", (1, 3, 8, 8)), b.constant(RNG.integers(-127, 128, (5, 3, 3, 3)).astype(np.int8))
    plain = {"strides": (1, 1), "pads": (1,) * 4, "dilations": (1, 1), "group": 1, "channels_last": 0}
    y = b.op("ConvInteger", x, w, b.constant(0, "uint8"), w_zero=0, **plain)
    choices = add_choices(b.graph([("y", y)]))
    assert [p.attr("channels_last") for p in choices.primitives if p.spec.adds_integers] == [0, 1]
