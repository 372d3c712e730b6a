"""Linear after linear with constant weights is one; scaling goes into the weights."""

from __future__ import annotations

import pytest

from korch.ir import Builder, Value
from korch.ir.primitive import Primitive
from korch.rewrite.compose import map_after_map
from korch.rewrite.heads import map_into_heads
from korch.rewrite.maps import map_of, mapped, scale_along
from korch.rewrite.rule import Rule
from korch.rewrite.scaling import convolution_after_scale, map_after_scale, scale_after_map, scale_of_sum
from korch.rewrite.space import Space

from .choices import by_rule, derived, differing, fewest, multiply_adds, saturated
from .nets import biased, conv, graph_of, linear, numbers, scaled, tokens


def test_two_linears_with_biases_are_one():
    plain = graph_of(lambda b, x: biased(b, linear(b, biased(b, linear(b, x, 8)), 2)), (1, 6, 3))
    best = fewest(plain)
    assert [p.op for p in best.primitives] == ["MatMul", "Add"]
    assert multiply_adds(best) == 6 * 3 * 2


def test_linears_over_a_bottleneck_stay_two():
    plain = graph_of(lambda b, x: linear(b, linear(b, x, 1), 8), (1, 6, 8))
    derived(plain)
    assert multiply_adds(fewest(plain)) == multiply_adds(plain) == 6 * 16


def test_an_inner_value_that_others_read_is_not_paid_twice():
    def build(b: Builder, x: Value) -> Value:
        y = linear(b, x, 4)
        return b.op("Concat", b.op("Relu", y), linear(b, y, 4, seed=1), axis=2)

    plain = graph_of(build, (1, 6, 5))
    assert multiply_adds(fewest(plain)) == multiply_adds(plain)


def test_a_1x1_convolution_of_tokens_made_an_image():
    def build(b: Builder, x: Value) -> Value:
        y = biased(b, linear(b, tokens(b, x), 9))
        back = b.op("Reshape", b.op("Transpose", y, perm=(0, 2, 1)), shape=(1, 9, 4, 4))
        return biased(b, conv(b, back, 2, seed=1))

    assert multiply_adds(fewest(graph_of(build, (1, 3, 4, 4)))) == 3 * 2 * 16


@pytest.mark.parametrize("first", [(1, 0), (3, 1)])
def test_a_map_and_a_convolution_are_one(first: tuple[int, int]):
    second = (3, 1) if first == (1, 0) else (1, 0)
    plain = graph_of(lambda b, x: conv(b, conv(b, x, 20, *first), 2, *second), (1, 2, 5, 5))
    derived(plain)
    assert [p.op for p in fewest(plain).primitives] == ["Conv"]


def test_a_bias_under_padding_stays():
    """Outside of the image there is no bias, so W (x + v) is not W x + c there."""
    plain = graph_of(lambda b, x: conv(b, biased(b, conv(b, x, 20)), 2, 3, 1), (1, 2, 5, 5))
    assert len(derived(plain).producers[plain.outputs[0]]) == 1


@pytest.mark.parametrize(
    "build, rule",
    [
        (lambda b, x: conv(b, scaled(b, x), 4), map_after_scale),
        (lambda b, x: conv(b, scaled(b, x), 4, 3, 1), convolution_after_scale),
        (lambda b, x: conv(b, x / 4.0, 4, 3, 1), convolution_after_scale),
        (lambda b, x: scaled(b, conv(b, x, 4)), scale_after_map),
        (lambda b, x: conv(b, x, 4) / 2.0, scale_after_map),
        (lambda b, x: b.constant(numbers(4, 1, 1)) * conv(b, x, 4), scale_after_map),
        (lambda b, x: linear(b, scaled(b, tokens(b, x)), 4), map_after_scale),
    ],
    ids=lambda v: v.name if isinstance(v, Rule) else "",
)
def test_scaling_goes_into_weights(build, rule: Rule):
    plain = graph_of(build, (1, 3, 4, 4))
    assert by_rule(derived(plain, [rule]), rule)


def summed(b: Builder, x: Value, by: float, first: float = 3.0, op: str = "Div") -> Value:
    """Two scaled tensors, one of them smaller, whose sum is scaled."""
    small = b.op("ReduceMax", x, axes=(2,), keepdims=1)
    return b.op(op, x * first + small * 5.0, by)


@pytest.mark.parametrize("op", ["Mul", "Div"])
def test_the_scale_of_a_sum_goes_into_its_terms(op: str):
    plain = graph_of(lambda b, x: summed(b, x, 4.0, op=op), (2, 3, 4))
    assert [p.op for p in by_rule(derived(plain, [scale_of_sum]), scale_of_sum)] == ["Mul", "Mul", "Add"]


@pytest.mark.parametrize(("by", "first"), [(0.0, 3.0), (float("inf"), 3.0), (1e30, 1e-30), (1e-30, 1e30)])
def test_but_not_where_a_scale_would_leave_float32(by: float, first: float):
    plain = graph_of(lambda b, x: summed(b, x, by, first), (2, 3, 4))
    assert not scale_of_sum(Space(plain), plain.primitives[-1])


def test_integers_are_not_divided_one_by_one():
    b = Builder()
    x, y = (b.input(n, "int64", (4,)) for n in "xy")
    plain = b.graph([("y", b.op("Div", x * 3 + y * 5, 2)), ("z", (x + y) * 2)])
    assert not by_rule(derived(plain, [scale_of_sum]), scale_of_sum)


def test_a_scale_along_another_axis_stays():
    plain = graph_of(lambda b, x: linear(b, x * b.constant([[1.0], [2.0]], "float32"), 4), (1, 2, 3))
    assert len(derived(plain).primitives) == len(plain.primitives)


def test_weights_that_no_rule_changes_are_not_turned():
    plain = graph_of(lambda b, x: b.op("Relu", linear(b, x, 4)), (5, 3))
    assert saturated(plain, [map_after_map, map_after_scale, map_into_heads]).constants.keys() == plain.constants.keys()


def scales_rows(s: Space, p: Primitive):
    """Wrong: W (v * x) = (diag v W) x."""
    m = map_of(s, p)
    for q in s.producers(m.x) if m else ():
        found = scale_along(s, q, m.axis) if m else None
        if m and found:
            column = s.op("Reshape", found[1], shape=(found[1].size, 1))
            yield mapped(s, s.op("Mul", m.weights, column), found[0], m.axis)


def test_a_rule_that_scales_the_wrong_side_is_caught():
    plain = graph_of(lambda b, x: conv(b, scaled(b, x), 3), (1, 3, 4, 4))
    assert differing(plain, saturated(plain, [Rule("wrong", scales_rows)]))
