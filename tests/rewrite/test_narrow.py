"""Products of few rows beside which stands one that widens its weights; and which products these are."""

from __future__ import annotations

import numpy as np
import pytest

from korch.candidates import enumerate_cones
from korch.ir import Builder, Graph
from korch.ir.evaluate import evaluate_graph
from korch.rewrite.narrow import FEW, narrow_weights

RNG = np.random.default_rng(0)
STEPS, COLUMNS = 128, 256


def dequantized(rows: int, block: int = 32) -> Graph:
    """x times codes of four bits, by blocks."""
    b = Builder()
    x = b.input("x", "float32", (rows, STEPS))
    codes = b.constant(RNG.integers(0, 256, (COLUMNS, STEPS // block, block // 2)).astype(np.uint8), name="codes")
    scale = b.constant(RNG.uniform(0.01, 0.1, (COLUMNS, STEPS // block, 1)).astype(np.float32), name="scale")
    wide = (b.op("Cast", b.op("Unpack", codes, bits=4, signed=0), to="float32") - 8.0) * scale
    w = b.op("Transpose", b.op("Reshape", wide, shape=(COLUMNS, STEPS)), perm=(1, 0))
    return b.graph([("y", b.op("Relu", x @ w))])


def test_the_expression_of_the_weights_comes_back():
    graph = dequantized(2)
    changed = narrow_weights(graph)
    added = changed.primitives[len(graph.primitives) :]
    assert [p.op for p in added] == ["Unpack", "Cast", "Sub", "Mul", "Reshape", "Transpose", "MatMul"]
    read = [t for p in added for t in p.inputs if t.const and t.value is None]
    assert sum(t.nbytes for t in read) < graph.primitives[0].inputs[1].nbytes / 5
    feeds = {"x": RNG.standard_normal((2, STEPS)).astype(np.float32)}
    other = changed.without([graph.primitives[0]])
    want, got = (evaluate_graph(g, feeds)["y"] for g in (graph, other))
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-6 * np.abs(want).max())


@pytest.mark.parametrize(("rows", "count"), [(1, 7), (FEW, 7), (FEW + 1, 0)])
def test_only_products_of_few_rows(rows: int, count: int):
    graph = dequantized(rows)
    assert len(narrow_weights(graph).primitives) - len(graph.primitives) == count


def test_weights_that_are_no_larger_than_their_sources_stay_folded():
    b = Builder()
    x, w = b.input("x", "float32", (1, STEPS)), RNG.standard_normal((COLUMNS, STEPS)).astype(np.float32)
    graph = b.graph([("y", x @ b.op("Transpose", b.constant(w) * 2.0, perm=(1, 0)))])
    assert narrow_weights(graph).primitives == graph.primitives


def test_two_products_share_what_they_widen():
    b = Builder()
    codes = b.constant(RNG.integers(-128, 128, (STEPS, COLUMNS)).astype(np.int8))
    w = b.op("Cast", codes, to="float32")
    graph = b.graph([(n, b.input(n, "float32", (1, STEPS)) @ w) for n in "uv"])
    added = narrow_weights(graph).primitives[len(graph.primitives) :]
    assert [p.op for p in added] == ["Cast", "MatMul", "MatMul"]


def test_no_kernel_stores_widened_weights():
    several = [c for c in enumerate_cones(narrow_weights(dequantized(1))) if len(c.primitives) > 1]
    assert sorted(len(c.primitives) for c in several) == [2, 7, 8]
    assert all(c.linear for c in several)
