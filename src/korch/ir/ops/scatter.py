"""Scatter: updates that go to positions known only when the model runs (sums over edges, bags and segments)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from korch.ir.ops.table import Array, Category, Emit, Op, Pull, Region, Shape, add
from korch.ir.ops.take import positions
from korch.ir.tensor import Tensor

if TYPE_CHECKING:
    from korch.ir.primitive import Primitive

COMBINED = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
"""What becomes of an element and an update that meets it; by reduction "none" the update takes its place."""


def _infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    """Of x (the output's shape, or one number), indices i and updates u, which have the same shape but that axes of i
    may be of length 1; `axis` is `length` positions long in the output. Updates come in the order of that axis.

    Scatter(x[a, n, c], i[a, p, c], u[a, p, c], axis=1, length=n): y = x, then y[a, i[a, p, c], c] += u[a, p, c]
    Scatter(0, i[p, 1], u[p, c], axis=0, length=n): the rows of u, added up by where they go
    """
    x, i, u = inputs
    axis, n = attrs["axis"], attrs["length"]
    shape = (*u.shape[:axis], n, *u.shape[axis + 1 :])
    narrow = [
        own in (m, 1) and (a != axis or own == m) for a, (own, m) in enumerate(zip(i.shape, u.shape, strict=False))
    ]
    if i.rank != u.rank or not all(narrow) or x.shape not in ((), shape):
        shapes = ", ".join(str(list(t.shape)) for t in inputs)
        raise ValueError(f"tensors of shapes {shapes} do not scatter along axis {axis} of length {n}")
    if not i.dtype.startswith("int") or (i.size and not n):
        raise ValueError(f"indices of dtype {i.dtype} on an axis of length {n}")
    if x.dtype != u.dtype or attrs["reduction"] not in ("none", *COMBINED):
        raise ValueError(f"updates of {u.dtype} meet {x.dtype} by {attrs['reduction']}")
    return x.dtype, shape


def _evaluate(p: Primitive, region: Region, pull: Pull) -> Array:
    """Evaluated along all of the axis, where it is wanted elsewhere."""
    x, i, u = p.inputs
    axis: int = p.attr("axis")
    n: int = p.attr("length")

    def beside(t: Tensor, along: int) -> Region:
        return tuple(
            np.arange(along) if a == axis else r if t.shape[a] > 1 or u.shape[a] == 1 else np.arange(1)
            for a, r in enumerate(region)
        )

    updates = np.moveaxis(pull(2, beside(u, u.shape[axis])), axis, 0)
    at = np.moveaxis(positions(pull(1, beside(i, i.shape[axis])), n), axis, 0)
    y = (
        np.full((n, *updates.shape[1:]), pull(0, ()))
        if x.rank == 0
        else np.moveaxis(pull(0, beside(p.output, n)), axis, 0).copy()
    )
    if at.size == len(at):
        place: tuple[Array, ...] = (at.reshape(-1),)
    else:
        place = (np.broadcast_to(at, updates.shape), *np.indices(updates.shape, sparse=True)[1:])
    if p.attr("reduction") == "none":
        y[place] = updates  # of several for one element, numpy leaves the last
    else:
        COMBINED[p.attr("reduction")].at(y, place, updates)
    return np.moveaxis(y[region[axis]], 0, axis)


def _write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    """ScatterElements of tensors whose shapes are written out."""
    (x, i, u), (given, at, updates) = p.inputs, names
    if x.shape != p.output.shape:
        given = emit.node("Expand", [given, emit.const(np.asarray(p.output.shape, np.int64))])
    if i.dtype not in ("int32", "int64"):
        at = emit.node("Cast", [at], to=7)
    if i.shape != u.shape:
        at = emit.node("Expand", [at, emit.const(np.asarray(u.shape, np.int64))])
    emit.node(
        "ScatterElements", [given, at, updates], p.output.name, axis=p.attr("axis"), reduction=p.attr("reduction")
    )


add(
    Op(
        "Scatter",
        Category.REDUCE,
        _infer,
        _evaluate,
        _write,
        scatters=True,
        indexed=lambda p: p.attr("length"),
        operations=lambda p, out: p.inputs[2].size * out / max(p.output.size, 1),
        fan_in=lambda p: 1 + p.inputs[2].size // max(p.output.size, 1),
    )
)
