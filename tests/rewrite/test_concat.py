"""Linear over concat is a sum of linears over the parts; a transposition over it, one of its parts."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from korch.ir import Builder, Value
from korch.ir.primitive import Primitive
from korch.rewrite.concat import convolution_over_concat, map_over_concat, transposition_over_concat
from korch.rewrite.layouts import add_layouts
from korch.rewrite.maps import map_of, mapped
from korch.rewrite.rule import Rule
from korch.rewrite.space import Space

from .choices import by_rule, derived, differing, saturated
from .nets import conv, graph_of, linear

PARTS = st.lists(st.integers(1, 4), min_size=2, max_size=4)


def joined(b: Builder, *xs: Value) -> Value:
    return b.op("Concat", *xs, axis=1)


@settings(deadline=None, max_examples=15)
@given(PARTS, st.integers(1, 5))
def test_a_1x1_convolution_over_concat_is_a_sum(parts: list[int], outputs: int):
    plain = graph_of(lambda b, *xs: conv(b, joined(b, *xs), outputs), *[(1, n, 3, 2) for n in parts])
    graph = derived(plain, [map_over_concat])
    sums = [p for p in graph.producers[plain.outputs[0]] if p.op == "Add"]
    assert len(sums) == 1 and len(by_rule(graph, map_over_concat)) == 2 * len(parts) - 1


@settings(deadline=None, max_examples=15)
@given(PARTS, st.sampled_from([(1, 0, 1), (3, 1, 1), (3, 1, 2), (2, 0, 1)]))
def test_a_convolution_over_concat_is_a_sum(parts: list[int], window: tuple[int, int, int]):
    def build(b: Builder, *xs: Value) -> Value:
        return conv(b, joined(b, *xs), 3, *window)

    plain = graph_of(build, *[(2, n, 5, 4) for n in parts])
    graph = derived(plain, [map_over_concat, convolution_over_concat])
    assert any(p.op == "Add" for p in graph.producers[plain.outputs[0]])


def test_a_product_over_concat_is_a_sum():
    plain = graph_of(lambda b, *xs: linear(b, b.op("Concat", *xs, axis=2), 4), (1, 5, 2), (1, 5, 3))
    assert len(by_rule(derived(plain, [map_over_concat]), map_over_concat)) == 3


def test_a_concat_along_another_axis_is_left_alone():
    plain = graph_of(lambda b, *xs: linear(b, b.op("Concat", *xs, axis=1), 4), (1, 2, 3), (1, 3, 3))
    assert not by_rule(derived(plain, [map_over_concat]), map_over_concat)


def test_a_grouped_convolution_is_left_alone():
    def build(b: Builder, *xs: Value) -> Value:
        w = b.constant(np.ones((4, 1, 1, 1), np.float32))
        return b.op(
            "Conv", joined(b, *xs), w, strides=(1, 1), pads=(0,) * 4, dilations=(1, 1), group=4, channels_last=0
        )

    plain = graph_of(build, (1, 2, 3, 3), (1, 2, 3, 3))
    assert len(derived(plain).primitives) == len(plain.primitives)


def test_turned_integers_keep_their_digits():
    """2^53 + 1, which no double holds."""
    b, large = Builder(), 2**53 + 1
    x = b.op("Transpose", b.input("x", "int64", (3, 2)), perm=(1, 0))
    joined = b.op("Concat", x, b.constant(np.full((2, 1), large, np.int64)), axis=1)
    graph = derived(b.graph([("y", b.op("Transpose", joined, perm=(1, 0)))]), [transposition_over_concat])
    (concat,) = (p for p in by_rule(graph, transposition_over_concat) if p.op == "Concat")
    assert graph.constants[concat.inputs[1].name].tolist() == [[large, large]]


def first_weights_for_all(s: Space, p: Primitive):
    """Wrong: every part meets the first columns of W."""
    m = map_of(s, p)
    for q in s.producers(m.x) if m else ():
        if m and q.op == "Concat":
            n = q.inputs[0].shape[1]
            w = s.op("Slice", m.weights, starts=(0, 0), steps=(1, 1), lengths=(m.weights.shape[0], n))
            terms = [t for t in (mapped(s, w, x, m.axis) for x in q.inputs) if t]
            yield s.op("Add", *terms)


def test_a_rule_that_slices_wrongly_is_caught():
    plain = graph_of(lambda b, *xs: conv(b, joined(b, *xs), 3), (1, 2, 3, 3), (1, 2, 3, 3))
    assert differing(plain, saturated(plain, [Rule("wrong", first_weights_for_all)]))


def test_places_side_by_side_lie_channels_last_without_being_turned():
    def build(b: Builder, *xs: Value) -> Value:
        flat = [b.op("Reshape", conv(b, x, 5), shape=(1, 5, x.shape[2] * x.shape[3])) for x in xs]
        return b.op("Transpose", b.op("Concat", *flat, axis=2), perm=(0, 2, 1))

    graph = add_layouts(derived(graph_of(build, (1, 3, 4, 4), (1, 3, 2, 2)), [transposition_over_concat]))
    (concat,) = (p for p in graph.producers[graph.outputs[0]] if p.op == "Concat")
    for t in concat.inputs:
        assert any(q.op == "Reshape" and q.inputs[0].name.endswith("_nhwc") for q in graph.producers[t])
