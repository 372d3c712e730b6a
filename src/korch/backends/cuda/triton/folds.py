"""Folds that Triton's own library lacks: extremes that are NaN where one value is, and products.

Kernels call them as `folds.largest(...)`; where they are interpreted, `korch.backends.cuda.host` stands in.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

triton = import_module("triton")
tl = import_module("triton.language")
if TYPE_CHECKING:  # Triton has no types, but looks up the names that annotations use
    tensor: TypeAlias = Any
    constexpr: TypeAlias = int
else:
    tensor, constexpr = tl.tensor, tl.constexpr


@triton.jit
def larger(a: tensor, b: tensor) -> tensor:
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def smaller(a: tensor, b: tensor) -> tensor:
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def times(a: tensor, b: tensor) -> tensor:
    return a * b


@triton.jit
def largest(x: tensor, axis: constexpr, keep: constexpr) -> tensor:
    return tl.reduce(x, axis, larger, keep_dims=keep)


@triton.jit
def smallest(x: tensor, axis: constexpr, keep: constexpr) -> tensor:
    return tl.reduce(x, axis, smaller, keep_dims=keep)


@triton.jit
def product(x: tensor, axis: constexpr, keep: constexpr) -> tensor:
    return tl.reduce(x, axis, times, keep_dims=keep)


@triton.jit
def total(x: tensor, axis: constexpr, keep: constexpr) -> tensor:
    return tl.sum(x, axis, keep_dims=keep)
