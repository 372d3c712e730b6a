"""Channels-last producers compute the same values, whichever of them a selection takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from korch.executable.feeds import random_feeds
from korch.fission import fission
from korch.fission.importer import read
from korch.ir import Builder, Graph, Primitive, Tensor, Value
from korch.ir.evaluate import evaluate_graph
from korch.ir.graph import select
from korch.rewrite.layouts import add_layouts
from korch.rewrite.views import same_order, sources

from .choices import assert_same_values

TINY = Path(__file__).parents[2] / "examples" / "tiny.onnx"


def window(axes: int) -> dict[str, Any]:
    """Of three positions along each axis, pads that keep their number."""
    return {"strides": (1,) * axes, "pads": (1, 1) * axes, "dilations": (1,) * axes, "channels_last": 0}


def in_last_layout(graph: Graph) -> Graph:
    """The selection that works channels-last wherever it can."""
    chosen: dict[Tensor, Primitive] = {}
    for t, producers in graph.producers.items():
        own = [p for p in producers if not graph.only_moves(p)]
        through_twin = [p for p in own if any(i in graph.twins for i in p.inputs)]
        moved = [p for p in producers if graph.only_moves(p) and _is_made(graph, p.inputs[0])]
        chosen[t] = (own or list(producers))[-1] if t in graph.twins else (through_twin or moved or own)[0]
    return replace(graph, primitives=select(graph, chosen), twins={})


def _is_made(graph: Graph, twin: Tensor) -> bool:
    return any(not graph.only_moves(q) for q in graph.producers.get(twin, ()))


def assert_same_in_both_layouts(plain: Graph) -> Graph:
    graph = add_layouts(plain)
    last = in_last_layout(graph)
    feeds = random_feeds(plain)
    expected, got = evaluate_graph(plain, feeds), evaluate_graph(last, feeds)
    for name, y in expected.items():
        assert np.abs(got[name] - y).max() <= 1e-12 * np.abs(y).max()
    assert any(p.output in graph.twins for p in last.primitives)
    return graph


def conv(b: Builder, x: Value, outputs: int) -> Value:
    axes = len(x.shape) - 2
    w = np.random.default_rng(0).standard_normal((outputs, x.shape[1], *(3,) * axes)).astype(np.float32)
    return b.op("Conv", x, b.constant(w), **window(axes), group=1)


def everything(b: Builder, x: Value) -> Value:
    """Every primitive that commutes with the transposition, between two convolutions over any number of axes."""
    rank, axes = len(x.shape), len(x.shape) - 2
    y = conv(b, x, 6)
    y = b.op("Relu", y + b.constant(np.arange(6, dtype=np.float32).reshape(6, *(1,) * axes)))
    y = y - b.op("ReduceMean", y, axes=tuple(range(2, rank)), keepdims=1)
    y = b.op("Concat", y, b.op("MaxPool", y, **window(axes), kernel_shape=(3,) * axes), axis=1)
    starts, steps, lengths = [0] * rank, [1] * rank, [1, 5, *x.shape[2:]]
    starts[1], steps[1], starts[-1], lengths[-1] = 1, 2, 2, 5
    y = b.op("Slice", y, starts=tuple(starts), steps=tuple(steps), lengths=tuple(lengths))
    before, behind = [0] * rank, [0] * rank
    before[2], before[-1], behind[1], behind[-1] = 1, 2, 1, 1
    y = b.op("Pad", y, pads=(*before, *behind), mode="reflect", value=0.0)
    y = b.op("Gather", y, axis=rank - 1, indices=tuple(i // 2 for i in range(16)))
    y = b.op("Interpolate", y, axis=2, taps=2, indices=(0, 1, 2, 3), weights=(0.5, 0.5, 0.25, 0.75))
    return conv(b, y, 3)


def graph_of(build, *shape: int) -> Graph:
    b = Builder()
    return b.graph([("y", build(b, b.input("x", "float32", shape)))])


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_every_primitive_between_convolutions_has_a_twin(axes: int):
    graph = assert_same_in_both_layouts(graph_of(everything, 1, 4, *(8,) * axes))
    assert set(graph.twins.values()) >= {p.output for p in graph.plain().primitives}


@pytest.mark.parametrize("keepdims", [0, 1])
def test_global_pooling_ends_in_either_layout(keepdims: int):
    def build(b: Builder, x: Value) -> Value:
        return b.op("ReduceMean", conv(b, x, 6), axes=(2, 3), keepdims=keepdims)

    assert_same_in_both_layouts(graph_of(build, 1, 4, 8, 8))


def test_tokens_are_a_view_of_channels_last():
    def build(b: Builder, x: Value) -> Value:
        tokens = b.op("Transpose", b.op("Reshape", conv(b, x, 6), shape=(1, 6, 64)), perm=(0, 2, 1))
        back = b.op("Reshape", b.op("Transpose", tokens * 2.0, perm=(0, 2, 1)), shape=(1, 6, 8, 8))
        return conv(b, back, 4)

    graph = assert_same_in_both_layouts(graph_of(build, 1, 4, 8, 8))
    views = [p for p in graph.primitives if p.op == "Reshape" and p.rule == "channels_last"]
    assert len(views) == 2  # into the tokens, and out of them


@pytest.mark.parametrize("shape", [(1, 4, 8, 8), (1, 4, 1, 1)])
@pytest.mark.parametrize("at", [0, 1])
def test_constant_channels_stay_whole(shape: tuple[int, ...], at: int):
    """Concat broadcasts nothing: not even one element, nor what the sum before it takes without leading ones."""

    def build(b: Builder, x: Value) -> Value:
        y = conv(b, x, 1)
        c = b.constant(np.random.default_rng(1).standard_normal(y.shape).astype(np.float32))
        parts = [y * c, y]
        parts.insert(at, c)
        return conv(b, b.op("Concat", *parts, axis=1), 3)

    graph = assert_same_in_both_layouts(graph_of(build, *shape))
    (twin,) = (p for p in graph.primitives if p.op == "Concat" and p.rule == "channels_last")
    assert twin.inputs[at].const and twin.inputs[at].shape == (*shape[:1], *shape[2:], 1)


def test_twins_are_not_called_as_other_tensors():
    """Inputs x and x_nhwc, constants k and k_nhwc, that might be one another's twins."""
    rng, b = np.random.default_rng(0), Builder()
    x, z = b.input("x", "float32", (1, 3, 8, 8)), b.input("x_nhwc", "float32", (1, 8, 8, 3))
    k, m = (
        b.constant(rng.standard_normal(shape).astype(np.float32), name=name)
        for name, shape in (("k", (1, 3, 8, 8)), ("k_nhwc", (8, 8, 3)))
    )
    plain = b.graph([("y", conv(b, x + k, 3)), ("z", b.op("Relu", z + m))])
    graph = assert_same_in_both_layouts(plain)
    assert z.tensor not in graph.twins and m.tensor.name in plain.constants
    assert np.array_equal(graph.constants["k_nhwc"], plain.constants["k_nhwc"])


