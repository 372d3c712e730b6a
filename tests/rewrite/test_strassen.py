"""Strassen's seven products and their sums against the product as written."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from korch.executable.feeds import random_feeds
from korch.ir import Builder, Graph, Primitive, Tensor, Value
from korch.ir.evaluate import evaluate_graph, evaluate_primitive
from korch.ir.graph import select
from korch.ir.macs import total, total_of_values
from korch.ir.onnx_write import graph_to_onnx
from korch.ir.ops.strassen import INPUT, OUTPUT, WEIGHTS, weights
from korch.ir.ops.table import op_named
from korch.ir.primitive import APPROXIMATE
from korch.rewrite import add_choices
from korch.rewrite.strassen import strassen

Shape = tuple[int, ...]


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def product_graph(shape: Shape, k: int) -> Graph:
    b = Builder()
    return b.graph([("y", b.input("x", "float32", shape) @ b.constant(normal(shape[-1], k)))])


def convolved(x: Value, k: int, kernel: int = 1, stride: int = 1, group: int = 1, last: int = 1, pad: int = 0) -> Value:
    w = x.builder.constant(normal(k, x.shape[3 if last else 1] // group, kernel, kernel))
    return x.builder.op(
        "Conv", x, w, strides=(stride, stride), pads=(pad,) * 4, dilations=(1, 1), group=group, channels_last=last
    )


def conv_graph(shape: Shape, k: int, **attrs: int) -> Graph:
    b = Builder()
    return b.graph([("y", convolved(b.input("x", "float32", shape), k, **attrs))])


def sums_of(graph: Graph) -> list[Primitive]:
    return [p for p in graph.primitives if p.op == "StrassenOutput"]


def through_strassen(plain: Graph) -> Graph:
    """The selection that computes by seven products wherever it can."""
    graph = strassen(plain)
    chosen = {t: ps[-1] for t, ps in graph.producers.items()}
    result = replace(graph, primitives=select(graph, chosen))
    assert sums_of(result)
    return result


def test_the_matrices_are_an_algorithm_for_blocks():
    """Sum over products of OUTPUT INPUT WEIGHTS is 1 where block (i, j) of x meets block (j, k) of w for (i, k)."""
    found = np.einsum("om,mx,mw->oxw", OUTPUT, INPUT, WEIGHTS).reshape((2,) * 6)
    i, k, a, b, c, d = np.indices((2,) * 6)
    np.testing.assert_array_equal(found, (i == a) & (b == c) & (d == k))


def test_weights_are_rounded_once():
    w = normal(64, 96)
    blocks = w.astype(np.float64).reshape(2, 32, 2, 48).transpose(0, 2, 1, 3).reshape(4, 32, 48)
    np.testing.assert_array_equal(weights(w), np.tensordot(WEIGHTS, blocks, 1).astype(np.float32))


PLAIN = [
    product_graph((64, 448), 448),
    product_graph((3, 38, 512), 384),
    product_graph((1, 6, 13, 416), 512),
    product_graph((1, 2, 3, 12, 448), 512),
    conv_graph((1, 8, 9, 448), 448),
    conv_graph((2, 7, 7, 416), 512),
]


@pytest.mark.parametrize("plain", PLAIN, ids=lambda g: str(g.inputs[0].shape))
def test_same_values(plain: Graph):
    feeds = random_feeds(plain)
    expected, got = evaluate_graph(plain, feeds)["y"], evaluate_graph(through_strassen(plain), feeds)["y"]
    assert np.abs(got - expected).max() <= 1e-6 * np.abs(expected).max()  # the weights are rounded to float32


@pytest.mark.parametrize("plain", PLAIN, ids=lambda g: str(g.inputs[0].shape))
def test_as_onnx(plain: Graph):
    feeds = random_feeds(plain)
    session = onnxruntime.InferenceSession(graph_to_onnx(through_strassen(plain)).SerializeToString())
    (got,) = session.run(None, feeds)
    expected = evaluate_graph(plain, feeds)["y"]
    assert np.abs(got - expected).max() <= 1e-5 * np.abs(expected).max()


@settings(deadline=None)
@given(
    lead=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    c=st.integers(1, 5),
    k=st.integers(1, 5),
    seed=st.integers(0, 99),
)
def test_transforms_of_any_shape(lead: list[int], c: int, k: int, seed: int):
    """Whatever the rewrite asks for: all that rows and columns need is halves."""
    rng = np.random.default_rng(seed)
    lead[rng.integers(len(lead))] *= 2
    x, w = rng.standard_normal((*lead, 2 * c)), rng.standard_normal((2 * c, 2 * k))
    first, last = transforms((*lead, 2 * c), 2 * k)
    m = evaluate_primitive(first, [x]) @ weights(w)
    np.testing.assert_allclose(evaluate_primitive(last, [m]), x @ w, atol=1e-12)


def transforms(shape: Shape, k: int) -> tuple[Primitive, Primitive]:
    x = Tensor("x", "float64", shape)
    s = Tensor("s", *op_named("StrassenInput").infer((x,), {}))
    m, y = Tensor("m", "float64", (*s.shape[:2], k // 2)), Tensor("y", "float64", (*shape[:-1], k))
    return Primitive("StrassenInput", (x,), s), Primitive("StrassenOutput", (m,), y, (("shape", y.shape),))


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("shape", [(12, 20), (1, 6, 7, 20), (2, 5, 3, 20)])
@pytest.mark.parametrize("seed", range(3))
def test_part_of_a_transform(number: int, shape: Shape, seed: int):
    p = transforms(shape, 26)[number]
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(p.inputs[0].shape)
    whole = evaluate_primitive(p, [x])
    region = tuple(np.unique(rng.integers(0, n, 4)) for n in p.output.shape)
    part = p.spec.evaluate(p, region, lambda i, r: x[np.ix_(*r)])
    np.testing.assert_allclose(part, whole[np.ix_(*region)], atol=1e-12)


@pytest.mark.parametrize("shape", [(63, 32), (1, 5, 13, 32), (64, 31)])
def test_what_has_no_halves_has_no_transforms(shape: Shape):
    with pytest.raises(ValueError, match="cannot be halved"):
        transforms(shape, 32)


@pytest.mark.parametrize(
    "plain",
    [
        product_graph((65, 448), 448),
        product_graph((1, 7, 13, 448), 448),
        product_graph((62, 448), 448),
        product_graph((64, 456), 448),
        product_graph((64, 448), 456),
        product_graph((64, 256), 256),
        product_graph((4096, 1024), 64),
        conv_graph((1, 9, 9, 448), 448),
        conv_graph((1, 16, 16, 448), 448, stride=2),
        conv_graph((1, 16, 16, 448), 448, kernel=3, pad=1),
        conv_graph((1, 16, 16, 896), 896, group=2),
        conv_graph((1, 16, 16, 448), 448, pad=1),
        conv_graph((1, 448, 16, 448), 448, last=0),
    ],
    ids=lambda g: str(g.primitives[0])[:60],
)
def test_left_alone_where_it_cannot_be_or_cannot_pay(plain: Graph):
    assert strassen(plain).primitives == plain.primitives


def test_left_alone_where_weights_are_computed_or_of_a_batch():
    b = Builder()
    x, w = b.input("x", "float32", (2, 64, 448)), b.input("w", "float32", (448, 448))
    plain = b.graph([("y", x @ w), ("z", x @ b.constant(normal(2, 448, 448))), ("v", b.constant(normal(64, 448)) @ w)])
    assert strassen(plain).primitives == plain.primitives
    twice = strassen(strassen(product_graph((64, 1024), 1024)))
    assert {p.inputs[0].name for p in twice.primitives if p.op == "StrassenInput"} == {"x"}


def test_refused_under_strict_numerics():
    plain = product_graph((64, 448), 448)
    assert sums_of(add_choices(plain))
    assert not any(p.error == APPROXIMATE for p in add_choices(plain, approximate=False).primitives)


def test_products_of_one_input_share_its_sums():
    b = Builder()
    x = b.input("x", "float32", (64, 448))
    ys = [x @ b.constant(normal(448, k)) for k in (448, 512)]
    graph = strassen(b.graph([(f"y{i}", y) for i, y in enumerate(ys)]))
    assert len([p for p in graph.primitives if p.op == "StrassenInput"]) == 1 and len(sums_of(graph)) == 2


def test_each_way_to_compute_an_output_has_a_product_of_its_own():
    b = Builder()
    x = b.input("x", "float32", (64, 448))
    y, z = (x @ b.constant(normal(448, 448) * scale) for scale in (1, 2))
    plain = b.graph([("y", y), ("z", z)])
    other = replace(plain.producers[z.tensor][0], output=y.tensor)  # as if another rule had said so
    graph = strassen(plain.add([other]))
    assert all(len(graph.producers[p.output]) == 1 for p in graph.primitives if p.op == "MatMul" and p.rule)


def test_a_convolution_that_is_also_a_product_has_one_chain():
    """A pointwise convolution whose positions a product reads: of the forms that it takes one is Strassen's."""
    b = Builder()
    y = convolved(b.input("x", "float32", (1, 448, 16, 16)), 448, last=0)
    rows = b.op("Transpose", b.op("Reshape", b.op("Relu", y), shape=(1, 448, 256)), perm=(0, 2, 1))
    graph = add_choices(b.graph([("y", y), ("z", rows @ b.constant(normal(448, 512)))]))
    values = [graph.value_of(p.output) for p in sums_of(graph)]
    assert len(values) == len(set(values)) == 2


def test_multiply_adds_count_as_executed_and_as_the_product_they_stand_for():
    for plain in PLAIN:
        chosen = through_strassen(plain)
        written = prod(plain.inputs[0].shape) * plain.outputs[0].shape[-1]
        assert total_of_values(plain) == total_of_values(chosen) == written
        assert 8 * total(chosen.primitives) == 7 * written


@pytest.mark.parametrize("c", [256, 1024])
def test_errs_about_twice_as_much_as_the_product_as_written(c: int):
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(shape).astype(np.float32) for shape in ((64, c), (c, c)))
    first, last = transforms(x.shape, c)
    m = evaluate_primitive(first, [x], "float32") @ weights(w)
    seven, eight = (
        np.abs(y - x.astype(np.float64) @ w).mean() for y in (evaluate_primitive(last, [m], "float32"), x @ w)
    )
    assert 1.5 * eight < seven < 3 * eight
