"""Numbers as small integers and back: q = round(x / scale) + zero, x = (q - zero) scale."""

from __future__ import annotations

import numpy as np
from onnx import helper

from korch.fission.blocks import dequantized_by_blocks, scaled
from korch.fission.rule import Opaque, fission
from korch.ir.builder import Builder, Value

KINDS = ("int8", "uint8", "int16", "uint16")


@fission("QuantizeLinear", since=10)
def quantize_linear(
    b: Builder,
    x: Value,
    scale: Value,
    zero: Value | None = None,
    /,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    precision: int = 0,
    saturate: int = 1,
) -> Value | Opaque:
    """round(x / scale) + zero, kept within the integers of the result (`saturate` speaks of eight-bit floats only).
    A scale that is an integer divides in float64: integer division rounds in its own way."""
    kind = _kind(zero, output_dtype)
    if kind not in KINDS or block_size or precision:
        return Opaque(f"it quantizes to {kind}{' by blocks' if block_size else ''}")
    if not scale.tensor.is_float:
        scale = b.op("Cast", scale, to="float64")
    wide = b.op("Cast", x, to=scale.dtype) / along(b, scale, x, axis)
    return rounded(b, wide, None if zero is None else along(b, zero, x, axis), kind)


@fission("DequantizeLinear", since=10)
def dequantize_linear(
    b: Builder,
    x: Value,
    scale: Value,
    zero: Value | None = None,
    /,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
) -> Value | Opaque:
    """(x - zero) scale."""
    if not block_size:
        return dequantized(b, x, scale, zero, axis, output_dtype)
    return dequantized_by_blocks(b, x, scale, zero, axis, block_size, _named(output_dtype))


def dequantized(b: Builder, x: Value, scale: Value, zero: Value | None, axis: int = 1, output_dtype: int = 0) -> Value:
    """(x - zero) scale, one scale and zero point for all of x, or one for each position of `axis`."""
    each = along(b, scale, x, axis), None if zero is None else along(b, zero, x, axis)
    return scaled(b, x, *each, _named(output_dtype))


@fission("DynamicQuantizeLinear", since=11)
def dynamic_quantize_linear(b: Builder, x: Value) -> tuple[Value, ...]:
    """x in 0..255, with the scale and the zero that its own least and greatest element (and 0) ask for."""
    axes = tuple(range(x.rank))
    low = b.op("Min", b.op("ReduceMin", x, axes=axes, keepdims=0), 0.0)
    high = b.op("Max", b.op("ReduceMax", x, axes=axes, keepdims=0), 0.0)
    scale = b.op("Where", b.op("Equal", high, low), 1.0, (high - low) / 255.0)  # of zeros alone
    zero = rounded(b, -low / scale, None, "uint8")
    return rounded(b, x / scale, zero, "uint8"), scale, zero


def _kind(zero: Value | None, output_dtype: int) -> str:
    return _named(output_dtype) or ("uint8" if zero is None else zero.dtype)


def _named(output_dtype: int) -> str:
    """The type that an attribute names; empty where it names none."""
    return helper.tensor_dtype_to_np_dtype(output_dtype).name if output_dtype else ""


def along(b: Builder, v: Value, x: Value, axis: int) -> Value:
    """One number for all of x, or one for each position of `axis`."""
    if v.tensor.size == 1:
        return b.op("Reshape", v, shape=())
    return b.op("Reshape", v, shape=tuple(n if a == axis % x.rank else 1 for a, n in enumerate(x.shape)))


def rounded(b: Builder, wide: Value, zero: Value | None, kind: str) -> Value:
    """The nearest integer (even at ties) plus zero, within the integers of `kind`."""
    q = b.op("Round", wide)
    if zero is not None:
        q = q + b.op("Cast", zero, to=q.dtype)
    limits = np.iinfo(kind)
    return b.op("Cast", b.op("Min", b.op("Max", q, float(limits.min)), float(limits.max)), to=kind)
