"""Products and convolutions of bytes against onnxruntime: zero points, signs, windows, what stays opaque."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .oracle import check

RNG = np.random.default_rng(0)


def whole(dtype: str, *shape: int) -> np.ndarray:
    """The whole range of uint8; half of int8's: sums of two products of more are cut off in int16 by onnxruntime where
    processors have no better instruction."""
    low, end = (0, 256) if dtype == "uint8" else (-64, 64)
    return RNG.integers(low, end, shape).astype(dtype)


@pytest.mark.parametrize("weights", ["int8", "uint8"])
@pytest.mark.parametrize("zero", [0, 7, 255])
def test_products(weights: str, zero: int):
    x, w = whole("uint8", 2, 5, 31), whole(weights, 31, 9)
    check("MatMulInteger", x, w, np.asarray(zero, np.uint8), np.asarray(3, weights), constants=[1, 2, 3])
    check("MatMulInteger", x, w, np.asarray(zero, np.uint8), constants=[1])  # a zero point that is computed
    check("MatMulInteger", x, w)


def test_products_of_two_computed_operands():
    """Of short rows they are exact in floats."""
    graph = check("MatMulInteger", whole("uint8", 2, 5, 31), whole("uint8", 2, 31, 9), np.asarray(3, np.uint8))
    assert any(p.op == "MatMul" for p in graph.primitives)
    check("MatMulInteger", whole("uint8", 5, 300), whole("uint8", 300, 9), opaque=True)


@pytest.mark.parametrize("attrs", [{}, {"pads": [1, 2, 0, 1]}, {"strides": [2, 1], "dilations": [1, 2]}])
def test_convolutions(attrs: dict[str, Any]):
    x, w, zero = whole("uint8", 2, 3, 9, 8), whole("uint8", 4, 3, 3, 2), np.asarray(130, np.uint8)
    check("ConvInteger", x, w, zero, np.asarray(128, np.uint8), constants=[1, 2, 3], **attrs)
    check("ConvInteger", x, w, zero, constants=[1, 2], **attrs)


def test_groups_of_few_products_are_exact_in_floats():
    zeros = np.asarray(9, np.uint8), np.asarray(130, np.uint8)
    graph = check(
        "ConvInteger", whole("uint8", 1, 4, 5, 5), whole("uint8", 4, 1, 3, 3), *zeros, constants=[1, 2, 3], group=4
    )
    assert [p.op for p in graph.primitives] == ["Cast", "Add", "Conv", "Cast"]
    image, weights = whole("uint8", 1, 80, 4, 4), whole("uint8", 2, 40, 3, 3)
    check("ConvInteger", image, weights, constants=[1], group=2, opaque=True)


def test_signals_stay_opaque():
    check("ConvInteger", whole("uint8", 1, 3, 20), whole("uint8", 4, 3, 3), constants=[1], opaque=True)


def scales(*shape: int) -> np.ndarray:
    return RNG.uniform(0.001, 0.003, shape).astype(np.float32)


def test_quantized_products():
    one = np.asarray(0.02, np.float32)
    given = [whole("uint8", 5, 40), one, np.asarray(120, np.uint8), whole("int8", 40, 6), one, np.asarray(0, np.int8)]
    constants = [1, 2, 3, 4, 5, 6, 7]
    check("QLinearMatMul", *given, np.asarray(0.5, np.float32), np.asarray(100, np.uint8), constants=constants)


@pytest.mark.parametrize("channels", [(), (4,)])
def test_quantized_convolutions(channels: tuple[int, ...]):
    image = [whole("uint8", 1, 3, 7, 7), np.asarray(0.02, np.float32), np.asarray(120, np.uint8)]
    weights = [whole("int8", 4, 3, 3, 3), scales(*channels), np.zeros(channels, np.int8)]
    ends = [np.asarray(0.03, np.float32), np.asarray(11, np.uint8), RNG.integers(-999, 999, 4).astype(np.int32)]
    check("QLinearConv", *image, *weights, *ends, constants=[*range(1, 9)], pads=[1] * 4)


def test_zero_points_of_channels_stay_opaque():
    zeros = np.asarray([1, 2, 3, 4, 5, 6], np.int8)
    check("MatMulInteger", whole("uint8", 5, 8), whole("int8", 8, 6), np.asarray(3, np.uint8), zeros, opaque=True)


def test_sums_wrap_around():
    """As int32 does: onnxruntime's do."""
    length = 1 << 17
    x, w = np.full((1, length), 255, np.uint8), np.full((length, 1), 65, np.uint8)
    check("MatMulInteger", x, w, constants=[1])


MS = "com.microsoft"


def scaled(dtype: str, *shape: int, zero: int = 100, scale: float = 0.02) -> list[np.ndarray]:
    """Bytes, their scale and their zero point."""
    return [whole(dtype, *shape), np.asarray(scale, np.float32), np.asarray(zero, dtype)]


@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
def test_elementwise_operators_of_two_quantized_tensors(op: str):
    ends = [np.asarray(0.05, np.float32), np.asarray(90, np.uint8)]
    x, y = scaled("uint8", 2, 3, 5), scaled("uint8", 3, 5, zero=30, scale=0.03)
    check(op, *x, *y, *ends, constants=[1, 2, 4, 5, 6, 7], domain=MS)


@pytest.mark.parametrize("op", ["QLinearSigmoid", "QLinearLeakyRelu"])
def test_activations_of_quantized_tensors(op: str):
    ends = [np.asarray(0.01, np.float32), np.asarray(20, np.uint8)]
    check(op, *scaled("uint8", 4, 30), *ends, constants=[1, 2, 3, 4], domain=MS)


@pytest.mark.parametrize("last", [0, 1])
def test_global_means_of_quantized_images(last: int):
    ends = [np.asarray(0.013, np.float32), np.asarray(105, np.uint8)]
    image = scaled("uint8", 1, 4, 5, 6)
    check("QLinearGlobalAveragePool", *image, *ends, constants=[1, 2, 3, 4], domain=MS, channels_last=last)


def test_quantized_tensors_in_a_row():
    ends = [np.asarray(0.03, np.float32), np.asarray(105, np.uint8)]
    parts = [*scaled("uint8", 2, 4), *scaled("uint8", 2, 3, zero=7, scale=0.05)]
    check("QLinearConcat", *ends, *parts, constants=[0, 1, 3, 4, 6, 7], domain=MS, axis=1)


@pytest.mark.parametrize("again", [False, True])
def test_quantized_linears(again: bool):
    weights = [whole("int8", 6, 40), scales(6), np.zeros(6, np.int8), RNG.integers(-500, 500, 6).astype(np.int32)]
    ends = [np.asarray(0.02, np.float32), np.asarray(99, np.uint8)] if again else []
    constants = [1, 2, 3, 4, 5, 6, 7, 8][: 8 if again else 6]
    check("QGemm", *scaled("uint8", 5, 40), *weights, *ends, constants=constants, domain=MS, transB=1)
