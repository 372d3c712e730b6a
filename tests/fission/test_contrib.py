"""Onnxruntime's own operators against onnxruntime."""

import numpy as np
import pytest

from .oracle import check, values

MS = "com.microsoft"


def test_gelus():
    x, bias = values(3, 4), values(4, seed=1)
    check("Gelu", x, domain=MS)
    check("BiasGelu", x, bias, domain=MS)
    check("FastGelu", x, domain=MS)
    check("FastGelu", x, bias, domain=MS)
    check("QuickGelu", x, domain=MS, alpha=1.5)


@pytest.mark.parametrize("a", [0, 1])
@pytest.mark.parametrize("b", [0, 1])
def test_fused_mat_mul(a, b):
    x, y = values(2, 3, 4), values(2, 4, 5)
    x, y = (np.ascontiguousarray(v.swapaxes(1, 2)) if t else v for v, t in ((x, a), (y, b)))
    check("FusedMatMul", x, y, domain=MS, transA=a, transB=b, alpha=0.5)


def test_fused_mat_mul_moves_the_batch():
    check("FusedMatMul", values(3, 2, 4), values(2, 4, 5), domain=MS, transBatchA=1)
    check("FusedMatMul", values(4, 2, 3), values(2, 4, 5), domain=MS, transBatchA=1, transA=1)


def test_skip_normalisations():
    x, skip, scale, shift, bias = (values(*s, seed=i) for i, s in enumerate([(2, 3, 8)] * 2 + [(8,)] * 3))
    check("SkipLayerNormalization", x, skip, scale, shift, bias, domain=MS, epsilon=1e-5)
    check("SkipLayerNormalization", x, skip, scale, domain=MS, epsilon=1e-5)
    check("SkipSimplifiedLayerNormalization", x, skip, scale, bias, domain=MS, epsilon=1e-5)
    check("SimplifiedLayerNormalization", x, scale, epsilon=1e-5)


@pytest.mark.parametrize(
    ("activation", "params"),
    [
        ("Relu", []),
        ("Tanh", []),
        ("LeakyRelu", [0.3]),
        ("Clip", [-0.5, 0.5]),
        ("HardSigmoid", [0.3, 0.4]),
    ],
)
def test_fused_convolutions_and_products(activation, params):
    x, w, bias, summand = values(1, 3, 6, 6), values(4, 3, 3, 3), values(4), values(1, 4, 6, 6)
    attrs = {"activation": activation, "pads": [1] * 4} | ({"activation_params": params} if params else {})
    check("FusedConv", x, w, bias, constants=[1, 2], domain=MS, **attrs)
    check("FusedConv", x, w, bias, summand, constants=[1, 2], domain=MS, **attrs)
    named = dict(zip(("activation_alpha", "activation_beta"), params, strict=False))
    if activation != "Clip":  # onnxruntime knows no such product
        check("FusedGemm", values(2, 5), values(4, 5), values(4), domain=MS, transB=1, activation=activation, **named)


def test_quantization_of_old():
    x, scale, zero = values(2, 3), np.asarray(0.05, np.float32), np.asarray(3, np.uint8)
    check("QuantizeLinear", x, scale, zero, constants=[1, 2], domain=MS)
    check("DequantizeLinear", np.arange(6, dtype=np.uint8), scale, zero, constants=[1, 2], domain=MS)
