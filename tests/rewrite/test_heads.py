"""Linear attention and the projection behind it: what the projection becomes, and where everything stays."""

from __future__ import annotations

import pytest

from korch.candidates import enumerate_cones
from korch.ir import Builder, Graph, Value
from korch.rewrite import add_choices
from korch.rewrite.heads import map_into_heads
from korch.rewrite.rowsum import norm_before_product
from korch.rewrite.saturate import algebra

from .choices import assert_same_values, by_rule, derived, fewest, multiply_adds
from .nets import Build, biased, conv, graph_of, linear


def columns(b: Builder, x: Value, start: int, n: int) -> Value:
    return b.op("Slice", x, starts=(0, 0, 0, start), steps=(1,) * 4, lengths=(*x.shape[:-1], n))


def attention(b: Builder, q: Value, k: Value, v: Value) -> Value:
    """relu(q) (relu(k)^T [v 1]), its columns divided by the last."""
    q, k, d = b.op("Relu", q), b.op("Transpose", b.op("Relu", k), perm=(0, 1, 3, 2)), v.shape[3]
    y = q @ (k @ b.op("Pad", v, pads=(0,) * 7 + (1,), mode="constant", value=1.0))
    return columns(b, y, 0, d) / (columns(b, y, d, 1) + b.constant(0.125, "float32"))


def image(b: Builder, y: Value) -> Value:
    """Heads are channels, a 1x1 convolution of half as many with bias behind them."""
    n, heads, rows, d = y.shape
    wide = b.op("Reshape", b.op("Transpose", y, perm=(0, 1, 3, 2)), shape=(n, heads * d, rows // 3, 3))
    return b.op("Relu", biased(b, conv(b, wide, heads * d // 2)))


def tokens(b: Builder, y: Value) -> Value:
    n, heads, rows, d = y.shape
    wide = b.op("Reshape", b.op("Transpose", y, perm=(0, 2, 1, 3)), shape=(n, rows, heads * d))
    return biased(b, linear(b, wide, heads * d // 2))


def normalised(projected: Build, shape: tuple[int, int, int, int]) -> Graph:
    return graph_of(lambda b, q, k, v: projected(b, attention(b, q, k, v)), shape, shape, shape)


@pytest.mark.parametrize("shape", [(1, 2, 96, 4), (2, 3, 75, 3)], ids=str)
@pytest.mark.parametrize("projected", [image, tokens])
def test_a_projection_multiplies_rows_by_what_it_makes_of_the_matrices_of_the_heads(
    projected: Build, shape: tuple[int, int, int, int]
):
    plain = normalised(projected, shape)
    graph = algebra(plain)
    assert_same_values(plain, graph)
    n, heads, rows, d = shape
    outputs = heads * d // 2
    products = [p.output.shape for p in by_rule(graph, map_into_heads) if p.op == "MatMul"]
    assert sorted(products) == sorted([(n, heads, d, outputs), (*(() if n == 1 else (n,)), rows, outputs)])
    sums = [p.op for p in graph.primitives if p.rule == norm_before_product.name]
    assert sorted(sums) == ["Add", "Div", "Mul", "ReduceSum", "Transpose"]


def test_what_it_saves():
    """All of q (k v), but a product of the heads' matrices with their weights."""
    plain = normalised(image, (1, 2, 48, 4))
    written, saved, more = multiply_adds(plain), 2 * 48 * 4 * 5, 2 * 4 * 4 * 4
    assert multiply_adds(fewest(plain)) == written - saved + more


def test_what_follows_reads_the_rows_as_an_image_channels_last():
    """No transpose lies between the product and the bias."""
    plain = normalised(image, (1, 2, 96, 4))
    graph = add_choices(plain)
    assert_same_values(plain, graph)
    (rows,) = [p.output for p in by_rule(graph, map_into_heads) if p.op == "MatMul" and p.output.shape == (96, 4)]
    cones = [[p.op for p in c.primitives] for c in enumerate_cones(graph) if rows in c.makers]
    assert ["MatMul", "Reshape", "Add", "Relu"] in cones
    assert ["MatMul", "Reshape", "Transpose", "Add", "Relu"] in cones


def test_kernels_read_the_image_that_holds_queries_keys_and_values():
    """However many views lie between: what they leave of it is all that is read, by the rows and by k^T [v 1]; be it of
    all three, of the queries or of the others."""

    def build(b: Builder, x: Value) -> Value:
        n, c, h, w = x.shape
        heads = b.op("Reshape", b.op("Relu", x), shape=(n, 2, c // 2, h * w))
        turned = b.op("Transpose", heads, perm=(0, 1, 3, 2))
        return image(b, attention(b, *(columns(b, turned, 4 * i, 4) for i in range(3))))

    graph = add_choices(graph_of(lambda b, x: build(b, conv(b, x, 24)), (1, 3, 12, 8)))
    (divided,) = [p.output for p in graph.primitives if p.op == "Div" and p.rule == norm_before_product.name]
    (turned,) = [p.output for p in by_rule(graph, map_into_heads) if p.op == "Transpose" and p.inputs[0] == divided]
    wide = {t for t in graph.producers if t.shape in {(1, 12, 8, n) for n in (8, 16, 24)}}
    (product,) = [p.output for p in graph.primitives if p.op == "MatMul" and p.output.shape == (1, 2, 4, 5)]
    read = {root: [set(c.leaves) for c in enumerate_cones(graph) if c.root == root] for root in (turned, product)}
    assert any(not wide.isdisjoint(leaves) for leaves in read[turned])
    assert any(len(leaves) == 1 and leaves <= wide for leaves in read[product])


def soft(b: Builder, q: Value, k: Value, v: Value) -> Value:
    e = b.op("Exp", q @ b.op("Transpose", k, perm=(0, 1, 3, 2)))
    return (e / b.op("ReduceSum", e, axes=(3,), keepdims=1)) @ v


@pytest.mark.parametrize("rows", [4, 48], ids=["few rows", "many rows"])
def test_attention_by_softmax_stays(rows: int):
    shape = (1, 2, rows, 4)
    plain = graph_of(lambda b, q, k, v: tokens(b, soft(b, q, k, v)), shape, shape, shape)
    assert not by_rule(derived(plain), map_into_heads)


def test_few_rows_stay():
    assert not by_rule(derived(normalised(tokens, (1, 2, 24, 4))), map_into_heads)


def test_a_projection_of_rows_in_another_order_stays():
    """Rows and heads side by side are no heads joined."""

    def build(b: Builder, q: Value, k: Value, v: Value) -> Value:
        y = attention(b, q, k, v)
        return linear(b, b.op("Reshape", y, shape=(1, 48, 8)), 4)

    assert not by_rule(derived(graph_of(build, *[(1, 2, 48, 4)] * 3)), map_into_heads)
