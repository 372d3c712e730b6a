"""Softmax without the shift by its maximum: where the range of what it takes is proved, or a caller does not mind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from korch.fission.softmax import softmax
from korch.ir import Builder, Graph, Value
from korch.ir.evaluate import evaluate_graph
from korch.ir.primitive import APPROXIMATE
from korch.rewrite import add_choices
from korch.rewrite.rowsum import row_sum_in_product, scale_behind_product
from korch.rewrite.rule import Rule
from korch.rewrite.saturate import saturated
from korch.rewrite.shift import softmax_unshifted, softmax_unshifted_unproved

from .choices import assert_same_values, by_rule, derived
from .nets import graph_of

UNSHIFTED = {softmax_unshifted.name, softmax_unshifted_unproved.name}
LARGE = (4, 400)


def within(bound: float) -> Callable[[Builder, Value], Value]:
    return lambda b, x: softmax(b, b.op("Min", b.op("Max", x, -bound), bound), axis=-1)


def fires(graph: Graph, rule: Rule = softmax_unshifted) -> bool:
    return bool(by_rule(derived(graph, [rule]), rule))


def offered(graph: Graph) -> bool:
    return any(p.rule in UNSHIFTED for p in graph.primitives)


def test_bounded_scores_need_no_maximum():
    plain = graph_of(lambda b, x: softmax(b, b.op("Tanh", x) * 50.0, axis=1), LARGE)
    graph = derived(plain, [softmax_unshifted])
    assert [p.op for p in by_rule(graph, softmax_unshifted)] == ["Exp", "ReduceSum", "Div"]
    assert all(p.error != APPROXIMATE for p in graph.primitives)


def test_nothing_is_said_of_what_may_be_anything():
    plain = graph_of(lambda b, x: softmax(b, x, axis=1), LARGE)
    assert not fires(plain) and fires(plain, softmax_unshifted_unproved)


@pytest.mark.parametrize(
    "bound, columns, expected",
    [(55.0, 8, True), (57.0, 8, True), (57.5, 8, False), (55.0, 1000, False), (59.0, 1, False)],
)
def test_the_sum_counts(bound: float, columns: int, expected: bool):
    assert fires(graph_of(within(bound), (2, columns))) == expected


@pytest.mark.parametrize(
    "dtype, bound, expected", [("float16", 8.0, False), ("float16", 5.0, True), ("float64", 300.0, True)]
)
def test_every_dtype_has_its_own_range(dtype: str, bound: float, expected: bool):
    b = Builder()
    assert fires(b.graph([("y", within(bound)(b, b.input("x", dtype, (3, 6))))])) == expected


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_at_the_ends_of_the_range_float32_is_as_good(scale: float):
    plain = graph_of(within(57.0), (3, 8))
    graph = saturated(plain, [softmax_unshifted])
    other = replace(graph, primitives=tuple(reversed(graph.primitives))).plain()
    assert not any(p.op == "ReduceMax" for p in other.primitives)
    x = np.random.default_rng(0).standard_normal((3, 8)).astype(np.float32) * np.float32(scale)
    x[0] = -1e6
    got, expected = evaluate_graph(other, {"x0": x}, "float32")["y"], evaluate_graph(plain, {"x0": x})["y"]
    assert np.abs(got - expected).max() < 1e-6


def test_the_shift_may_be_any_number_of_the_row():
    def build(b: Builder, x: Value, m: Value) -> Value:
        e = b.op("Exp", b.op("Tanh", x) - m)
        return e / b.op("ReduceSum", e, axes=(1,), keepdims=1)

    assert fires(graph_of(build, (3, 5, 4), (3, 1, 4))) and fires(graph_of(build, (3, 5, 4), (4,)))
    assert not fires(graph_of(build, (3, 5, 4), (3, 5, 4))) and not fires(graph_of(build, (3, 5, 4), (5, 1)))


def test_row_sums_move_into_the_product_of_the_unshifted_form_too():
    plain = graph_of(lambda b, x, v: softmax(b, b.op("Tanh", x), axis=1) @ v, (8, 6), (6, 3))
    graph = derived(plain, [softmax_unshifted, row_sum_in_product, scale_behind_product])
    unshifted = {p.output for p in by_rule(graph, softmax_unshifted) if p.op == "Exp"}
    assert any(p.op == "MatMul" and p.inputs[0] in unshifted for p in by_rule(graph, row_sum_in_product))
    assert any(p.op == "MatMul" and p.inputs[0] in unshifted for p in by_rule(graph, scale_behind_product))


def test_without_a_proof_it_is_a_choice_only_where_asked_for():
    anything = graph_of(lambda b, x: softmax(b, x, axis=1), LARGE)
    assert not offered(add_choices(anything)) and not offered(add_choices(anything, approximate=False))
    fast = add_choices(anything, unproved=True)
    assert offered(fast) and all(p.error == APPROXIMATE for p in fast.primitives if p.rule in UNSHIFTED)
    assert_same_values(anything, fast)
    bounded = graph_of(lambda b, x: softmax(b, b.op("Sigmoid", x), axis=1), LARGE)
    assert offered(add_choices(bounded, approximate=False))
