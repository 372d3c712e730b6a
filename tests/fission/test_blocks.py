"""Weights that are quantized by blocks, against onnxruntime; and which constants stay unfolded for them."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from korch.fission import fission
from korch.ir.constants import Constants, Folded
from korch.ir.graph import Graph

from .oracle import check, check_model, values

RNG = np.random.default_rng(0)


def packed(numbers: np.ndarray) -> np.ndarray:
    """Integers of four bits, two a byte, the first one lower."""
    padded = np.concatenate([numbers, np.zeros((*numbers.shape[:-1], numbers.shape[-1] % 2), np.uint8)], -1)
    return padded[..., ::2] | padded[..., 1::2] << np.uint8(4)


def product(rows: int, steps: int, columns: int, block: int, bits: int, zero: str, bias: bool = False) -> Graph:
    """The checked fission of a MatMulNBits."""
    blocks = -(-steps // block)
    some = lambda *shape: RNG.integers(0, 1 << bits, shape).astype(np.uint8)  # noqa: E731
    pack = packed if bits == 4 else np.asarray
    zeros = {
        "": None,
        "packed": pack(some(columns, blocks)),
        "float": RNG.uniform(0, 15, (columns, blocks)).astype(np.float32),
    }
    inputs = (
        values(rows, steps),
        pack(some(columns, blocks, block)),
        RNG.uniform(0.01, 0.1, (columns, blocks)).astype(np.float32),
        zeros[zero],
        None,
        values(columns) if bias else None,
    )
    attrs = {"K": steps, "N": columns, "bits": bits, "block_size": block}
    while inputs[-1] is None:
        inputs = inputs[:-1]
    return check("MatMulNBits", *inputs, constants=range(1, 6), opset=21, domain="com.microsoft", **attrs)


@pytest.mark.parametrize("block", [16, 32, 128])
@pytest.mark.parametrize(("bits", "zero"), [(4, ""), (4, "packed"), (4, "float"), (8, ""), (8, "packed")])
def test_product(bits: int, zero: str, block: int):
    product(3, 100, 33, block, bits, zero, bias=True)


@pytest.mark.parametrize(("steps", "columns"), [(1, 1), (7, 5), (257, 3), (64, 1)])
def test_shapes_that_fill_no_block(steps: int, columns: int):
    product(2, steps, columns, 32, 4, "packed")


def test_columns_that_are_grouped_by_index_stay_opaque():
    w, index = packed(np.zeros((4, 2, 16), np.uint8)), (np.arange(32, dtype=np.int32)[::-1] // 16).copy()
    inputs = values(2, 32), w, values(4, 2), None, index
    attrs = {"K": 32, "N": 4, "bits": 4, "block_size": 16}
    check("MatMulNBits", *inputs, constants=(1, 2, 4), opset=21, domain="com.microsoft", opaque=True, **attrs)


@pytest.mark.parametrize("length", [64, 50])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_dequantized_by_blocks(dtype: str, axis: int, length: int):
    shape, blocks = [6, 6], [6, 6]
    shape[axis], blocks[axis] = length, -(-length // 16)
    limits = np.iinfo(dtype)
    x, zero = (RNG.integers(limits.min, limits.max, s).astype(dtype) for s in (shape, blocks))
    scale = RNG.uniform(0.01, 0.1, blocks).astype(np.float32)
    oracle = "onnx" if length % 16 else "onnxruntime"
    for given in ((x, scale, zero), (x, scale)):
        check("DequantizeLinear", *given, opset=21, axis=axis, block_size=16, oracle=oracle)


@pytest.mark.parametrize(("kind", "low"), [(TensorProto.UINT4, 0), (TensorProto.INT4, -8)])
@pytest.mark.parametrize("columns", [4, 5])
def test_integers_of_four_bits(kind: int, low: int, columns: int):
    numbers, zero = (RNG.integers(low, low + 16, s) for s in ((32, columns), (2, columns)))
    scale = RNG.uniform(0.01, 0.1, zero.shape).astype(np.float32)
    nodes = [
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["w"], axis=0, block_size=16),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    weights = [helper.make_tensor(n, kind, v.shape, v.reshape(-1).tolist()) for n, v in (("q", numbers), ("z", zero))]
    ends = [helper.make_tensor_value_info(n, 1, s) for n, s in (("x", (3, 32)), ("y", (3, columns)))]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], [*weights, numpy_helper.from_array(scale, "s")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    assert [p.op for p in check_model(model, {"x": values(3, 32)}).primitives] == ["MatMul"]


def test_weights_remember_their_narrow_sources():
    graph = product(1, 512, 129, 32, 4, "packed")
    (p,) = graph.primitives
    assert isinstance(graph.constants, Constants)
    entry = graph.constants.entry(p.inputs[1].name)
    assert isinstance(entry, Folded) and p.inputs[1].nbytes > 5 * entry.sources
    assert entry.sources >= 512 * 129 // 2


def test_a_factor_behind_leaves_them_their_sources():
    inputs = [helper.make_tensor_value_info("x", 1, (1, 512))]
    weights = {
        "w": RNG.integers(0, 256, (64, 16, 16)).astype(np.uint8),
        "s": RNG.uniform(0.01, 0.1, (64, 16)).astype(np.float32),
        "f": RNG.uniform(0.5, 2, 64).astype(np.float32),
    }
    attrs = {"K": 512, "N": 64, "bits": 4, "block_size": 32}
    nodes = [
        helper.make_node("MatMulNBits", ["x", "w", "s"], ["t"], domain="com.microsoft", **attrs),
        helper.make_node("Mul", ["t", "f"], ["y"]),
    ]
    initial = [numpy_helper.from_array(v, n) for n, v in weights.items()]
    graph = helper.make_graph(nodes, "g", inputs, [onnx.ValueInfoProto(name="y")], initial)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    found = fission(helper.make_model(graph, opset_imports=opsets, ir_version=10))
    assert [p.op for p in found.primitives] == ["MatMul", "Mul"]
