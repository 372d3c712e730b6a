"""Linear primitives on different axes commute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from korch.ir import Builder, Value
from korch.ir.primitive import Primitive
from korch.rewrite.commute import map_before_move, move_before_map, move_before_shift
from korch.rewrite.maps import along, shift_along
from korch.rewrite.rule import Rule
from korch.rewrite.space import Space

from .choices import by_rule, derived, differing, fewest, multiply_adds, saturated
from .nets import biased, conv, enlarged, graph_of, image, linear, repeated, tokens

GROWING: list[tuple[str, dict[str, Any]]] = [
    ("Gather", {"axis": 2, "indices": (0, 0, 1, 1, 2, 2)}),
    ("Pad", {"pads": (0, 0, 1, 0, 0, 0, 0, 2), "mode": "reflect", "value": 0.0}),
    ("Pad", {"pads": (0, 0, 1, 0, 0, 0, 0, 2), "mode": "constant", "value": 0.0}),
    ("Transpose", {"perm": (2, 0, 3, 1)}),
    ("Reshape", {"shape": (4, 3, 12)}),
]
SHRINKING: list[tuple[str, dict[str, Any]]] = [
    ("Slice", {"starts": (0, 0, 1, 0), "steps": (1, 1, 1, 2), "lengths": (2, 3, 2, 2)}),
    ("ReduceMean", {"axes": (2, 3), "keepdims": 1}),
    ("ReduceMean", {"axes": (0, 3), "keepdims": 0}),
    ("ReduceSum", {"axes": (2,), "keepdims": 1}),
    (
        "AveragePool",
        {
            "kernel_shape": (2, 2),
            "strides": (2, 2),
            "pads": (0, 0, 1, 0),
            "dilations": (1, 1),
            "channels_last": 0,
            "count_include_pad": 1,
        },
    ),
]


@pytest.mark.parametrize("op, attrs", GROWING[:3])
def test_a_map_goes_before_what_enlarges(op: str, attrs: dict[str, Any]):
    plain = graph_of(lambda b, x: conv(b, b.op(op, x, **attrs), 2), (2, 3, 3, 4))
    assert by_rule(derived(plain, [map_before_move]), map_before_move)
    assert multiply_adds(fewest(plain)) < multiply_adds(plain)


@pytest.mark.parametrize("op, attrs", GROWING[3:])
def test_a_map_goes_before_views(op: str, attrs: dict[str, Any]):
    def build(b: Builder, x: Value) -> Value:
        y = b.op(op, x, **attrs)
        return linear(b, y if op == "Transpose" else b.op("Transpose", y, perm=(0, 2, 1)), 2)

    plain = graph_of(build, (4, 3, 3, 4))
    assert by_rule(derived(plain, [map_before_move]), map_before_move)


@pytest.mark.parametrize("op, attrs", SHRINKING)
def test_a_map_goes_behind_what_shrinks(op: str, attrs: dict[str, Any]):
    plain = graph_of(lambda b, x: b.op(op, conv(b, x, 3), **attrs), (2, 3, 3, 4))
    assert by_rule(derived(plain, [move_before_map]), move_before_map)
    assert multiply_adds(fewest(plain)) < multiply_adds(plain)


@pytest.mark.parametrize("op, attrs", SHRINKING)
def test_a_summand_goes_behind_what_keeps_constants(op: str, attrs: dict[str, Any]):
    plain = graph_of(lambda b, x: b.op(op, biased(b, x), **attrs), (2, 3, 3, 4))
    found = by_rule(derived(plain, [move_before_shift]), move_before_shift)
    assert bool(found) == (op != "ReduceSum" and not attrs.get("count_include_pad"))


INTEGER_MEANS: list[tuple[str, dict[str, Any]]] = [
    ("ReduceMean", {"axes": (2,), "keepdims": 1}),
    ("Interpolate", {"axis": 2, "taps": 2, "indices": (0, 1), "weights": (0.5, 0.5)}),
]


@pytest.mark.parametrize("op, attrs", INTEGER_MEANS)
def test_a_mean_of_integers_stays_behind_the_map(op: str, attrs: dict[str, Any]):
    """It is rounded: of 0 and 3 it is 1, and 3 times that of 0 and 1 is 0."""
    b = Builder()
    x = b.input("x", "int32", (1, 1, 2, 1)) @ b.constant(np.asarray([[3]], np.int32))
    plain = b.graph([("y", b.op(op, x, **attrs))])
    assert derived(plain, [move_before_map]).primitives == plain.primitives


def test_a_resize_of_integers_stays_before_the_map():
    b = Builder()
    x = b.input("x", "int32", (1, 1, 2, 1))
    x = b.op("Interpolate", x, axis=2, taps=2, indices=(0, 1, 1, 1), weights=(0.5, 0.5, 1.0, 0.0))
    plain = b.graph([("y", x @ b.constant(np.asarray([[3]], np.int32)))])
    assert derived(plain, [map_before_move]).primitives == plain.primitives


def test_a_linear_of_tokens_goes_through_image_and_resize():
    def build(b: Builder, x: Value) -> Value:
        return conv(b, enlarged(b, image(b, biased(b, linear(b, tokens(b, x), 6)), 4), 2), 3)

    plain = graph_of(build, (1, 2, 4, 4))
    assert multiply_adds(fewest(plain)) == 2 * 3 * 16


@pytest.mark.parametrize("op, attrs", [("Reshape", {"shape": (1, 4)}), ("Expand", {"shape": (5, 4)})])
def test_nothing_maps_a_vector_before_it_is_a_matrix(op: str, attrs: dict[str, Any]):
    plain = graph_of(lambda b, x: linear(b, b.op(op, x, **attrs), 3), (4,))
    assert not by_rule(derived(plain), map_before_move)


def test_nothing_maps_a_vector_that_is_left_of_a_matrix():
    plain = graph_of(lambda b, x: b.op("ReduceMean", linear(b, x, 3), axes=(0,), keepdims=0), (5, 4))
    assert sum(p.op == "MatMul" for p in derived(plain).primitives) == 1


def test_repetition_along_the_channels_is_left_alone():
    plain = graph_of(lambda b, x: conv(b, b.op("Gather", x, axis=1, indices=(0, 0, 1, 2)), 2), (1, 3, 4, 4))
    assert not by_rule(derived(plain), map_before_move)


def sums_keep_constants(s: Space, p: Primitive):
    """Wrong: sum(x + v) = sum(x) + v."""
    for q in s.producers(p.inputs[0]) if p.op == "ReduceSum" else ():
        found = shift_along(s, q, 1)
        if found:
            y = s.op("ReduceSum", found[0], **dict(p.attrs))
            yield s.op("Add", y, along(s, found[1], y, 1))


def test_a_rule_that_forgets_to_count_is_caught():
    plain = graph_of(lambda b, x: b.op("ReduceSum", biased(b, x), axes=(2, 3), keepdims=1), (1, 3, 4, 4))
    assert differing(plain, saturated(plain, [Rule("wrong", sums_keep_constants)]))


def test_a_repeated_image_is_convolved_small():
    plain = graph_of(lambda b, x: conv(b, repeated(b, x), 4), (1, 3, 4, 4))
    assert multiply_adds(fewest(plain)) * 4 == multiply_adds(plain)
