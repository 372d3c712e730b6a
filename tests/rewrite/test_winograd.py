"""Winograd's transforms and product against the convolution as written."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnxruntime
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from korch.executable.feeds import random_feeds
from korch.ir import Builder, Graph
from korch.ir.evaluate import evaluate_graph, evaluate_primitive
from korch.ir.graph import select
from korch.ir.onnx_write import graph_to_onnx
from korch.ir.ops.winograd import POINTS, cook_toom, matrices
from korch.ir.primitive import APPROXIMATE
from korch.rewrite import add_choices
from korch.rewrite.layouts import add_layouts
from korch.rewrite.winograd import winograd


def conv_graph(height: int, width: int, pads: tuple[int, ...] = (1, 1, 1, 1), channels: int = 16, stride: int = 1,
               batch: int = 1) -> Graph:  # fmt: skip
    b = Builder()
    x = b.input("x", "float32", (batch, channels, height, width))
    w = np.random.default_rng(0).standard_normal((channels, channels, 3, 3)).astype(np.float32)
    y = b.op("Conv", x, b.constant(w), strides=(stride, stride), pads=pads, dilations=(1, 1), group=1, channels_last=0)
    return b.graph([("y", y)])


def through_winograd(plain: Graph, tile: int) -> Graph | None:
    """The selection that takes tiles of `tile`; None where the rewrite did not offer them."""
    graph = winograd(add_layouts(plain))
    chosen = {t: next((p for p in ps if p.op == "WinogradOutput" and p.attr("tile") == tile), None) or next(
        (p for p in ps if p.op != "Conv"), ps[0]) for t, ps in graph.producers.items()}  # fmt: skip
    result = replace(graph, primitives=select(graph, chosen), twins={})
    return result if any(p.op == "WinogradOutput" for p in result.primitives) else None


@pytest.mark.parametrize("tile", [2, 4])
def test_one_dimension(tile: int):
    a, g, b = matrices(tile)
    rng = np.random.default_rng(tile)
    d, w = rng.standard_normal(tile + 2), rng.standard_normal(3)
    assert np.allclose(a @ ((g @ w) * (b @ d)), np.correlate(d, w, "valid"), atol=1e-12)


@pytest.mark.parametrize("tile", [2, 4])
@given(height=st.integers(7, 13), width=st.integers(7, 13), pads=st.tuples(*[st.integers(0, 3)] * 4),
       batch=st.integers(1, 2))  # fmt: skip
def test_same_values(tile: int, height: int, width: int, pads: tuple[int, ...], batch: int):
    plain = conv_graph(height, width, pads, batch=batch)
    other = through_winograd(plain, tile)
    assume(other is not None)  # hypothesis complains where that is seldom
    assert other
    feeds = random_feeds(plain.inputs)
    expected, got = evaluate_graph(plain, feeds)["y"], evaluate_graph(other, feeds)["y"]
    assert np.abs(got - expected).max() <= 1e-5 * np.abs(expected).max()  # the weights are rounded to float32


@pytest.mark.parametrize("tile", [2, 4])
def test_as_onnx(tile: int):
    plain = conv_graph(14, 11)
    other = through_winograd(plain, tile)
    assert other
    feeds = random_feeds(plain.inputs)
    session = onnxruntime.InferenceSession(graph_to_onnx(other).SerializeToString())
    (got,) = session.run(None, feeds)
    expected = evaluate_graph(plain, feeds)["y"]
    assert np.abs(got - expected).max() <= 1e-4 * np.abs(expected).max()


@pytest.mark.parametrize("op", ["WinogradInput", "WinogradOutput"])
def test_part_of_a_transform(op: str):
    graph = winograd(add_layouts(conv_graph(14, 11, (1, 0, 2, 1), batch=2)))
    p = next(p for p in graph.primitives if p.op == op and p.attr("tile") == 4)
    rng = np.random.default_rng(1)
    x = rng.standard_normal(p.inputs[0].shape)
    whole = evaluate_primitive(p, [x])
    region = tuple(np.unique(rng.integers(0, n, 4)) for n in p.output.shape)
    part = p.spec.evaluate(p, region, lambda i, r: x[np.ix_(*r)])
    assert np.allclose(part, whole[np.ix_(*region)], atol=1e-12)


def test_left_alone_where_it_cannot_pay():
    for graph in (conv_graph(12, 12, stride=2), conv_graph(12, 12, channels=8), conv_graph(3, 3, (0, 0, 0, 0))):
        twins = add_layouts(graph)
        assert winograd(twins).primitives == twins.primitives


def test_refused_under_strict_numerics():
    plain = conv_graph(14, 14)
    strict = add_choices(plain, approximate=False)
    assert any(p.op == "WinogradOutput" for p in add_choices(plain).primitives)
    assert not any(p.error == APPROXIMATE for p in strict.primitives)
    assert any(p.op == "Conv" and p.attr("channels_last") for p in strict.primitives)


def test_each_way_to_compute_an_output_has_a_product_of_its_own():
    b = Builder()
    x = b.input("x", "float32", (1, 14, 14, 16))
    rng = np.random.default_rng(0)
    w, v = (b.constant(rng.standard_normal((16, 16, 3, 3)).astype(np.float32)) for _ in range(2))
    attrs = {"strides": (1, 1), "pads": (1, 1, 1, 1), "dilations": (1, 1), "group": 1, "channels_last": 1}
    y, z = b.op("Conv", x, w, **attrs), b.op("Conv", x, v, **attrs)
    plain = b.graph([("y", y), ("z", z)])
    other = replace(plain.producers[z.tensor][0], output=y.tensor)  # as if another rule had said so
    graph = winograd(plain.add([other]))
    assert all(len(graph.producers[p.output]) == 1 for p in graph.primitives if p.op == "MatMul")
    assert len([p for p in graph.primitives if p.op == "WinogradInput"]) == len([2, 4])


def test_the_points_err_less_than_whole_numbers():
    """What the table of points claims: half the error of 0, 1, -1, 2, -2."""
    rng = np.random.default_rng(0)
    d, w = rng.standard_normal((200, 128, 6)), rng.standard_normal((128, 3)) / 20
    exact = np.stack([(d[:, :, k : k + 3] * w).sum((1, 2)) for k in range(4)], 1)

    def error(points: tuple[float, ...]) -> float:
        a, g, b = (m.astype(np.float32) for m in cook_toom(4, points))
        products = (w.astype(np.float32) @ g.T)[None] * (d.astype(np.float32) @ b.T)
        return float(np.sqrt(((products.sum(1, dtype=np.float32) @ a.T - exact) ** 2).mean()))

    assert error(POINTS[4]) < 0.7 * error((0.0, 1.0, -1.0, 2.0, -2.0))
