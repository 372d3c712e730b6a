"""Products: their order, what scales their rows, and siblings that merge."""

from __future__ import annotations

import pytest

from korch.ir import Builder, Graph, Value
from korch.ir.primitive import Primitive
from korch.rewrite.associate import product_to_the_left, product_to_the_right
from korch.rewrite.rowsum import (
    norm_before_product,
    row_sum_in_product,
    scale_before_product,
    scale_behind_product,
)
from korch.rewrite.rule import Rule
from korch.rewrite.saturate import algebra
from korch.rewrite.siblings import merged_biased_siblings, merged_siblings
from korch.rewrite.space import Space

from .choices import assert_same_values, by_rule, derived, differing, fewest, multiply_adds, saturated
from .nets import Build, biased, conv, graph_of, linear, numbers


def test_linear_attention_multiplies_keys_and_values_first():
    plain = graph_of(lambda b, q, k, v: (q @ k) @ v, (2, 64, 4), (2, 4, 64), (2, 64, 4))
    assert by_rule(derived(plain, [product_to_the_right]), product_to_the_right)
    assert multiply_adds(fewest(plain)) == 2 * 2 * 4 * 64 * 4


def test_and_the_other_way_round():
    plain = graph_of(lambda b, q, k, v: q @ (k @ v), (1, 64), (64, 4), (4, 64))
    assert by_rule(derived(plain, [product_to_the_left]), product_to_the_left)
    assert multiply_adds(fewest(plain)) == 64 * 4 + 4 * 64


def test_one_constant_between_serves_every_batch():
    plain = graph_of(lambda b, q, x: q @ (b.constant(numbers(32, 32)) @ x), (2, 4, 32), (2, 32, 64))
    assert by_rule(derived(plain, [product_to_the_left]), product_to_the_left)
    assert multiply_adds(fewest(plain)) == 2 * (4 * 32 * 32 + 4 * 32 * 64)


def test_the_cheap_order_stays():
    plain = graph_of(lambda b, q, k, v: q @ (k @ v), (64, 4), (4, 64), (64, 4))
    assert len(derived(plain).primitives) == len(plain.primitives)


def softmax(b: Builder, x: Value) -> Value:
    e = b.op("Exp", x)
    return e / b.op("ReduceSum", e, axes=(x.rank - 1,), keepdims=1)


def test_a_row_sum_becomes_part_of_the_product():
    """Figure 2 of the paper: reduction and product of a softmax's numerator are one product with a wider matrix."""
    plain = graph_of(lambda b, x, v: softmax(b, x) @ v, (2, 8, 6), (2, 6, 3))
    graph = algebra(plain)
    assert_same_values(plain, graph)
    (wide,) = [p for p in by_rule(graph, row_sum_in_product) if p.op == "MatMul"]
    assert wide.output.shape == (2, 8, 4)
    assert by_rule(graph, scale_behind_product)


def in_half_precision(build: Build, *shapes: tuple[int, ...]) -> Graph:
    b = Builder()
    return b.graph([("y", build(b, *(b.input(f"x{i}", "float16", shape) for i, shape in enumerate(shapes))))])


@pytest.mark.parametrize(
    "build, shapes",
    [
        (lambda b, x, v: softmax(b, x) @ v, [(1, 32, 256), (1, 256, 8)]),
        (lambda b, x, v, r: (x @ v) / b.op("Exp", r), [(32, 4), (4, 8), (32, 1)]),
        (lambda b, x, v, r: (x @ v) / (x @ r), [(32, 4), (4, 4), (4, 1)]),
    ],
    ids=["softmax", "wide", "norm"],
)
def test_half_precision_divides_rows_where_it_is_written(build: Build, shapes: list[tuple[int, ...]]):
    """256 equal scores and values of 300: the average is 300, the sum before the division no number of 16 bits."""
    rules = [row_sum_in_product, scale_behind_product, scale_before_product, norm_before_product]
    plain = in_half_precision(build, *shapes)
    assert derived(plain, rules).primitives == plain.primitives
    assert len(derived(graph_of(build, *shapes), rules).primitives) > len(plain.primitives)


