"""Random inputs for whole models."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest

from korch.executable.feeds import random_feeds
from korch.fission import fission
from korch.ir import Builder


@pytest.mark.parametrize("length", [1, 2, 5])
def test_integers_are_indices_of_what_they_index(length: int):
    """A table of token types may have one row."""
    b = Builder()
    table, i = b.input("table", "float32", (length, 3)), b.input("i", "int64", (50,))
    graph = b.graph([("y", b.op("Take", table, b.op("Reshape", i, shape=(5, 10)), axis=0, batch=0))])
    found = random_feeds(graph)["i"]
    assert found.dtype == np.int64 and set(found) == set(range(length)), "rows are read from anywhere"


def test_bytes_that_are_multiplied_have_their_whole_range():
    b = Builder()
    x, zero = b.input("x", "uint8", (40, 50)), b.constant(0, "uint8")
    y = b.op("MatMulInteger", x, b.constant(np.ones((50, 3), np.int8)), zero, w_zero=0)
    found = random_feeds(b.graph([("y", y)]))["x"]
    assert found.min() == 0 and found.max() == 255


def test_other_integers_are_0_and_1():
    b = Builder()
    i = b.input("i", "int32", (50,))
    assert set(random_feeds(b.graph([("y", i + i)]))["i"]) == {0, 1}


OPAQUE = {
    "indices": (
        '(bool[1,4] x, int64[2,3] i, bool[2,3] u) => (bool[1,4] y) { y = ScatterElements<reduction = "mul">(x, i, u) }',
        {0},
    ),
    "boxes of one image": (
        "(float[1,2,9,9] x, float[3,4] r, int64[3] i) => (float[3,2,1,1] y) { y = RoiAlign(x, r, i) }",
        {0},
    ),
    "codes": (
        "(uint8[1,1,9,9] i) => (int32[1,2,9,9] y) <uint8[2,1,1,1] w = {1, 2}, uint8 z = {0}, uint8[2] zeros = {0, 1}> "
        "{ y = ConvInteger(i, w, z, zeros) }",
        {0, 1},
    ),
}


@pytest.mark.parametrize("name", OPAQUE)
def test_integers_for_nodes_without_a_rule(name: str):
    text, values = OPAQUE[name]
    graph = fission(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> g {text}'))
    assert any(p.op == "Opaque" for p in graph.primitives) and set(random_feeds(graph)["i"].ravel()) == values


@pytest.mark.parametrize(("node", "shape"), [("GatherND(x, i)", "[9, 4]"), ("ScatterND(x, i, u)", "[1, 30, 4]")])
def test_coordinates_along_an_axis_of_length_1(node: str, shape: str):
    graph = fission(
        onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["": 17]>
        g (float[1, 30, 4] x, int64[9, 2] i, float[9, 4] u) => (float{shape} y) {{ y = {node} }}""")
    )
    assert set(random_feeds(graph)["i"].ravel()) == {0}


def test_integers_that_a_recurrence_starts_from():
    b = Builder()
    x, r, i = b.input("x", "float32", (2, 1, 1, 8)), b.input("r", "float32", (1, 8, 8)), b.input("i", "int64", (1,))
    rows = b.op("Take", b.input("table", "float32", (5, 8)), i, axis=0, batch=0)
    state = b.op("Reshape", rows, shape=(1, 1, 8))
    y = b.op("Recurrence", x, r, state, kind="RNN", direction="forward", cells=0, relu=0)
    assert set(random_feeds(b.graph([("y", y)]))["i"]) <= set(range(5))
