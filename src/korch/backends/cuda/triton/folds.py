"""Folds that Triton's own library lacks: extremes that are NaN where one value is, and products.

Kernels call them as `folds.largest(...)`; where they are interpreted, `korch.backends.cuda.host` stands in.
"""

from __future__ import annotations

import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]


@triton.jit
def larger(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def smaller(a, b):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def times(a, b):
    return a * b


@triton.jit
def largest(x, axis: tl.constexpr, keep: tl.constexpr):
    return tl.reduce(x, axis, larger, keep_dims=keep)  # pyright: ignore[reportArgumentType]


@triton.jit
def smallest(x, axis: tl.constexpr, keep: tl.constexpr):
    return tl.reduce(x, axis, smaller, keep_dims=keep)  # pyright: ignore[reportArgumentType]


@triton.jit
def product(x, axis: tl.constexpr, keep: tl.constexpr):
    return tl.reduce(x, axis, times, keep_dims=keep)  # pyright: ignore[reportArgumentType]


@triton.jit
def total(x, axis: tl.constexpr, keep: tl.constexpr):
    return tl.sum(x, axis, keep_dims=keep)  # pyright: ignore[reportArgumentType]
