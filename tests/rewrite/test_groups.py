"""Depthwise convolutions with channel multipliers as plain ones, narrow groups as wider ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from korch.ir import Builder, Graph
from korch.ir.evaluate import evaluate_graph
from korch.ir.primitive import EXACT, REASSOCIATED
from korch.rewrite import add_choices
from korch.rewrite.groups import repeated_channels, wider_groups

from .choices import assert_same_values


def conv_graph(shape: tuple[int, ...] = (1, 9, 8, 4), made: int = 8, group: int = 4, **attrs: object) -> Graph:
    b, axes = Builder(), len(shape) - 2
    x = b.input("x", "float32", shape)
    channels = x.tensor.shape[-1] if attrs.get("channels_last", 1) else x.tensor.shape[1]
    w = np.random.default_rng(0).standard_normal((made, channels // group, *(3,) * axes)).astype(np.float32)
    usual = {
        "strides": (1,) * axes,
        "dilations": (1,) * axes,
        "group": group,
        "channels_last": 1,
        "pads": (1,) * 2 * axes,
    }
    return b.graph([("y", b.op("Conv", x, b.constant(w), **usual | attrs))])


@pytest.mark.parametrize("each", [2, 3, 16])
@pytest.mark.parametrize("shape", [(1, 9, 8, 4), (2, 7, 4), (2, 1, 5, 4)])
def test_same_values(shape: tuple[int, ...], each: int):
    plain = conv_graph(shape, 4 * each, strides=(2,) * (len(shape) - 2))
    full = repeated_channels(plain)
    (p,) = full.producers[plain.outputs[0]][1:]
    assert p.attr("group") == p.inputs[0].shape[-1] == 4 * each
    assert_same_values(plain, full)


def test_convolutions_of_one_image_share_the_repeated_channels():
    b = Builder()
    x = b.input("x", "float32", (1, 9, 8, 4))
    attrs = {"strides": (1, 1), "dilations": (1, 1), "group": 4, "channels_last": 1}
    ys = [b.op("Conv", x, b.constant(np.ones((8, 1, k, k), np.float32)), pads=(k // 2,) * 4, **attrs) for k in (3, 7)]
    graph = repeated_channels(b.graph([(f"y{i}", y) for i, y in enumerate(ys)]))
    assert sum(p.op == "Expand" for p in graph.primitives) == 1


def test_left_alone_where_there_is_no_multiplier():
    for plain in (
        conv_graph(made=4),
        conv_graph(group=2),
        conv_graph((1, 9, 8, 1), group=1),
        conv_graph((1, 4, 9, 8), channels_last=0),
    ):
        assert repeated_channels(plain).primitives == plain.primitives


@pytest.mark.parametrize(
    ("channels", "made", "group", "wider"),
    [
        (12, 12, 6, [1]),
        (32, 32, 8, [4, 2]),
        (32, 64, 16, [4, 2]),
        (10, 5, 5, [1]),
        (16, 16, 2, [1]),
    ],
)
def test_groups_together(channels: int, made: int, group: int, wider: list[int]):
    plain = conv_graph((1, 6, 5, channels), made, group)
    full = wider_groups(plain)
    added = full.producers[plain.outputs[0]][1:]
    assert [p.attr("group") for p in added] == wider
    assert_same_values(plain, full)


def test_weights_that_convolutions_of_other_groups_share():
    b = Builder()
    w = b.constant(np.random.default_rng(0).standard_normal((48, 2, 3, 3)).astype(np.float32))
    attrs = {"strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "channels_last": 1}
    xs = [b.input(f"x{group}", "float32", (1, 6, 5, 2 * group)) for group in (8, 24)]
    ys = [b.op("Conv", x, w, group=x.shape[3] // 2, **attrs) for x in xs]
    plain = b.graph([(f"y{i}", y) for i, y in enumerate(ys)])
    full = wider_groups(plain)
    assert all(len(full.producers[t]) > 1 for t in plain.outputs)
    assert_same_values(plain, full)


def test_wider_groups_are_not_exact():
    """What is infinite in one of the groups that come together is NaN in the others."""
    plain = conv_graph((1, 6, 5, 12), 12, 6)
    full = wider_groups(plain)
    x = np.ones((1, 6, 5, 12), np.float32)
    x[..., 0] = np.inf
    with np.errstate(invalid="ignore"):
        written, wider = (evaluate_graph(replace(full, primitives=(p,)), {"x": x})["y"] for p in full.primitives)
    assert np.isfinite(written[..., 2:]).all() and not np.isfinite(wider[..., 2:]).any()
    assert [p.error for p in full.primitives] == [EXACT, REASSOCIATED]


def test_wide_groups_and_single_channels_stay():
    for plain in (conv_graph((1, 9, 8, 32), 32, 2), conv_graph(made=4), conv_graph((1, 9, 8, 8), 8, 1)):
        assert wider_groups(plain).primitives == plain.primitives


def test_among_all_choices():
    rules = {p.rule for p in add_choices(conv_graph((1, 4, 9, 8), channels_last=0)).primitives}
    assert {"repeated_channels", "wider_groups"} <= rules
