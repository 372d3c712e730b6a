"""Integers that share bytes: the reference, whole and in part, and written as ONNX."""

from __future__ import annotations

import numpy as np
import pytest

from korch.ir import Builder, Cone
from korch.ir.evaluate import evaluate_cone, evaluate_graph
from korch.ir.onnx_write import graph_to_onnx
from korch.system.sessions import plain_session

BYTES = np.random.default_rng(0).integers(0, 256, (3, 5)).astype(np.uint8)


def by_hand(bits: int, signed: bool) -> np.ndarray:
    numbers = [[int(v) >> at & (1 << bits) - 1 for v in row for at in range(0, 8, bits)] for row in BYTES]
    low = np.asarray(numbers, np.int64)
    return np.where(low >= 1 << (bits - 1), low - (1 << bits), low).astype(np.int8) if signed else low.astype(np.uint8)


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("bits", [1, 2, 4])
def test_the_lowest_bits_come_first(bits: int, signed: bool):
    b = Builder()
    y = b.op("Unpack", b.input("x", "uint8", BYTES.shape), bits=bits, signed=int(signed))
    graph = b.graph([("y", y)])
    found = evaluate_graph(graph, {"x": BYTES})["y"]
    assert found.dtype == y.dtype
    np.testing.assert_array_equal(found, by_hand(bits, signed))
    written = plain_session(graph_to_onnx(graph).SerializeToString(), 1)
    np.testing.assert_array_equal(written.run(None, {"x": BYTES})[0], found)


def test_a_part_reads_no_more_than_its_bytes():
    b = Builder()
    graph = b.graph([("y", b.op("Unpack", b.input("x", "uint8", BYTES.shape), bits=4, signed=0))])
    region = (np.asarray([2, 0]), np.asarray([7, 2, 3, 9]))
    found = evaluate_cone(Cone.of(graph.primitives), [BYTES], region)
    np.testing.assert_array_equal(found, by_hand(4, False)[np.ix_(*region)])


@pytest.mark.parametrize(("dtype", "bits"), [("int8", 4), ("uint8", 3), ("uint8", 8)])
def test_other_operands_are_refused(dtype: str, bits: int):
    b = Builder()
    with pytest.raises(ValueError, match="integers of"):
        b.op("Unpack", b.input("x", dtype, (2, 2)), bits=bits, signed=0)
