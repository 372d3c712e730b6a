"""Operators of the domain com.microsoft that onnxruntime's optimiser writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Unpack

from korch.fission.activation import elu, gelu, hard_sigmoid, leaky_relu, primitive, softsign, swish
from korch.fission.elementwise import clip
from korch.fission.linear import conv, gemm
from korch.fission.normalization import layer_normalization, rms_normalization
from korch.fission.quantization import dequantize_linear, quantize_linear
from korch.fission.rule import Opaque, fission
from korch.fission.windows import WindowAttributes
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
def fused_mat_mul(
    b: Builder,
    x: Value,
    y: Value,
    *,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    transBatchA: int = 0,
    transBatchB: int = 0,
) -> Value:
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
def skip_layer_normalization(
    b: Builder,
    x: Value,
    skip: Value,
    scale: Value,
    shift: Value | None = None,
    bias: Value | None = None,
    *,
    epsilon: float = 1e-12,
) -> tuple[Value, ...]:
    """The layer normalisation of x + skip + bias; also its mean, 1/deviation and the sum itself."""
    total = x + skip if bias is None else x + skip + bias
    y, mean, inverse = layer_normalization(b, total, scale, shift, epsilon=epsilon)
    return y, mean, inverse, total


@fission("SkipSimplifiedLayerNormalization", domain=DOMAIN)
def skip_rms_normalization(
    b: Builder,
    x: Value,
    skip: Value,
    scale: Value,
    bias: Value | None = None,
    *,
    epsilon: float = 1e-12,
    outputs: int = 1,
) -> tuple[Value | None, ...]:
    """The root-mean-square normalisation of x + skip + bias; its fourth output is the sum. (Nobody computes others.)"""
    total = x + skip if bias is None else x + skip + bias
    y = rms_normalization(b, total, scale, epsilon=epsilon)
    return (y, None, None, total) if outputs > 1 else (y,)


@fission("SimplifiedLayerNormalization")
def simplified_layer_normalization(
    b: Builder, x: Value, scale: Value, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> Value:
    """Onnxruntime's own name, in ONNX's domain, for the root-mean-square normalisation."""
    return rms_normalization(b, x, scale, axis=axis, epsilon=epsilon, stash_type=stash_type)


@fission("QuantizeLinear", domain=DOMAIN)
def quantize_linear_1(
    b: Builder, x: Value, scale: Value, zero: Value | None = None, /, *, axis: int = 1
) -> Value | Opaque:
    """The same as ONNX's."""
    return quantize_linear(b, x, scale, zero, axis=axis)


@fission("DequantizeLinear", domain=DOMAIN)
def dequantize_linear_1(
    b: Builder, x: Value, scale: Value, zero: Value | None = None, /, *, axis: int = 1
) -> Value | Opaque:
    """The same as ONNX's."""
    return dequantize_linear(b, x, scale, zero, axis=axis)


@fission("FusedConv", domain=DOMAIN)
def fused_conv(
    b: Builder,
    x: Value,
    w: Value,
    bias: Value | None = None,
    summand: Value | None = None,
    *,
    group: int = 1,
    activation: str = "",
    activation_params: Sequence[float] = (),
    kernel_shape: Sequence[int] | None = None,
    **window: Unpack[WindowAttributes],
) -> Value | Opaque:
    """activation(conv(x) + summand)."""
    y = conv(b, x, w, bias, group=group, **window)
    return _activated(b, y if summand is None else y + summand, activation, activation_params)


@fission("FusedGemm", domain=DOMAIN)
def fused_gemm(
    b: Builder,
    x: Value,
    w: Value,
    c: Value | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    activation: str = "",
    activation_alpha: float | None = None,
    activation_beta: float | None = None,
    activation_gamma: float | None = None,
) -> Value | Opaque:
    """activation(gemm(x))."""
    given = [p for p in (activation_alpha, activation_beta, activation_gamma) if p is not None]
    y = gemm(b, x, w, c, alpha=alpha, beta=beta, transA=transA, transB=transB)
    return y if isinstance(y, Opaque) else _activated(b, y, activation, given)


ACTIVATIONS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "LeakyRelu": (leaky_relu, ("alpha",)), "Elu": (elu, ("alpha",)), "HardSigmoid": (hard_sigmoid, ("alpha", "beta")),
    "Clip": (clip, ("min", "max")), "Softsign": (softsign, ()),
}  # fmt: skip
"""The activations that onnxruntime fuses, and what their parameters are called."""


def _activated(b: Builder, y: Value, name: str, parameters: Sequence[float]) -> Value | Opaque:
    if not name:
        return y
    if name in primitive.ops:
        return primitive(b, y, op=name)
    if name not in ACTIVATIONS or len(parameters) > len(ACTIVATIONS[name][1]):
        return Opaque(f"its activation is {name}")
    rule, names = ACTIVATIONS[name]
    return rule(b, y, **dict(zip(names, parameters, strict=False)))
