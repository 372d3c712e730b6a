"""Operators of the domain com.microsoft that onnxruntime's optimiser writes."""

from __future__ import annotations

from korch.fission.activation import gelu, swish
from korch.fission.normalization import layer_normalization, rms_normalization
from korch.fission.rule import fission
from korch.ir.builder import Builder, Value

DOMAIN = "com.microsoft"


@fission("Gelu", domain=DOMAIN)
def gelu_1(b: Builder, x: Value) -> Value:
    """The exact Gelu."""
    return gelu(b, x)


@fission("BiasGelu", domain=DOMAIN)
def bias_gelu(b: Builder, x: Value, bias: Value) -> Value:
    """gelu(x + bias)."""
    return gelu(b, x + bias)


@fission("FastGelu", domain=DOMAIN)
def fast_gelu(b: Builder, x: Value, bias: Value | None = None) -> Value:
    """The tanh form of gelu(x + bias)."""
    return gelu(b, x if bias is None else x + bias, approximate="tanh")


@fission("QuickGelu", domain=DOMAIN)
def quick_gelu(b: Builder, x: Value, *, alpha: float = 1.702) -> Value:
    """x sigmoid(alpha x)."""
    return swish(b, x, alpha=alpha)


@fission("FusedMatMul", domain=DOMAIN)
def fused_mat_mul(b: Builder, x: Value, y: Value, *, alpha: float = 1.0, transA: int = 0, transB: int = 0,
                  transBatchA: int = 0, transBatchB: int = 0) -> Value:  # fmt: skip
    """alpha x y, both transposed first if so asked."""
    x, y = _transposed(b, x, transA, transBatchA), _transposed(b, y, transB, transBatchB)
    return x @ y * alpha


def _transposed(b: Builder, x: Value, last: int, batch: int) -> Value:
    """`last` exchanges the last two axes; `batch` moves the first axis before the last."""
    perm = list(range(x.rank))
    if batch:
        perm = [*perm[1:-1], perm[0], perm[-1]]
    if last:
        perm[-2:] = perm[:-3:-1]
    return b.op("Transpose", x, perm=tuple(perm))


@fission("SkipLayerNormalization", domain=DOMAIN)
def skip_layer_normalization(b: Builder, x: Value, skip: Value, scale: Value, shift: Value | None = None,
                             bias: Value | None = None, *, epsilon: float = 1e-12) -> tuple[Value, ...]:  # fmt: skip
    """The layer normalisation of x + skip + bias; also its mean, 1/deviation and the sum itself."""
    total = x + skip if bias is None else x + skip + bias
    y, mean, inverse = layer_normalization(b, total, scale, shift, epsilon=epsilon)
    return y, mean, inverse, total


@fission("SkipSimplifiedLayerNormalization", domain=DOMAIN)
def skip_rms_normalization(b: Builder, x: Value, skip: Value, scale: Value, bias: Value | None = None, *,
                           epsilon: float = 1e-12, outputs: int = 1) -> tuple[Value, ...]:  # fmt: skip
    """The root-mean-square normalisation of x + skip + bias; its fourth output is the sum."""
    total = x + skip if bias is None else x + skip + bias
    y = rms_normalization(b, total, scale, epsilon=epsilon)
    return (y, total, total, total) if outputs > 1 else (y,)


@fission("SimplifiedLayerNormalization")
def simplified_layer_normalization(b: Builder, x: Value, scale: Value, *, axis: int = -1, epsilon: float = 1e-5,
                                   stash_type: int = 1) -> Value:  # fmt: skip
    """Onnxruntime's own name, in ONNX's domain, for the root-mean-square normalisation."""
    return rms_normalization(b, x, scale, axis=axis, epsilon=epsilon, stash_type=stash_type)
