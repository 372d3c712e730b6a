"""Reductions along axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from korch.fission.parameters import axes_in, integers
from korch.fission.rule import Opaque, fission
from korch.ir.builder import Builder, Value
from korch.ir.ops.reduce import reduced_shape

FoldFunction = Callable[[str, Value], Value]
"""Applies a reduce primitive along the axes of the operator."""


def _log_sum_exp(b: Builder, x: Value, fold: FoldFunction, spread: Callable[[Value], Value]) -> Value:
    """m + log sum exp(x - m) with m = max x, or where that is infinite the last finite number before."""
    limits = np.finfo(x.dtype)
    m = b.op("Min", b.op("Max", fold("ReduceMax", x), float(limits.min)), float(limits.max))
    return b.op("Log", fold("ReduceSum", b.op("Exp", x - spread(m)))) + m


DEFINITIONS: dict[str, Callable[[Builder, Value, FoldFunction], Value]] = {
    "ReduceSum": lambda b, x, fold: fold("ReduceSum", x),
    "ReduceMean": lambda b, x, fold: fold("ReduceMean", x),
    "ReduceProd": lambda b, x, fold: fold("ReduceProd", x),
    "ReduceMax": lambda b, x, fold: fold("ReduceMax", x),
    "ReduceMin": lambda b, x, fold: fold("ReduceMin", x),
    "ReduceL1": lambda b, x, fold: fold("ReduceSum", b.op("Abs", x)),
    "ReduceL2": lambda b, x, fold: b.op("Sqrt", fold("ReduceSum", x * x)),
    "ReduceSumSquare": lambda b, x, fold: fold("ReduceSum", x * x),
    "ReduceLogSum": lambda b, x, fold: b.op("Log", fold("ReduceSum", x)),
}
THROUGH = {"ReduceL2": "iu", "ReduceLogSum": "iu", "ReduceLogSumExp": "iu", "ReduceMax": "b", "ReduceMin": "b"}
"""Kinds of dtype that a definition cannot be computed in."""


@fission(*DEFINITIONS, "ReduceLogSumExp")
def reduction(
    b: Builder,
    x: Value,
    given: Value | None = None,
    /,
    *,
    op: str,
    axes: Sequence[int] | None = None,
    keepdims: int = 1,
    noop_with_empty_axes: int = 0,
) -> Value | Opaque:
    """The reduction of x along `axes` (all of them if none is named, unless that is to mean none)."""
    named = integers(given, axes)
    if isinstance(named, Opaque):
        return named
    if not named and not noop_with_empty_axes:
        named = range(x.rank)
    where = axes_in(named, x.rank)
    if 0 in (x.shape[a] for a in where):
        return Opaque("it reduces nothing")
    if np.dtype(x.dtype).kind in THROUGH.get(op, ""):
        wide = b.op("Cast", x, to="uint8" if x.dtype == "bool" else "float64")
        return b.op("Cast", _reduced(b, op, wide, where, keepdims), to=x.dtype)
    return _reduced(b, op, x, where, keepdims)


def _reduced(b: Builder, op: str, x: Value, axes: tuple[int, ...], keepdims: int) -> Value:
    fold = partial(_fold, b, axes, keepdims)
    if op != "ReduceLogSumExp":
        return DEFINITIONS[op](b, x, fold)
    kept = reduced_shape(x.shape, axes, 1)
    return _log_sum_exp(b, x, fold, lambda m: b.op("Reshape", m, shape=kept))


def _fold(b: Builder, axes: tuple[int, ...], keepdims: int, op: str, x: Value) -> Value:
    """Along axes of length 1 there is nothing to add."""
    if math.prod(x.shape[a] for a in axes) == 1:
        return b.op("Reshape", x, shape=reduced_shape(x.shape, axes, keepdims))
    return b.op(op, x, axes=axes, keepdims=keepdims)


@fission("ArgMax", "ArgMin")
def arg_reduction(
    b: Builder, x: Value, *, op: str, axis: int = 0, keepdims: int = 1, select_last_index: int = 0
) -> Value:
    """Where along `axis` the greatest (least) element is: the first such place, or the last."""
    return b.op(op, x, axis=axis % x.rank, keepdims=keepdims, select_last_index=select_last_index)


LONGEST = 256
"""Of an axis whose running sums are taken one by one; they cost its square."""


@fission("CumSum", since=11)
def cumulative_sum(b: Builder, x: Value, axis: Value, /, *, exclusive: int = 0, reverse: int = 0) -> Value | Opaque:
    """The sum of all elements of `axis` up to each (`reverse`: from it on), itself left out if `exclusive`."""
    named = integers(axis)
    if isinstance(named, Opaque):
        return named
    at, length = named[0] % x.rank, x.shape[named[0]]
    if length > LONGEST:
        return Opaque(f"its axis is longer than {LONGEST}")
    distance = np.arange(length)[:, None] - np.arange(length)  # how far behind the summand the sum stands
    counted = (-distance if reverse else distance) >= (1 if exclusive else 0)
    mask = b.constant(counted.reshape(length, length, *(1,) * (x.rank - at - 1)))
    summands = b.op("Reshape", x, shape=(*x.shape[:at], 1, *x.shape[at:]))
    return b.op("ReduceSum", b.op("Where", mask, summands, 0), axes=(at + 1,), keepdims=0)
