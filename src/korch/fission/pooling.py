"""Pooling over windows and over everything."""

from __future__ import annotations

import math
from collections.abc import Sequence

from korch.fission.rule import Opaque, fission
from korch.fission.windows import geometry
from korch.ir.builder import Builder, Value


@fission("MaxPool")
def max_pool(
    b: Builder,
    x: Value,
    *,
    kernel_shape: Sequence[int],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    storage_order: int = 0,
    strides: Sequence[int] | None = None,
    outputs: int = 1,
) -> Value | Opaque:
    """The largest of each window; padding never wins."""
    if outputs > 1:
        return Opaque("it also gives the positions of the maxima")
    if not x.tensor.is_float:
        return Opaque("it pools integers")
    g = geometry(x.shape[2:], kernel_shape, strides, dilations, pads, auto_pad, ceil_mode)
    return b.op("MaxPool", x, kernel_shape=g.kernel, **g.attrs, channels_last=0)


@fission("AveragePool")
def average_pool(
    b: Builder,
    x: Value,
    *,
    kernel_shape: Sequence[int],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Value:
    """The mean of each window over what exists of it; with `count_include_pad`, padding exists and is zero.

    What ceil_mode lets stick out beyond the padding never counts.
    """
    plain = geometry(x.shape[2:], kernel_shape, strides, dilations, pads, auto_pad)
    g = geometry(x.shape[2:], kernel_shape, strides, dilations, pads, auto_pad, ceil_mode)
    if count_include_pad and g.pads != plain.pads:
        k = len(kernel_shape)
        front, back = plain.pads[:k], plain.pads[k:]
        x = b.op("Pad", x, pads=(0, 0, *front, 0, 0, *back), mode="constant", value=0.0)
        rest = (*(0,) * k, *(max(n - o, 0) for n, o in zip(g.pads[k:], back, strict=True)))
        return b.op("AveragePool", x, kernel_shape=g.kernel, **(g.attrs | {"pads": rest}), channels_last=0,
                    count_include_pad=0)  # fmt: skip
    include = int(bool(count_include_pad) and any(g.pads))
    return b.op("AveragePool", x, kernel_shape=g.kernel, **g.attrs, channels_last=0, count_include_pad=include)


@fission("LpPool", since=2)
def lp_pool(
    b: Builder,
    x: Value,
    *,
    kernel_shape: Sequence[int],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Sequence[int] | None = None,
    p: int = 2,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Value:
    """(sum |x|^p)^(1/p) of each window: the sum is the mean, zeros counted, times the window's size."""
    g = geometry(x.shape[2:], kernel_shape, strides, dilations, pads, auto_pad, ceil_mode)
    mean = b.op("AveragePool", _powers(b, x, p), kernel_shape=g.kernel, **g.attrs, channels_last=0,
                count_include_pad=1)  # fmt: skip
    return _root(b, mean * float(math.prod(kernel_shape)), p)


@fission("GlobalAveragePool")
def global_average_pool(b: Builder, x: Value) -> Value:
    """The mean over all spatial axes."""
    return b.op("ReduceMean", x, axes=tuple(range(2, x.rank)), keepdims=1)


@fission("GlobalMaxPool")
def global_max_pool(b: Builder, x: Value) -> Value:
    """The maximum over all spatial axes."""
    return b.op("ReduceMax", x, axes=tuple(range(2, x.rank)), keepdims=1)


@fission("GlobalLpPool")
def global_lp_pool(b: Builder, x: Value, *, p: float = 2) -> Value:
    """(sum |x|^p)^(1/p) over all spatial axes."""
    return _root(b, b.op("ReduceSum", _powers(b, x, p), axes=tuple(range(2, x.rank)), keepdims=1), p)


def _powers(b: Builder, x: Value, p: float) -> Value:
    """|x|^p."""
    if p == 2:
        return x * x
    return b.op("Abs", x) if p == 1 else b.op("Pow", b.op("Abs", x), float(p))


def _root(b: Builder, x: Value, p: float) -> Value:
    """x^(1/p)."""
    if p == 2:
        return b.op("Sqrt", x)
    return x if p == 1 else b.op("Pow", x, 1.0 / p)
