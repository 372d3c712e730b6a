"""Dilated convolutions as plain ones of the positions that are alike modulo the dilation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from korch.executable.feeds import random_feeds
from korch.ir import Builder, Graph
from korch.ir.evaluate import evaluate_graph
from korch.ir.graph import select
from korch.rewrite import add_choices
from korch.rewrite.dilated import dilated_convolutions
from korch.rewrite.winograd import winograd


def conv_graph(
    height: int,
    width: int,
    dilation: int = 2,
    pads: tuple[int, ...] = (0, 0, 0, 0),
    kernel: int = 3,
    batch: int = 1,
    channels: int = 8,
    group: int = 1,
    **attrs: object,
) -> Graph:
    b = Builder()
    x = b.input("x", "float32", (batch, height, width, channels))
    w = np.random.default_rng(0).standard_normal((channels, channels // group, kernel, kernel)).astype(np.float32)
    usual = {"strides": (1, 1), "dilations": (dilation,) * 2, "group": group, "channels_last": 1}
    return b.graph([("y", b.op("Conv", x, b.constant(w), pads=pads, **usual | attrs))])


def through(plain: Graph, full: Graph) -> Graph:
    """The selection that takes the last choice of each tensor."""
    chosen = {t: ps[-1] for t, ps in full.producers.items()}
    assert chosen[plain.outputs[0]] != plain.primitives[0], "nothing was added"
    return replace(full, primitives=select(full, chosen), twins={})


def assert_same(plain: Graph, other: Graph, within: float) -> None:
    feeds = random_feeds(plain)
    expected, got = evaluate_graph(plain, feeds)["y"], evaluate_graph(other, feeds)["y"]
    assert np.abs(got - expected).max() <= within * np.abs(expected).max()


@pytest.mark.parametrize("kernel", [2, 3])
@pytest.mark.parametrize("dilation", [2, 3, 6])
@settings(deadline=None, max_examples=20)
@given(
    height=st.integers(1, 20),
    width=st.integers(1, 20),
    pads=st.tuples(*[st.integers(0, 8)] * 4),
    batch=st.integers(1, 2),
)
def test_same_values(kernel: int, dilation: int, height: int, width: int, pads: tuple[int, ...], batch: int):
    """Also where windows are wider than the image, or see nothing but zeros."""
    reach = (kernel - 1) * dilation + 1
    assume(min(height + pads[0] + pads[2], width + pads[1] + pads[3]) >= reach)
    plain = conv_graph(height, width, dilation, pads, kernel, batch)
    assert_same(plain, through(plain, dilated_convolutions(plain)), 1e-12)


def signal_graph(length: int, dilation: int, pads: tuple[int, int], kernel: int = 3, batch: int = 1) -> Graph:
    b = Builder()
    x = b.input("x", "float32", (batch, length, 8))
    w = b.constant(np.random.default_rng(0).standard_normal((9, 8, kernel)).astype(np.float32))
    return b.graph(
        [("y", b.op("Conv", x, w, pads=pads, strides=(1,), dilations=(dilation,), group=1, channels_last=1))]
    )


@pytest.mark.parametrize("kernel", [2, 3])
@settings(deadline=None, max_examples=40)
@given(
    length=st.integers(1, 40),
    dilation=st.integers(2, 9),
    pads=st.tuples(*[st.integers(0, 12)] * 2),
    batch=st.integers(1, 2),
)
def test_same_values_of_signals(kernel: int, length: int, dilation: int, pads: tuple[int, int], batch: int):
    assume(length + sum(pads) > (kernel - 1) * dilation)
    plain = signal_graph(length, dilation, pads, kernel, batch)
    assert_same(plain, through(plain, dilated_convolutions(plain)), 1e-12)


def test_a_signal_by_winograds_algorithm():
    plain = signal_graph(64, 4, (4, 4))
    other = through(plain, winograd(dilated_convolutions(plain)))
    (product,) = (p for p in other.primitives if p.op == "MatMul")
    assert product.output.shape == (6, 4 * 4, 9)  # four signals of 16
    assert_same(plain, other, 1e-5)


def test_by_winograds_algorithm():
    plain = conv_graph(33, 40, 4, (4, 4, 4, 4), channels=16)
    other = through(plain, winograd(dilated_convolutions(plain)))
    (product,) = (p for p in other.primitives if p.op == "MatMul")
    assert product.output.shape == (36, 16 * 3 * 3, 16)  # sixteen images of 9 x 10
    assert_same(plain, other, 1e-5)


def test_an_image_of_whole_steps_is_neither_filled_nor_cut():
    plain = conv_graph(24, 30, 6, (6, 6, 6, 6))
    other = through(plain, dilated_convolutions(plain))
    views = ["Reshape", "Transpose", "Reshape"]
    assert [p.op for p in other.primitives] == [*views, "Conv", *views]


def test_convolutions_of_one_image_share_its_parts():
    b = Builder()
    x = b.input("x", "float32", (1, 24, 24, 8))
    w = np.random.default_rng(0).standard_normal((2, 8, 8, 3, 3)).astype(np.float32)
    attrs = {"strides": (1, 1), "dilations": (2, 2), "group": 1, "channels_last": 1, "pads": (2, 2, 2, 2)}
    graph = dilated_convolutions(b.graph([(f"y{i}", b.op("Conv", x, b.constant(w[i]), **attrs)) for i in (0, 1)]))
    assert sum(p.op == "Transpose" for p in graph.primitives) == 3


def test_left_alone_where_it_would_not_help():
    for plain in (
        conv_graph(24, 24, 1),
        conv_graph(24, 24, strides=(2, 2)),
        conv_graph(24, 24, group=8),
        conv_graph(24, 24, channels=4),
        conv_graph(24, 24, dilations=(1, 2)),
        conv_graph(24, 24, kernel=1),
        conv_graph(8, 24, channels_last=0),
    ):
        assert dilated_convolutions(plain).primitives == plain.primitives


def test_among_all_choices():
    b = Builder()
    x = b.input("x", "float32", (1, 16, 24, 24))
    w = np.random.default_rng(0).standard_normal((16, 16, 3, 3)).astype(np.float32)
    attrs = {"strides": (1, 1), "dilations": (2, 2), "group": 1, "channels_last": 0, "pads": (2, 2, 2, 2)}
    plain = b.graph([("y", b.op("Conv", x, b.constant(w), **attrs))])
    found = {p.op for p in add_choices(plain).primitives if p.rule in ("winograd", "dilated_convolutions")}
    assert {"Conv", "WinogradOutput"} <= found
