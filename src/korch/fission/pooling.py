"""Pooling over windows and over everything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

from korch.fission.rule import Opaque, fission
from korch.fission.windows import WindowAttributes, geometry
from korch.ir.builder import Builder, Value
from korch.ir.ops.reduce import lowest


@fission("MaxPool")
def max_pool(
    b: Builder,
    x: Value,
    *,
    kernel_shape: Sequence[int],
    storage_order: int = 0,
    outputs: int = 1,
    **window: Unpack[WindowAttributes],
) -> Value | Opaque:
    """The largest of each window; padding never wins."""
    if outputs > 1:
        return Opaque("it also gives the positions of the maxima")
    g = geometry(x.shape[2:], kernel_shape, **window)
    if g.is_wide:
        x, g = _padded(b, x, g.pads, lowest(x.tensor)), replace(g, pads=(0,) * len(g.pads))
    return b.op("MaxPool", x, kernel_shape=g.kernel, **g.attrs, channels_last=0)


@fission("AveragePool")
def average_pool(
    b: Builder,
    x: Value,
    *,
    kernel_shape: Sequence[int],
    count_include_pad: int = 0,
    **window: Unpack[WindowAttributes],
) -> Value | Opaque:
    """The mean of each window over what exists of it; with `count_include_pad`, padding exists and is zero.

    What ceil_mode lets stick out beyond the padding never counts.
    """
    floored: WindowAttributes = {**window, "ceil_mode": 0}
    plain = geometry(x.shape[2:], kernel_shape, **floored)
    g = geometry(x.shape[2:], kernel_shape, **window)
    if count_include_pad and g.pads != plain.pads:
        x = _padded(b, x, plain.pads, 0.0)
        g = replace(g, pads=tuple(max(n - o, 0) for n, o in zip(g.pads, plain.pads, strict=True)))
        count_include_pad = 0
    if g.is_wide:
        return Opaque("its padding is wider than its kernel")
    include = int(bool(count_include_pad) and any(g.pads))
    return b.op("AveragePool", x, kernel_shape=g.kernel, **g.attrs, channels_last=0, count_include_pad=include)


@fission("LpPool", since=2)
def lp_pool(
    b: Builder,
    x: Value,
    *,
    kernel_shape: Sequence[int],
    p: int = 2,
    **window: Unpack[WindowAttributes],
) -> Value | Opaque:
    """(sum |x|^p)^(1/p) of each window: the sum is the mean, zeros counted, times the window's size."""
    g = geometry(x.shape[2:], kernel_shape, **window)
    if g.is_wide:
        return Opaque("its padding is wider than its kernel")
    mean = b.op("AveragePool", _powers(b, x, p), kernel_shape=g.kernel, **g.attrs, channels_last=0, count_include_pad=1)
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
    total = b.op("ReduceSum", _powers(b, x, p), axes=tuple(range(2, x.rank)), keepdims=1)
    return _root(b, total, p)


def _padded(b: Builder, x: Value, pads: Sequence[int], value: float) -> Value:
    """x [N,C,*] with its spatial axes padded."""
    k = len(pads) // 2
    return b.op("Pad", x, pads=(0, 0, *pads[:k], 0, 0, *pads[k:]), mode="constant", value=value)


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
