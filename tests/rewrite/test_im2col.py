"""Convolutions as one product with the matrix of their windows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

from korch.executable.feeds import random_feeds
from korch.ir import Builder, Graph
from korch.ir.evaluate import evaluate_graph
from korch.ir.graph import select
from korch.ir.onnx_write import graph_to_onnx
from korch.rewrite.im2col import im2col
from korch.rewrite.layouts import add_layouts
from korch.rewrite.samples.im2col import MANY

Two = tuple[int, int]
Four = tuple[int, int, int, int]


def conv_graph(
    kernel: Two,
    pads: Four = (0, 0, 0, 0),
    strides: Two = (1, 1),
    dilations: Two = (1, 1),
    batch: int = 1,
    inputs: int = 3,
    outputs: int = MANY,
    group: int = 1,
    size: Two = (9, 11),
) -> Graph:
    b = Builder()
    x = b.input("x", "float32", (batch, inputs, *size))
    w = b.constant(np.random.default_rng(0).standard_normal((outputs, inputs // group, *kernel)).astype(np.float32))
    attrs = {"strides": strides, "pads": pads, "dilations": dilations, "group": group, "channels_last": 0}
    return b.graph([("y", b.op("Conv", x, w, **attrs))])


def by_windows(plain: Graph) -> Graph:
    """The selection that multiplies with the matrix of windows."""
    graph = im2col(add_layouts(plain))
    chosen = {
        t: next((p for p in ps if p.rule == "im2col"), None) or next((p for p in ps if p.op != "Conv"), ps[0])
        for t, ps in graph.producers.items()
    }
    return replace(graph, primitives=select(graph, chosen), twins={})


def pairs(least: int, most: int) -> st.SearchStrategy[Two]:
    return st.tuples(st.integers(least, most), st.integers(least, most))


@given(
    kernel=pairs(2, 3),
    begin=pairs(0, 2),
    end=pairs(0, 2),
    strides=pairs(1, 3),
    dilations=pairs(1, 2),
    batch=st.integers(1, 2),
)
def test_same_values(kernel: Two, begin: Two, end: Two, strides: Two, dilations: Two, batch: int):
    plain = conv_graph(kernel, (*begin, *end), strides, dilations, batch)
    other = by_windows(plain)
    assert [p.op for p in other.primitives if p.intensive] == ["MatMul"]
    feeds = random_feeds(plain)
    expected, got = evaluate_graph(plain, feeds)["y"], evaluate_graph(other, feeds)["y"]
    assert np.abs(got - expected).max() <= 1e-12 * np.abs(expected).max()


def test_as_onnx():
    plain = conv_graph((3, 3), (1, 1, 1, 1), (2, 2))
    feeds = random_feeds(plain)
    session = onnxruntime.InferenceSession(graph_to_onnx(by_windows(plain)).SerializeToString())
    (got,) = session.run(None, feeds)
    expected = evaluate_graph(plain, feeds)["y"]
    assert np.abs(got - expected).max() <= 1e-5 * np.abs(expected).max()


def test_windows_side_by_side_are_only_views():
    """Patches of vision transformers: what their matrix repeats is nothing."""
    graph = by_windows(conv_graph((4, 4), strides=(4, 4), size=(8, 12)))
    (product,) = (p for p in graph.primitives if p.op == "MatMul")
    assert product.inputs[0].shape == (1, 6, 48)
    assert not any(p.op in ("Pad", "Gather") for p in graph.primitives)


@pytest.mark.parametrize(
    "other", [{"group": 3, "outputs": 192}, {"outputs": 32}, {"inputs": 4}, {"size": (1000, 1000)}]
)
def test_left_alone_where_it_cannot_pay(other: dict[str, Any]):
    twins = add_layouts(conv_graph((3, 3), **other))
    assert im2col(twins).primitives == twins.primitives