def mul_turned(b: Builder, x: Value, r: Value) -> Value:
    return r * x


@pytest.mark.parametrize("scale", [lambda b, x, r: x / r, lambda b, x, r: x * r, mul_turned])
def test_row_scales_move_to_the_smaller_side(scale: Build):
    def build(b: Builder, x: Value, v: Value, r: Value) -> Value:
        return scale(b, x @ v, b.op("Exp", r))

    wide = graph_of(build, (2, 8, 3), (3, 6), (2, 8, 1))
    assert by_rule(derived(wide, [scale_before_product]), scale_before_product)
    narrow = graph_of(build, (2, 8, 6), (6, 3), (2, 8, 1))
    assert not by_rule(derived(narrow, [scale_before_product]), scale_before_product)


@pytest.mark.parametrize("scale", [lambda b, x, r: x / r, lambda b, x, r: x * r, mul_turned])
def test_row_scales_move_behind_a_product_that_leaves_less(scale: Build):
    plain = graph_of(lambda b, x, v, r: scale(b, x, r) @ v, (2, 8, 6), (6, 3), (2, 8, 1))
    assert by_rule(derived(plain, [scale_behind_product]), scale_behind_product)


def test_a_sum_of_something_else_stays_a_sum():
    def build(b: Builder, x: Value, v: Value) -> Value:
        return (x / b.op("ReduceSum", b.op("Exp", x), axes=(2,), keepdims=1)) @ v

    assert not by_rule(derived(graph_of(build, (2, 8, 6), (2, 6, 3))), row_sum_in_product)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kind", ["linear", "conv"])
def test_siblings_merge(kind: str, bias: bool):
    def one(b: Builder, x: Value, n: int) -> Value:
        y = linear(b, x, n, seed=n) if kind == "linear" else conv(b, x, n, 3, 1, seed=n)
        return b.op("Relu", biased(b, y) if bias else y)

    def build(b: Builder, x: Value) -> Value:
        return b.op("Concat", *(one(b, x, n) for n in (2, 3, 4)), axis=2 if kind == "linear" else 1)

    plain = graph_of(build, (1, 5, 4) if kind == "linear" else (1, 4, 5, 5))
    rule = merged_biased_siblings if bias else merged_siblings
    graph = derived(plain, [merged_siblings, merged_biased_siblings])
    found = by_rule(graph, rule)
    (wide,) = [p for p in found if p.op in ("MatMul", "Conv")]
    assert wide.output.shape[2 if kind == "linear" else 1] == 9
    assert sum(p.op == "Slice" for p in found) == 3


def test_many_siblings_merge_in_groups():
    """Ten readers of one tensor: eight, and the two that are left."""
    plain = graph_of(lambda b, x: b.op("Concat", *(linear(b, x, n) for n in range(1, 11)), axis=1), (5, 4))
    found = by_rule(derived(plain, [merged_siblings]), merged_siblings)
    assert sorted(p.output.shape[1] for p in found if p.op == "MatMul") == [9 + 10, sum(range(1, 9))]
    assert sum(p.op == "Slice" for p in found) == 10


def test_siblings_of_other_shape_stay():
    def build(b: Builder, x: Value) -> Value:
        return b.op("Concat", conv(b, x, 2), conv(b, x, 2, 3, 1), axis=1)

    plain = graph_of(build, (1, 3, 4, 4))
    assert not by_rule(derived(plain), merged_siblings)


def sums_columns(s: Space, p: Primitive):
    """Wrong: (A / sum A) B = (A B) / sum(A B)."""
    for q in s.producers(p.inputs[0]) if p.op == "MatMul" else ():
        if q.op == "Div":
            y = s.op("MatMul", q.inputs[0], p.inputs[1])
            yield s.op("Div", y, s.op("ReduceSum", y, axes=(y.rank - 1,), keepdims=1))


def test_a_rule_that_sums_the_wrong_rows_is_caught():
    plain = graph_of(lambda b, x, v: softmax(b, x) @ v, (2, 8, 6), (2, 6, 3))
    assert differing(plain, saturated(plain, [Rule("wrong", sums_columns)]))
