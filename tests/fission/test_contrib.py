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
