"""Products: their order, what scales their rows, and siblings that merge."""

from __future__ import annotations

import pytest

from korch.ir import Builder, Value
from korch.ir.primitive import Primitive
from korch.rewrite.associate import product_to_the_left, product_to_the_right
from korch.rewrite.rowsum import row_sum_in_product, scale_before_product, scale_behind_product
from korch.rewrite.rule import Rule
from korch.rewrite.saturate import algebra
from korch.rewrite.siblings import merged_biased_siblings, merged_siblings
from korch.rewrite.space import Space

from .choices import assert_same_values, by_rule, derived, differing, fewest, multiply_adds, saturated
from .nets import biased, conv, graph_of, linear, numbers


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


@pytest.mark.parametrize("op", ["Div", "Mul"])
def test_row_scales_move_to_the_smaller_side(op: str):
    def build(b: Builder, x: Value, v: Value, r: Value) -> Value:
        return b.op(op, x @ v, b.op("Exp", r))

    wide = graph_of(build, (2, 8, 3), (3, 6), (2, 8, 1))
    assert by_rule(derived(wide, [scale_before_product]), scale_before_product)
    narrow = graph_of(build, (2, 8, 6), (6, 3), (2, 8, 1))
    assert not by_rule(derived(narrow, [scale_before_product]), scale_before_product)


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
