"""Convolutions to few channels, computed several neighbours at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from korch.executable.feeds import random_feeds
from korch.ir import Builder, Graph
from korch.ir.evaluate import evaluate_graph
from korch.ir.graph import select
from korch.rewrite.layouts import add_layouts
from korch.rewrite.strips import conv_in_squares, conv_in_strips
from korch.rewrite.table import Rewrite


def conv_graph(
    outputs: int, kernel: int, width: int, pads: tuple[int, ...], strides: tuple[int, int] = (1, 1)
) -> Graph:
    b = Builder()
    x = b.input("x", "float32", (1, 4, 9, width))
    w = np.random.default_rng(0).standard_normal((outputs, 4, 3, kernel)).astype(np.float32)
    y = b.op("Conv", x, b.constant(w), strides=strides, pads=pads, dilations=(1, 1), group=1, channels_last=0)
    return b.graph([("y", y)])


def by(rule: str, graph: Graph) -> Graph:
    """The graph as `rule` computes it."""
    chosen = {
        t: next((p for p in ps if p.rule == rule), None) or next((p for p in ps if p.op != "Conv"), ps[0])
        for t, ps in graph.producers.items()
    }
    return replace(graph, primitives=select(graph, chosen), twins={})


@pytest.mark.parametrize(
    ("rewrite", "outputs"),
    [
        *((conv_in_strips, n) for n in (1, 3, 6)),
        *((conv_in_squares, n) for n in (1, 2, 3)),
    ],
    ids=lambda x: getattr(x, "name", x),
)
@pytest.mark.parametrize(("width", "pads"), [(20, (0, 0, 0, 0)), (17, (1, 2, 0, 1)), (11, (1, 0, 1, 3))])
def test_same_values(rewrite: Rewrite, outputs: int, width: int, pads: tuple[int, ...]):
    """Also where blocks reach over the lower and the right edge."""
    plain = conv_graph(outputs, 5, width, pads)
    blocks = by(rewrite.name, rewrite(add_layouts(plain)))
    assert any(p.op == "Conv" and p.output.shape[-1] > outputs for p in blocks.primitives)
    feeds = random_feeds(plain)
    expected, got = evaluate_graph(plain, feeds)["y"], evaluate_graph(blocks, feeds)["y"]
    assert np.abs(got - expected).max() <= 1e-12 * np.abs(expected).max()


def test_left_alone_where_it_would_not_pay():
    for graph in (
        conv_graph(16, 5, 20, (0, 0, 0, 0)),
        conv_graph(12, 3, 20, (0, 0, 0, 0)),
        conv_graph(3, 5, 20, (0, 0, 0, 0), strides=(2, 2)),
    ):
        twins = add_layouts(graph)
        assert conv_in_strips(twins).primitives == conv_in_squares(twins).primitives == twins.primitives
