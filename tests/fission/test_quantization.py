"""QuantizeLinear and its kin against onnxruntime: ties to even, limits, one scale an axis."""

import numpy as np
import pytest

from korch.ir.evaluate import evaluate_graph

from .oracle import check, values

SCALE = np.asarray(0.25, np.float32)


@pytest.mark.parametrize("kind", ["uint8", "int8", "int16", "uint16"])
def test_quantize(kind):
    x = np.linspace(-50, 50, 401, dtype=np.float32)  # ties and both limits of eight bits
    zero = np.asarray(7, kind)
    check("QuantizeLinear", x, SCALE, zero, constants=[1, 2], opset=21)
    check("QuantizeLinear", x, SCALE, zero, opset=21)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_one_scale_an_axis(axis):
    x = values(3, 3, 3, low=-20, high=20)
    scale, zero = values(3, low=0.1, high=0.5), np.asarray([1, -5, 3], np.int8)
    check("QuantizeLinear", x, scale, zero, constants=[1, 2], axis=axis)
    q = np.arange(-13, 14, dtype=np.int8).reshape(3, 3, 3)
    check("DequantizeLinear", q, scale, zero, constants=[1, 2], axis=axis)
    check("DequantizeLinear", q, scale, axis=axis)


def test_no_zero_means_bytes():
    check("QuantizeLinear", values(2, 3), SCALE, constants=[1])
    check("QuantizeLinear", values(2, 3), SCALE, constants=[1], opset=21, output_dtype=3)
    check("DequantizeLinear", np.arange(6, dtype=np.int32), SCALE, constants=[1])


@pytest.mark.parametrize("constants", [[], [1, 2]])
def test_integers_by_integers_are_rounded_too(constants):
    """7 / 2 and -3 / 2, to even."""
    x, scale, zero = np.asarray([7, -3, 5, 1000]), np.asarray(2), np.asarray(1, np.int8)
    graph = check(
        "QuantizeLinear", x.astype("int32"), scale.astype("int32"), zero, opset=21, oracle="onnx", constants=constants
    )
    feeds = {"x0": x.astype("int32"), "x1": scale.astype("int32"), "x2": zero}
    (y,) = evaluate_graph(graph, feeds).values()
    assert y.tolist() == [5, -1, 3, 127]


def test_quantizing_by_blocks_stays_opaque():
    scale = values(2, 3, low=0.1, high=0.5)
    check("QuantizeLinear", values(4, 3), scale, opset=21, axis=0, block_size=2, opaque=True, constants=[1])


@pytest.mark.parametrize(("low", "high"), [(-3.0, 2.0), (1.0, 2.0), (-2.0, -1.0)])
def test_dynamic(low, high):
    check("DynamicQuantizeLinear", values(4, 5, low=low, high=high), outputs=3)


def test_dynamic_of_zeros():
    check("DynamicQuantizeLinear", np.zeros((4, 5), np.float32), outputs=3)