def mask(b: Builder, y: Value) -> Value:
    """The class of each position, at the end of a segmentation network."""
    return b.op("ArgMax", y, axis=1, keepdims=0, select_last_index=0)


def repeated(b: Builder, y: Value) -> Value:
    """Along one more axis."""
    return b.op("Expand", y, shape=(2, *y.shape))


@pytest.mark.parametrize(
    "end",
    [
        mask,
        repeated,
        lambda b, y: 1.0 - y,
        lambda b, y: b.op("Div", b.constant(np.float32([3, 5, 7])[:, None, None]), y),
    ],
    ids=["class", "repeated", "difference", "quotient"],
)
def test_a_convolution_reaches_what_has_a_constant_first_or_other_axes(end: Callable[[Builder, Value], Value]):
    plain = graph_of(lambda b, x: end(b, b.op("Relu", conv(b, x, 3)) + 1.0), 1, 4, 8, 8)
    graph = assert_same_in_both_layouts(plain)
    assert_same_values(plain, graph)
    (conv_twin,) = (p for p in graph.primitives if p.op == "Conv" and p.rule == "channels_last")
    assert conv_twin in in_last_layout(graph).primitives


def test_a_graph_without_windows_stays_as_it_is():
    plain = graph_of(lambda b, x: b.op("Relu", x), 1, 4, 8, 8)
    assert add_layouts(plain).primitives == plain.primitives


def test_the_committed_model():
    assert_same_in_both_layouts(fission(read(TINY)))


def test_same_order_knows_which_transposes_move_something():
    b = Builder()
    x = b.input("x", "float32", (2, 3, 4))
    y = b.op("Reshape", b.op("Transpose", x, perm=(0, 2, 1)), shape=(2, 12))
    graph = b.graph([("y", y)])
    (end,) = graph.producers[y.tensor]
    assert sources(graph, end)[-1] == x.tensor
    assert same_order(graph, end, x.tensor, None, (0, 2, 1))
    assert not same_order(graph, end, x.tensor, None, None)
