"""Softmax, its logarithm and its limit."""

from __future__ import annotations

import math

from korch.fission.rule import FissionRule, fission
from korch.ir.builder import Builder, Value


@fission("Softmax", since=13)
def softmax(b: Builder, x: Value, *, axis: int = -1) -> Value:
    """exp(x - max x) / sum exp(x - max x) along `axis` (paper section 3, Figure 3)."""
    axes = (axis % x.rank,)
    e = b.op("Exp", x - b.op("ReduceMax", x, axes=axes, keepdims=1))
    return e / b.op("ReduceSum", e, axes=axes, keepdims=1)


@fission("LogSoftmax", since=13)
def log_softmax(b: Builder, x: Value, *, axis: int = -1) -> Value:
    """(x - max x) - log sum exp(x - max x) along `axis`."""
    axes = (axis % x.rank,)
    shifted = x - b.op("ReduceMax", x, axes=axes, keepdims=1)
    return shifted - b.op("Log", b.op("ReduceSum", b.op("Exp", shifted), axes=axes, keepdims=1))


@fission("Hardmax", since=13)
def hardmax(b: Builder, x: Value, *, axis: int = -1) -> Value:
    """1 at the first maximum along `axis`, 0 elsewhere."""
    at = axis % x.rank
    best = b.op("ArgMax", x, axis=at, keepdims=1, select_last_index=0)
    positions = b.constant(b.positions(x.shape[at]).reshape(-1, *(1,) * (x.rank - 1 - at)))
    return b.op("Cast", b.op("Equal", best, positions), to=x.dtype)


@fission("Softmax", since=1)
def softmax_of_rows(b: Builder, x: Value, *, axis: int = 1) -> Value:
    """Before opset 13: over all axes from `axis` on, taken as one."""
    return _by_rows(b, x, axis, softmax)


@fission("LogSoftmax", since=1)
def log_softmax_of_rows(b: Builder, x: Value, *, axis: int = 1) -> Value:
    """Before opset 13: over all axes from `axis` on, taken as one."""
    return _by_rows(b, x, axis, log_softmax)


@fission("Hardmax", since=1)
def hardmax_of_rows(b: Builder, x: Value, *, axis: int = 1) -> Value:
    """Before opset 13: over all axes from `axis` on, taken as one."""
    return _by_rows(b, x, axis, hardmax)


def _by_rows(b: Builder, x: Value, axis: int, definition: FissionRule) -> Value:
    at = axis % x.rank if axis != x.rank else axis
    if x.rank and all(n == 1 for n in x.shape[at:-1]):
        return definition(b, x, axis=-1)
    rows = b.op("Reshape", x, shape=(math.prod(x.shape[:at]), math.prod(x.shape[at:])))
    return b.op("Reshape", definition(b, rows, axis=1), shape=x.shape)
