"""Some channels of every head, made by convolutions of no more."""

from __future__ import annotations

import pytest

from korch.ir import Builder, Graph, Value
from korch.rewrite.channels import channels_of_heads
from korch.rewrite.saturate import algebra

from .choices import assert_same_values, by_rule, derived
from .nets import Build, biased, conv, graph_of, numbers


def grouped(b: Builder, x: Value, group: int, k: int = 1) -> Value:
    w = b.constant(numbers(x.shape[1], x.shape[1] // group, k, k))
    return b.op("Conv", x, w, strides=(1, 1), pads=(k // 2,) * 4, dilations=(1, 1), group=group, channels_last=0)


def scales(b: Builder, x: Value, heads: int, each: int, group: int) -> Value:
    """What a convolution makes of x, and what windows see of that, side by side: of `each` channels a head."""
    x = biased(b, conv(b, x, heads * each))
    return b.op("Concat", x, biased(b, grouped(b, biased(b, grouped(b, x, x.shape[1], 3)), group)), axis=1)


def split(b: Builder, y: Value, heads: int, each: int) -> list[Value]:
    """[n, heads, h w, d] of each third of the heads' channels."""
    n, _, h, w = y.shape
    y = b.op("Transpose", b.op("Reshape", y, shape=(n, heads, each, h * w)), perm=(0, 1, 3, 2))
    whole, d = {"starts": (0,) * 4, "steps": (1,) * 4}, each // 3
    return [b.op("Slice", y, **(whole | {"starts": (0, 0, 0, i * d)}), lengths=(*y.shape[:3], d)) for i in range(3)]


def turned(b: Builder, x: Value) -> Value:
    return b.op("Transpose", x, perm=(0, 1, 3, 2))


def linear_attention(b: Builder, x: Value, heads: int = 2, each: int = 6, group: int = 6) -> Value:
    q, k, v = split(b, scales(b, x, heads, each, group), 2 * heads, each)
    return b.op("Relu", q) @ (turned(b, b.op("Relu", k)) @ v)


def soft_attention(b: Builder, x: Value) -> Value:
    q, k, v = split(b, scales(b, x, 2, 6, 6), 4, 6)
    e = b.op("Exp", q @ turned(b, k))
    return (e / b.op("ReduceSum", e, axes=(3,), keepdims=1)) @ v


def channels(graph: Graph) -> list[int]:
    """Of the dense convolutions that the rule has added."""
    added = by_rule(graph, channels_of_heads)
    return sorted(p.output.shape[1] for p in added if p.op == "Conv" and p.attr("group") == 1)


@pytest.mark.parametrize("build", [linear_attention, soft_attention])
def test_what_one_product_needs_is_made_together(build: Build):
    """Linear attention multiplies keys by values, other attention queries by keys."""
    plain = graph_of(build, (1, 3, 7, 5))
    graph = algebra(plain)
    assert_same_values(plain, graph)
    assert channels(graph) == [4, 8]


def test_every_convolution_makes_those_channels_only():
    graph = derived(graph_of(linear_attention, (2, 3, 6, 5)))
    groups = {(p.output.shape[1], p.attr("group")) for p in by_rule(graph, channels_of_heads) if p.op == "Conv"}
    assert groups == {(4, 1), (4, 4), (4, 2), (8, 1), (8, 8), (8, 4)}


@pytest.mark.parametrize("group", [1, 2, 3, 4, 12])
def test_groups_need_not_be_the_heads_thirds(group: int):
    plain = graph_of(lambda b, x: linear_attention(b, x, group=group), (1, 3, 6, 5))
    graph = algebra(plain)
    assert by_rule(graph, channels_of_heads)
    assert_same_values(plain, graph)


def test_what_no_product_reads_stays():
    def build(b: Builder, x: Value) -> Value:
        q, k, _ = split(b, scales(b, x, 2, 6, 6), 4, 6)
        return q + k

    assert not by_rule(derived(graph_of(build, (1, 3, 6, 5))), channels_of_heads)


def test_channels_that_no_convolution_makes_stay():
    def build(b: Builder, x: Value) -> Value:
        q, k, v = split(b, x, 2, 6)
        return q @ (turned(b, k) @ v)

    assert not by_rule(derived(graph_of(build, (1, 12, 6, 5))), channels_of_heads)
