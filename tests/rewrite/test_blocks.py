"""Convolutions with wide windows, of blocks of neighbours, against the convolution as written."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from korch.executable.feeds import random_feeds
from korch.ir import Builder, Graph
from korch.ir.evaluate import evaluate_graph
from korch.ir.graph import select
from korch.ir.onnx_write import graph_to_onnx
from korch.ir.primitive import APPROXIMATE
from korch.rewrite import add_choices
from korch.rewrite.blocks import conv_in_blocks


def conv_graph(
    height: int,
    width: int,
    kernel: int,
    pads: tuple[int, ...] = (0, 0, 0, 0),
    inputs: int = 3,
    outputs: int = 2,
    batch: int = 1,
    group: int = 1,
    **attrs: object,
) -> Graph:
    b = Builder()
    x = b.input("x", "float32", (batch, height, width, inputs))
    w = np.random.default_rng(0).standard_normal((outputs, inputs // group, kernel, kernel)).astype(np.float32)
    plain = {"strides": (1, 1), "dilations": (1, 1), "group": group, "channels_last": 1}
    return b.graph([("y", b.op("Conv", x, b.constant(w), pads=pads, **plain | attrs))])


def in_blocks(plain: Graph, tile: int = 4) -> Graph | None:
    """The selection that computes in blocks by F(tile, 3); None where the rewrite did not offer it."""
    full = conv_in_blocks(plain)
    last = next((p for p in full.primitives if p.op == "WinogradOutput" and p.attr("tile") == tile), None)
    if last is None:
        return None
    chosen = {t: ps[0] for t, ps in full.producers.items()} | {last.output: last}
    return replace(full, primitives=select(full, chosen), twins={})


def whatever_it_costs(plain: Graph) -> Graph | None:
    """Like `in_blocks`, also where the products are too many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("korch.rewrite.blocks.WORTH", math.inf)
        return in_blocks(plain)


@pytest.mark.parametrize("kernel", [5, 7, 9, 11])
@settings(deadline=None, max_examples=30)
@given(
    height=st.integers(11, 30),
    width=st.integers(11, 30),
    pads=st.tuples(*[st.integers(0, 6)] * 4),
    batch=st.integers(1, 2),
)
def test_same_values(kernel: int, height: int, width: int, pads: tuple[int, ...], batch: int):
    plain = conv_graph(height, width, kernel, pads, batch=batch)
    other = whatever_it_costs(plain)
    assert other
    feeds = random_feeds(plain)
    expected, got = evaluate_graph(plain, feeds)["y"], evaluate_graph(other, feeds)["y"]
    assert np.abs(got - expected).max() <= 1e-5 * np.abs(expected).max()  # the weights are rounded to float32


@pytest.mark.parametrize("kernel", [5, 7, 9])
def test_as_onnx(kernel: int):
    plain = conv_graph(61, 70, kernel, (kernel // 2, kernel // 2, 1, 4))
    other = whatever_it_costs(plain)
    assert other
    feeds = random_feeds(plain)
    (got,) = onnxruntime.InferenceSession(graph_to_onnx(other).SerializeToString()).run(None, feeds)
    expected = evaluate_graph(plain, feeds)["y"]
    assert np.abs(got - expected).max() <= 1e-4 * np.abs(expected).max()


def test_an_image_of_whole_blocks_is_not_filled():
    """As behind a reflection pad, and with pads of half a window."""
    for plain in (conv_graph(72, 80, 9), conv_graph(64, 72, 9, (4, 4, 4, 4))):
        other = in_blocks(plain)
        assert other and [p.op for p in other.primitives] == [
            "Reshape",
            "Transpose",
            "Reshape",
            "WinogradInput",
            "MatMul",
            "WinogradOutput",
        ]


def test_products_are_few():
    """36 instead of 81 an output."""
    plain = conv_graph(72, 72, 9, outputs=3)
    other = in_blocks(plain)
    assert other
    (product,) = (p for p in other.primitives if p.op == "MatMul")
    assert product.inputs[1].shape == (36, 48, 48) and product.output.shape == (36, 16, 48)


def test_convolutions_of_one_image_share_its_blocks():
    b = Builder()
    x = b.input("x", "float32", (1, 64, 64, 4))
    attrs = {"strides": (1, 1), "dilations": (1, 1), "group": 1, "channels_last": 1, "pads": (2, 2, 2, 2)}
    w = np.random.default_rng(0).standard_normal((2, 4, 4, 5, 5)).astype(np.float32)
    graph = conv_in_blocks(b.graph([(f"y{i}", b.op("Conv", x, b.constant(w[i]), **attrs)) for i in (0, 1)]))
    found = [p.op for p in graph.primitives if p.rule == "conv_in_blocks"]
    assert found.count("Transpose") == 1 and found.count("WinogradInput") == 2  # one for each size of tiles
    assert found.count("WinogradOutput") == 4


def test_left_alone_where_it_cannot_pay():
    for plain in (
        conv_graph(80, 80, 3),
        conv_graph(80, 80, 6),
        conv_graph(80, 80, 5, strides=(2, 2)),
        conv_graph(90, 90, 5, dilations=(2, 2)),
        conv_graph(80, 80, 5, inputs=1),
        conv_graph(80, 80, 5, inputs=4, outputs=4, group=2),
        conv_graph(20, 20, 5),
        conv_graph(80, 80, 5, channels_last=0, inputs=80),
    ):
        assert conv_in_blocks(plain).primitives == plain.primitives


def test_left_alone_where_weights_would_be_too_many():
    """36 times 81 for each pair of channels by 7x7: 64 and 64 need 48 MB, 64 and 96 72 MB."""
    assert in_blocks(conv_graph(80, 80, 7, inputs=64, outputs=64))
    assert not in_blocks(conv_graph(80, 80, 7, inputs=64, outputs=96))


def test_refused_under_strict_numerics():
    plain = conv_graph(80, 80, 5, channels_last=0, inputs=80)
    assert any(p.rule == "conv_in_blocks" for p in add_choices(plain).primitives)
    assert not any(p.error == APPROXIMATE for p in add_choices(plain, approximate=False).primitives)
