"""Primitives that do the same to every element along an axis: which axes, and the same on other lengths."""

from __future__ import annotations

from math import prod

import numpy as np

from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.space import Space


def axis_behind(q: Primitive, axis: int) -> int | None:
    """Where `axis` of q's input is in its output, if `q` is linear and works on other axes only; else None.

    Means of integers are not: they are rounded.
    """
    x = q.inputs[0]
    if q.spec.averages and not x.is_float:
        return None
    match q.op:
        case "Interpolate" | "Gather":
            return None if q.attr("axis") == axis else axis
        case "Slice":
            whole = (q.attr("lengths")[axis], q.attr("starts")[axis], q.attr("steps")[axis])
            return axis if whole == (x.shape[axis], 0, 1) else None
        case "Pad":
            here = any(q.attr("pads")[a] for a in (axis, axis + x.rank))
            return None if here or (q.attr("mode") == "constant" and q.attr("value")) else axis
        case "Transpose":
            return q.attr("perm").index(axis)
        case "Reshape":
            return _regrouped(x.shape, q.output.shape, axis)
        case "Expand":
            behind = axis + q.output.rank - x.rank
            return behind if x.shape[axis] == q.output.shape[behind] else None
        case "ReduceSum" | "ReduceMean":
            gone = q.attr("axes")
            return None if axis in gone else axis - (0 if q.attr("keepdims") else sum(a < axis for a in gone))
        case "AveragePool":
            return axis if axis == 1 and not q.attr("channels_last") else None
        case _:
            return None


def axis_before(q: Primitive, axis: int) -> int | None:
    """The axis of q's input that `axis_behind` sends to `axis`."""
    return next((a for a in range(q.inputs[0].rank) if axis_behind(q, a) == axis), None)


def moved(s: Space, q: Primitive, x: Tensor, axis: int) -> Tensor:
    """What `q` does, done to x, which may have another length along `axis`."""
    attrs, behind = dict(q.attrs), axis_behind(q, axis)
    assert behind is not None
    for name in {"lengths", "shape"} & attrs.keys():
        attrs[name] = (*attrs[name][:behind], x.shape[axis], *attrs[name][behind + 1 :])
    return s.op(q.op, x, **attrs)


def keeps_constants(q: Primitive) -> bool:
    """Whether `q` gives c everywhere for an input that is c everywhere: its weights sum to 1."""
    match q.op:
        case "Interpolate":
            sums = np.asarray(q.attr("weights")).reshape(-1, q.attr("taps")).sum(1)
            return bool(np.abs(sums - 1).max() < 1e-12)
        case "Pad":
            return q.attr("mode") != "constant"
        case "AveragePool":
            return not (q.attr("count_include_pad") and any(q.attr("pads")))
        case _:
            return q.op != "ReduceSum"


def _regrouped(shape: tuple[int, ...], new: tuple[int, ...], axis: int) -> int | None:
    """The axis of `new` that is `axis` of `shape` alone, the others regrouped around it."""
    if shape[axis] == 1:
        return None
    before = prod(shape[:axis])
    return next((a for a, n in enumerate(new) if n == shape[axis] and prod(new[:a]) == before), None)
