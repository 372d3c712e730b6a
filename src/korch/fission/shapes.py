"""Operators that read only the shape of a tensor: all shapes are static, so they are constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from korch.fission.rule import Opaque, fission
from korch.ir.builder import Builder, Value


@fission("Shape")
def shape(b: Builder, x: Value, *, start: int = 0, end: int | None = None) -> Value:
    """The dimensions start..end of x."""
    return b.constant(np.asarray(x.shape[slice(start, end)], np.int64))


@fission("Size")
def size(b: Builder, x: Value) -> Value:
    """How many elements x has."""
    return b.constant(np.asarray(x.tensor.size, np.int64))


@fission("Constant")
def constant(
    b: Builder,
    *,
    value: Any = None,
    value_float: float | None = None,
    value_int: int | None = None,
    value_floats: list[float] | None = None,
    value_ints: list[int] | None = None,
) -> Value | Opaque:
    """The number itself."""
    for number, dtype in (
        (value_float, np.float32),
        (value_int, np.int64),
        (value_floats, np.float32),
        (value_ints, np.int64),
    ):
        if number is not None:
            return b.constant(np.asarray(number, dtype))
    if value is None:
        return Opaque("it is no plain tensor")
    if b.allowance:
        b.allowance.given += value.nbytes
    return b.constant(value)
