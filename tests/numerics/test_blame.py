"""Which choices err, and which of them go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from korch.executable.feeds import random_feeds
from korch.ir import Builder, Graph, Primitive, Tensor
from korch.ir.primitive import APPROXIMATE, EXACT, REASSOCIATED
from korch.numerics.blame import Blame, alike, blames, inexact, to_drop
from korch.rewrite.layouts import add_layouts
from korch.rewrite.winograd import winograd


def convolution() -> Graph:
    """A 3x3 convolution with channels-last twins and both of Winograd's forms."""
    b = Builder()
    x = b.input("x", "float32", (1, 32, 16, 16))
    w = b.constant(np.random.default_rng(0).standard_normal((32, 32, 3, 3)).astype(np.float32))
    y = b.op("Conv", x, w, strides=(1, 1), pads=(1, 1, 1, 1), dilations=(1, 1), group=1, channels_last=0)
    return winograd(add_layouts(b.graph([("y", y)])))


def by_tile(graph: Graph, tile: int) -> Primitive:
    return next(p for p in graph.primitives if p.op == "WinogradOutput" and p.attr("tile") == tile)


def blamed(graph: Graph, picked: Sequence[Primitive]) -> list[Blame]:
    return blames(graph, set(inexact(graph)).intersection(picked), picked, random_feeds(graph))


def test_larger_tiles_err_more_and_go_first():
    graph = convolution()
    errors = {}
    for tile in (2, 4):
        picked = [p for p in graph.primitives if p.op != "WinogradOutput" or p.attr("tile") == tile]
        (found,) = blamed(graph, picked)
        assert found.primitive == by_tile(graph, tile)
        errors[tile] = found.error
    assert 1e-8 < errors[2] < errors[4] < 1e-4
    large, small = (Blame(by_tile(graph, tile), errors[tile]) for tile in (4, 2))
    assert to_drop([small, large], excess=1.1) == [large.primitive]


def test_a_wrong_rule_is_blamed_for_what_it_says_not_for_its_rounding():
    b = Builder()
    x = b.input("x", "float32", (100,))
    graph = b.graph([("y", b.op("Tanh", x)), ("z", b.op("Sigmoid", x))])
    tanh, sigmoid = graph.primitives
    wrong = [
        Primitive("Erf", (graph.inputs[0],), tanh.output, (), REASSOCIATED, rule="wrong"),
        Primitive("Sigmoid", (graph.inputs[0],), sigmoid.output, (), REASSOCIATED, rule="right"),
    ]
    graph = graph.add(wrong)
    first, second = blamed(graph, wrong)
    assert first.primitive.rule == "wrong" and first.error > 0.01 and second.error < 1e-6
    assert to_drop([first, second], excess=100.0) == [first.primitive]


def test_the_coarsest_class_goes_first():
    graph = convolution()
    y = graph.outputs[0]
    again = Primitive("Relu", (graph.inputs[0],), y, (), REASSOCIATED, rule="also")
    graph = graph.add([again])
    assert {b.primitive.error for b in blamed(graph, graph.primitives)} == {APPROXIMATE}


@pytest.mark.parametrize(
    ("errors", "excess", "count"),
    [
        ((4.0, 3.0, 2.0, 1.0), 1.01, 2),
        ((96.0, 2.0, 1.0, 1.0), 2.0, 1),
        ((4.0, 3.0, 2.0, 1.0), 1e9, 4),
        ((np.inf, 1.0), 2.0, 2),
    ],
)
def test_as_many_go_as_must(errors: Sequence[float], excess: float, count: int):
    t = Tensor("t", "float32", ())
    found = [Blame(Primitive("Relu", (t,), Tensor(f"t{i}", "float32", ())), e) for i, e in enumerate(errors)]
    assert to_drop(found[::-1], excess) == [b.primitive for b in found[:count]]


def test_what_is_dropped_is_dropped_in_every_layout_and_leaves_nothing_hanging():
    graph = convolution()
    gone = alike(graph, [by_tile(graph, 4)])
    assert gone == {by_tile(graph, 4)}
    rest = graph.without({*gone, *(p for p in graph.primitives if p.op == "WinogradInput" and p.attr("tile") == 2)})
    assert not any(p.op == "WinogradOutput" for p in rest.primitives)
    made = {*rest.inputs, *(p.output for p in rest.primitives)}
    assert all(t.const or t in made for p in rest.primitives for t in p.inputs)
    assert set(graph.plain().primitives) <= set(rest.primitives)


def test_a_rule_in_two_layouts_is_one_choice():
    b = Builder()
    x = b.input("x", "float32", (1, 4, 6, 6))
    w = b.constant(np.ones((4, 4, 1, 1), np.float32))
    attrs = {"strides": (1, 1), "pads": (0,) * 4, "dilations": (1, 1), "group": 1, "channels_last": 0}
    plain = b.graph([("y", b.op("Relu", b.op("Conv", x, w, **attrs)))])
    conv, relu = plain.primitives
    other = Primitive("Abs", conv.inputs[:1], relu.output, (), APPROXIMATE, rule="other")
    graph = add_layouts(plain.add([other]))
    both = alike(graph, [other])
    assert len(both) == 2 and {p.op for p in both} == {"Abs"} and {p.error for p in both} == {APPROXIMATE}
    assert all(p.error == EXACT for p in graph.without(both).primitives)
