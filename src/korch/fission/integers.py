"""Products and convolutions of bytes, by the definitions of ONNX: int32 sums, and quantized again in one step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Unpack

from korch.fission.linear import with_bias
from korch.fission.quantization import along, rounded
from korch.fission.rule import Opaque, fission
from korch.fission.windows import WindowAttributes, geometry
from korch.ir.builder import Builder, Value

LARGEST = 255**2
"""The largest product of two bytes less their zero points."""
EXACT_IN_FLOAT32 = 1 << 24
"""Up to which float32 has every integer."""
ELSEWHERE = Opaque("a zero point that is not one number, or weights that are computed")


@fission("MatMulInteger", since=10)
def matmul_integer(
    b: Builder, x: Value, y: Value, x_zero: Value | None = None, y_zero: Value | None = None
) -> Value | Opaque:
    """(x - x_zero)(y - y_zero), summed in int32."""
    return multiplied(b, x, y, x_zero, y_zero)


@fission("ConvInteger", since=10)
def conv_integer(
    b: Builder,
    x: Value,
    w: Value,
    x_zero: Value | None = None,
    w_zero: Value | None = None,
    *,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    **window: Unpack[WindowAttributes],
) -> Value | Opaque:
    """x - x_zero over w - w_zero, summed in int32; what pads is x_zero."""
    return _convolved(b, x, w, x_zero, w_zero, group, window)


@fission("QLinearMatMul", since=10)
def qlinear_matmul(
    b: Builder,
    x: Value,
    x_scale: Value,
    x_zero: Value,
    y: Value,
    y_scale: Value,
    y_zero: Value,
    scale: Value,
    zero: Value,
) -> Value | Opaque:
    """The product of two quantized matrices, quantized again."""
    if any(s.tensor.size != 1 for s in (x_scale, scale)) or y_scale.rank > 1:
        return Opaque("it is scaled by rows")
    total = multiplied(b, x, y, x_zero, y_zero)
    return total if isinstance(total, Opaque) else requantized(b, total, x_scale, y_scale, scale, zero, total.rank - 1)


@fission("QLinearConv", since=10)
def qlinear_conv(
    b: Builder,
    x: Value,
    x_scale: Value,
    x_zero: Value,
    w: Value,
    w_scale: Value,
    w_zero: Value,
    scale: Value,
    zero: Value,
    bias: Value | None = None,
    *,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    **window: Unpack[WindowAttributes],
) -> Value | Opaque:
    """A convolution of quantized images, its int32 sums plus `bias`, quantized again."""
    if any(s.tensor.size != 1 for s in (x_scale, scale)):
        return Opaque("it is scaled by positions")
    total = _convolved(b, x, w, x_zero, w_zero, group, window)
    if isinstance(total, Opaque):
        return total
    return requantized(b, with_bias(b, total, bias), x_scale, w_scale, scale, zero, 1)


def _convolved(
    b: Builder, x: Value, w: Value, x_zero: Value | None, w_zero: Value | None, group: int, window: Any
) -> Value | Opaque:
    attrs = geometry(x.shape[2:], w.shape[2:], **window).attrs | {"group": group, "channels_last": 0}
    if group > 1 and _exact_in_floats(math.prod(w.shape[1:])):
        return _in_floats(b, "Conv", x, w, x_zero, w_zero, **attrs)
    if group > 1 or x.rank != 4:
        return Opaque("it convolves long windows of groups, or no images")
    return _summed(b, "ConvInteger", x, w, x_zero, w_zero, **attrs)


def multiplied(b: Builder, x: Value, y: Value, x_zero: Value | None, y_zero: Value | None) -> Value | Opaque:
    """The int32 product of two matrices of bytes less their zero points."""
    if min(x.rank, y.rank) < 2:
        return Opaque("an operand is a vector")
    if y.rank == 2 and y.array is not None:
        return _summed(b, "MatMulInteger", x, y, x_zero, y_zero)
    if any(zero is not None and zero.tensor.size != 1 for zero in (x_zero, y_zero)):
        return ELSEWHERE
    if _exact_in_floats(x.shape[-1]):
        return _in_floats(b, "MatMul", x, y, x_zero, y_zero)
    return Opaque("it multiplies two computed operands")


def _summed(
    b: Builder, op: str, x: Value, w: Value, x_zero: Value | None, w_zero: Value | None, **attrs: Any
) -> Value | Opaque:
    """The integer sum, whose weights are constant."""
    fixed = 0 if w_zero is None else _number(w_zero)
    if fixed is None or w.array is None or (x_zero is not None and x_zero.tensor.size != 1):
        return ELSEWHERE
    zero = b.constant(0, x.dtype) if x_zero is None else b.op("Reshape", x_zero, shape=())
    return b.op(op, x, w, zero, w_zero=fixed, **attrs)


def _exact_in_floats(terms: int) -> bool:
    """Whether float32 has every sum of so many products; kernels for it are fast."""
    return terms * LARGEST <= EXACT_IN_FLOAT32


def _in_floats(
    b: Builder, op: str, x: Value, w: Value, x_zero: Value | None, w_zero: Value | None, **attrs: Any
) -> Value:
    return b.op("Cast", b.op(op, _shifted(b, x, x_zero), _shifted(b, w, w_zero), **attrs), to="int32")


def _shifted(b: Builder, x: Value, zero: Value | None) -> Value:
    """Bytes less their zero point, one number or one for each channel of weights, in float32."""
    wide = b.op("Cast", x, to="float32")
    return wide if zero is None else wide - along(b, b.op("Cast", zero, to="float32"), x, 0)


def _number(v: Value) -> int | None:
    """The one number that all of a constant is; None where there is none."""
    x = v.array
    return None if x is None or not x.size or (x != x.flat[0]).any() else int(x.flat[0])


def requantized(
    b: Builder, total: Value, x_scale: Value, w_scale: Value, scale: Value, zero: Value, axis: int
) -> Value:
    """int32 sums, scaled along `axis`, as bytes of another scale."""
    factor = along(b, x_scale, total, axis) * along(b, w_scale, total, axis) / along(b, scale, total, axis)
    wide = b.op("Cast", total, to=factor.dtype) * factor
    return rounded(b, wide, along(b, zero, total, axis), zero.dtype)
