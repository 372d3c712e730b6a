"""Multiply-adds of linear primitives, exactly: products with padding are not done and not counted."""

from __future__ import annotations

import math

from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor


def multiply_adds(p: Primitive) -> int:
    """Multiply-adds of a MatMul, Conv or ConvTranspose."""
    if p.op == "MatMul":
        return p.output.size * p.inputs[0].shape[-1]
    return _convolution(p, short=p.inputs[0], long=p.output) if p.op == "ConvTranspose" else _convolution(
        p, short=p.output, long=p.inputs[0])  # fmt: skip


def _convolution(p: Primitive, short: Tensor, long: Tensor) -> int:
    """A transposed convolution pairs the same positions as the convolution from its output to its input."""
    w, k = p.inputs[1].shape, len(p.inputs[1].shape) - 2
    first = 1 if p.attr("channels_last") else 2
    pairs = math.prod(
        _pairs(long.shape[first + i], short.shape[first + i], w[2 + i], p.attr("strides")[i], p.attr("dilations")[i],
               p.attr("pads")[i])
        for i in range(k)
    )  # fmt: skip
    return short.shape[0] * w[0] * w[1] * pairs


def _pairs(long: int, short: int, taps: int, stride: int, dilation: int, pad: int) -> int:
    """How many of short x taps fall on one of the `long` positions of the padded axis."""
    return sum(
        max(0, min(short, _ceil(long + pad - j * dilation, stride)) - max(0, _ceil(pad - j * dilation, stride)))
        for j in range(taps)
    )


def _ceil(a: int, b: int) -> int:
    return -(-a // b)
