"""Softmax and its logarithm."""

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


@fission("Softmax", since=1)
def softmax_of_rows(b: Builder, x: Value, *, axis: int = 1) -> Value:
    """Before opset 13: over all axes from `axis` on, taken as one."""
    return _by_rows(b, x, axis, softmax)


@fission("LogSoftmax", since=1)
def log_softmax_of_rows(b: Builder, x: Value, *, axis: int = 1) -> Value:
    """Before opset 13: over all axes from `axis` on, taken as one."""
    return _by_rows(b, x, axis, log_softmax)


def _by_rows(b: Builder, x: Value, axis: int, definition: FissionRule) -> Value:
    at = axis % x.rank if axis != x.rank else axis
    if x.rank and all(n == 1 for n in x.shape[at:-1]):
        return definition(b, x, axis=-1)
    rows = b.op("Reshape", x, shape=(math.prod(x.shape[:at]), math.prod(x.shape[at:])))
    return b.op("Reshape", definition(b, rows, axis=1), shape=x.shape)
