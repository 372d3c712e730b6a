"""Operators of the domain com.microsoft on quantized tensors: the float operator between DequantizeLinear and
QuantizeLinear, one scale and zero point a tensor.

onnxruntime's quantizer writes them in its QOperator format.
"""

from __future__ import annotations

from typing import Any

from korch.fission.activation import leaky_relu
from korch.fission.indexing import concat
from korch.fission.integers import multiplied, requantized
from korch.fission.quantization import dequantize_linear, quantize_linear
from korch.fission.rule import Opaque, fission
from korch.ir.builder import Builder, Value

DOMAIN = "com.microsoft"


@fission("QLinearAdd", domain=DOMAIN)
def qlinear_add(
    b: Builder,
    x: Value,
    x_scale: Value,
    x_zero: Value | None,
    y: Value,
    y_scale: Value,
    y_zero: Value | None,
    scale: Value,
    zero: Value | None = None,
) -> Value | Opaque:
    """x + y."""
    return _both(b, "Add", (x, x_scale, x_zero), (y, y_scale, y_zero), scale, zero)


@fission("QLinearMul", domain=DOMAIN)
def qlinear_mul(
    b: Builder,
    x: Value,
    x_scale: Value,
    x_zero: Value | None,
    y: Value,
    y_scale: Value,
    y_zero: Value | None,
    scale: Value,
    zero: Value | None = None,
) -> Value | Opaque:
    """x y."""
    return _both(b, "Mul", (x, x_scale, x_zero), (y, y_scale, y_zero), scale, zero)


@fission("QLinearSigmoid", domain=DOMAIN)
def qlinear_sigmoid(
    b: Builder, x: Value, x_scale: Value, x_zero: Value | None, scale: Value, zero: Value | None = None
) -> Value | Opaque:
    """sigmoid(x)."""
    wide = dequantize_linear(b, x, x_scale, x_zero)
    return wide if isinstance(wide, Opaque) else quantize_linear(b, b.op("Sigmoid", wide), scale, zero)


@fission("QLinearLeakyRelu", domain=DOMAIN)
def qlinear_leaky_relu(
    b: Builder,
    x: Value,
    x_scale: Value,
    x_zero: Value | None,
    scale: Value,
    zero: Value | None = None,
    *,
    alpha: float = 0.01,
) -> Value | Opaque:
    """leaky_relu(x)."""
    wide = dequantize_linear(b, x, x_scale, x_zero)
    return wide if isinstance(wide, Opaque) else quantize_linear(b, leaky_relu(b, wide, alpha=alpha), scale, zero)


@fission("QLinearGlobalAveragePool", domain=DOMAIN)
def qlinear_global_average_pool(
    b: Builder, x: Value, x_scale: Value, x_zero: Value, scale: Value, zero: Value, *, channels_last: int = 0
) -> Value | Opaque:
    """The mean over all spatial axes."""
    wide = dequantize_linear(b, x, x_scale, x_zero)
    if isinstance(wide, Opaque):
        return wide
    axes = tuple(range(1, x.rank - 1)) if channels_last else tuple(range(2, x.rank))
    return quantize_linear(b, b.op("ReduceMean", wide, axes=axes, keepdims=1), scale, zero)


@fission("QLinearConcat", domain=DOMAIN)
def qlinear_concat(b: Builder, scale: Value, zero: Value, *parts: Value, axis: int) -> Value | Opaque:
    """The parts, each with a scale and a zero point behind it, one after the other."""
    wide = [dequantize_linear(b, *parts[i : i + 3]) for i in range(0, len(parts), 3)]
    floats = [v for v in wide if not isinstance(v, Opaque)]
    if len(floats) < len(wide):
        return next(v for v in wide if isinstance(v, Opaque))
    return quantize_linear(b, concat(b, *floats, axis=axis), scale, zero)


@fission("QGemm", domain=DOMAIN)
def qgemm(
    b: Builder,
    x: Value,
    x_scale: Value,
    x_zero: Value,
    y: Value,
    y_scale: Value,
    y_zero: Value,
    bias: Value | None = None,
    scale: Value | None = None,
    zero: Value | None = None,
    *,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Value | Opaque:
    """x' y' in int32 plus `bias`, scaled; quantized again where there is a `scale`, else floats."""
    if alpha != 1.0 or x_scale.tensor.size != 1:
        return Opaque("it is scaled by more than its scales")
    x = b.op("Transpose", x, perm=(1, 0)) if transA else x
    y = b.op("Transpose", y, perm=(1, 0)) if transB else y
    total = multiplied(b, x, y, x_zero, y_zero)
    if isinstance(total, Opaque):
        return total
    total = total if bias is None else total + bias
    if scale is None or zero is None:
        return b.op("Cast", total, to=x_scale.dtype) * (x_scale * y_scale)
    return requantized(b, total, x_scale, y_scale, scale, zero, 1)


def _both(
    b: Builder, op: str, first: tuple[Any, ...], second: tuple[Any, ...], scale: Value, zero: Value | None
) -> Value | Opaque:
    x, y = dequantize_linear(b, *first), dequantize_linear(b, *second)
    if isinstance(x, Opaque):
        return x
    return y if isinstance(y, Opaque) else quantize_linear(b, b.op(op, x, y), scale, zero)
