"""Fourier transforms against numpy's: onnxruntime's err by 1e-4 where lengths are no powers of two, or do not end."""

from __future__ import annotations

import numpy as np
import pytest

from korch.errors import ModelError
from korch.ir.graph import Graph

from .oracle import Array, check, check_model, node_model, values


def expected_dft(x: Array, axis: int, length: int, inverse: int, onesided: int) -> Array:
    z = x[..., 0] + 1j * x[..., 1] if x.shape[-1] == 2 else x[..., 0]
    y = (np.fft.ifft if inverse else np.fft.fft)(z.astype(np.complex128), length, axis % x.ndim)
    y = y.take(range(length // 2 + 1), axis % x.ndim) if onesided else y
    return np.stack([y.real, y.imag], -1).astype(np.float32)


def check_dft(x: Array, length: int, axis: int, inverse: int = 0, onesided: int = 0, opset: int = 17) -> Graph:
    """One node, in the form of its opset; a length that is the signal's own is left out."""
    given = None if length == x.shape[axis] else np.asarray(length)
    along = {"axis": axis} if opset < 20 else {}
    inputs = [x, given] if opset < 20 else [x, given, None if axis == -2 else np.asarray(axis)]
    constants = [i for i, v in enumerate(inputs) if i and v is not None]
    model = node_model("DFT", inputs, constants, opset=opset, inverse=inverse, onesided=onesided, **along)
    graph = check_model(model, {"x0": x}, [expected_dft(x, axis, length, inverse, onesided)])
    assert "Opaque" not in {p.op for p in graph.primitives}
    return graph


@pytest.mark.parametrize(("parts", "inverse", "onesided"), [(1, 0, 0), (2, 0, 0), (1, 1, 0), (2, 1, 0), (1, 0, 1)])
@pytest.mark.parametrize("length", [1, 7, 16, 320])
def test_dft(length: int, parts: int, inverse: int, onesided: int):
    check_dft(values(2, length, 3, parts), length, 1, inverse, onesided)
    check_dft(values(2, 3, length, parts), length, 2, inverse, onesided)


@pytest.mark.parametrize("length", [5, 12, 300, 400])
@pytest.mark.parametrize("asked", [5, 9, 288, 360])
def test_of_another_length(length: int, asked: int):
    check_dft(values(2, length, 1), asked, 1, onesided=1)
    check_dft(values(2, length, 2), asked, 1, inverse=1)


def test_its_axis_as_an_input():
    graph = check_dft(values(2, 12, 5, 1), 12, 1, opset=20)
    assert [p.op for p in graph.primitives].count("MatMul") == 1
    check_dft(values(2, 12, 5, 2), 5, -2, inverse=1, opset=20)


def test_long_axes_are_two_products():
    graph = check_dft(values(3, 1024, 1), 1024, 1, onesided=1)
    assert [p.op for p in graph.primitives].count("MatMul") == 2
    assert max(t.size for p in graph.primitives for t in p.inputs if t.const) < 1024**2 // 4


def test_lengths_without_good_factors_or_with_large_ones_stay_whole():
    check("DFT", values(1, 2 * 1031, 1), opaque=True)
    check("DFT", values(1, 16384, 1), opaque=True)


@pytest.mark.parametrize("onesided", [0, 1])
def test_stft(onesided: int):
    window = np.hanning(16).astype(np.float32)
    check("STFT", values(2, 100, 1), np.asarray(7), window, constants=[1, 2], onesided=onesided)
    check("STFT", values(1, 64, 1), np.asarray(16), None, np.asarray(32), constants=[1, 3], onesided=onesided)
    check("STFT", values(1, 60, 1), np.asarray(5), window, np.asarray(16), constants=[1, 2, 3], onesided=onesided)


@pytest.mark.parametrize("parts", [1, 2])
def test_signals_of_float64_are_not_convolved(parts: int):
    """Nobody has a kernel for that."""
    signal, given = values(2, 100, parts).astype(np.float64), (np.asarray(7), None, np.asarray(16))
    graph = check("STFT", signal, *given, constants=[1, 3], onesided=2 - parts)
    assert "Conv" not in {p.op for p in graph.primitives}


def test_an_operator_whose_shape_is_inferred_wrongly_is_named():
    with pytest.raises(ModelError, match=r"STFT of .* gives \[1, 13, 9, 2\]"):
        check("STFT", values(1, 64, 1), np.asarray(4), values(16), constants=[1])
