"""The graphs of the paper's figures are among the choices, and compute what the graphs as written do."""

from __future__ import annotations

import pytest

from korch.ir import Builder, Graph, Value
from korch.rewrite.rowsum import row_sum_beside_product, row_sum_in_product
from korch.rewrite.saturate import algebra
from korch.rewrite.siblings import merged_products

from .choices import assert_same_values, by_rule, derived
from .nets import graph_of


def ops_below(graph: Graph, rules: set[str]) -> list[str]:
    """The primitives that the rules added, in dependency order."""
    return [p.op for p in graph.primitives if p.rule in rules]


def softmax_attention(b: Builder, x: Value, v: Value) -> Value:
    e = b.op("Exp", x)
    return (e / b.op("ReduceSum", e, axes=(2,), keepdims=1)) @ v


def linear_attention(b: Builder, q: Value, k: Value, v: Value) -> Value:
    return (q @ (k @ v)) / (q @ b.op("ReduceSum", k, axes=(2,), keepdims=1))


def test_figure_2():
    """Pad with ones, one product, what it gives cut in two, and a division."""
    plain = graph_of(softmax_attention, (2, 8, 6), (2, 6, 3))
    graph = algebra(plain)
    assert_same_values(plain, graph)
    assert sorted(ops_below(graph, {row_sum_in_product.name})) == ["Div", "MatMul", "Pad", "Slice", "Slice"]


def test_figure_10():
    """k [v 1] is one product, and q times all of it another: both matrices that q is multiplied by are its columns."""
    plain = graph_of(linear_attention, (2, 20, 3), (2, 3, 20), (2, 20, 3))
    graph = algebra(plain)
    assert_same_values(plain, graph)
    (inner,) = [p for p in by_rule(graph, row_sum_beside_product) if p.op == "MatMul"]
    outer = [p for p in by_rule(graph, merged_products) if p.op == "MatMul" and p.inputs[1] == inner.output]
    assert inner.output.shape == (2, 3, 4) and [p.output.shape for p in outer] == [(2, 20, 4)]
    assert all(len(graph.producers[t]) > 1 for p in plain.primitives[-1:] for t in p.inputs)


def test_a_matrix_larger_than_what_it_multiplies_is_not_copied_for_a_sum():
    """Wide values: to join a column of ones to them moves more than to read the keys twice."""
    plain = graph_of(linear_attention, (2, 20, 3), (2, 3, 20), (2, 20, 9))
    assert not by_rule(derived(plain), row_sum_beside_product)


@pytest.mark.parametrize(
    ("a", "b", "c"),
    [((2, 9, 2), (2, 2, 8), (2, 2, 8)), ((2, 9, 2), (2, 3), (2, 2, 3))],
    ids=["larger than what is read once", "of other batches"],
)
def test_products_stay_apart(a: tuple[int, ...], b: tuple[int, ...], c: tuple[int, ...]):
    plain = graph_of(lambda builder, q, x, y: builder.op("Max", q @ x, q @ y), a, b, c)
    assert not by_rule(derived(plain), merged_products)
