"""Operators of the domain com.microsoft on quantized tensors: the float operator between DequantizeLinear and
QuantizeLinear, one scale and zero point a tensor.

onnxruntime's quantizer writes them in its QOperator format.
"""

from __future__ import annotations

from korch.fission.activation import leaky_relu
from korch.fission.indexing import concat
from korch.fission.integers import multiplied, requantized
from korch.fission.quantization import dequantized, quantize_linear
from korch.fission.rule import Opaque, fission
from korch.ir.builder import Builder, Value

DOMAIN = "com.microsoft"


@fission("QLinearAdd", "QLinearMul", domain=DOMAIN)
def qlinear_of_two(
    b: Builder,
    x: Value,
    x_scale: Value,
    x_zero: Value | None,
    y: Value,
    y_scale: Value,
    y_zero: Value | None,
    scale: Value,
    zero: Value | None = None,
    *,
    op: str,
) -> Value | Opaque:
    """x + y, or x y."""
    wide = dequantized(b, x, x_scale, x_zero), dequantized(b, y, y_scale, y_zero)
    return quantize_linear(b, b.op(op.removeprefix("QLinear"), *wide), scale, zero)


@fission("QLinearSigmoid", domain=DOMAIN)
def qlinear_sigmoid(
    b: Builder, x: Value, x_scale: Value, x_zero: Value | None, scale: Value, zero: Value | None = None
) -> Value | Opaque:
    """sigmoid(x)."""
    return quantize_linear(b, b.op("Sigmoid", dequantized(b, x, x_scale, x_zero)), scale, zero)


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
    return quantize_linear(b, leaky_relu(b, dequantized(b, x, x_scale, x_zero), alpha=alpha), scale, zero)


@fission("QLinearGlobalAveragePool", domain=DOMAIN)
def qlinear_global_average_pool(
    b: Builder, x: Value, x_scale: Value, x_zero: Value, scale: Value, zero: Value, *, channels_last: int = 0
) -> Value | Opaque:
    """The mean over all spatial axes."""
    axes = tuple(range(1, x.rank - 1)) if channels_last else tuple(range(2, x.rank))
    wide = dequantized(b, x, x_scale, x_zero)
    return quantize_linear(b, b.op("ReduceMean", wide, axes=axes, keepdims=1), scale, zero)


@fission("QLinearConcat", domain=DOMAIN)
def qlinear_concat(b: Builder, scale: Value, zero: Value, *parts: Value, axis: int) -> Value | Opaque:
    """The parts, each with a scale and a zero point behind it, one after the other."""
    wide = (dequantized(b, *part) for part in zip(parts[::3], parts[1::3], parts[2::3], strict=True))
    return quantize_linear(b, concat(b, *wide, axis=axis), scale, zero)


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
