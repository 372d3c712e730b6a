"""Take: indexing by integers that are known only when the model runs (embeddings, positions, ONNX's Gather)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from korch.ir.ops.table import Array, Category, Emit, Op, Pull, Region, Shape, add
from korch.ir.tensor import Tensor

if TYPE_CHECKING:
    from korch.ir.primitive import Primitive


def _infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    """The axes of the indices stand in place of `axis`; with `batch` (then equal to `axis`) the first ones are shared.

    Take(x[a, n, c], i[p, q], axis=1, batch=0)[a, p, q, c] = x[a, i[p, q], c]
    Take(x[a, n, c], i[a, p], axis=1, batch=1)[a, p, c] = x[a, i[a, p], c]
    """
    x, indices = inputs
    axis, batch = attrs["axis"], attrs["batch"]
    if batch not in (0, axis) or x.shape[:batch] != indices.shape[:batch]:
        raise ValueError(f"indices {list(indices.shape)} do not share the first {batch} axes of {list(x.shape)}")
    if not indices.dtype.startswith("int") or (indices.size and not x.shape[axis]):
        raise ValueError(f"indices of dtype {indices.dtype} on an axis of length {x.shape[axis]}")
    return x.dtype, (*x.shape[:axis], *indices.shape[batch:], *x.shape[axis + 1 :])


def positions(indices: Array, n: int) -> Array:
    """Where indices of an axis of length n point: negative ones count from the back.

    An index outside of -n..n-1 is an error when a program runs; here, as in the kernels, it means the nearest element,
    so that nothing outside of the tensor is ever read.
    """
    return np.clip(np.where(indices < 0, indices + n, indices), 0, n - 1).astype(np.int64)


def _evaluate(p: Primitive, region: Region, pull: Pull) -> Array:
    x, indices = p.inputs
    axis: int = p.attr("axis")
    batch: int = p.attr("batch")
    behind = axis + indices.rank - batch
    at = positions(pull(1, (*region[:batch], *region[axis:behind])), x.shape[axis])
    grid, place = np.unique(at, return_inverse=True)
    part = pull(0, (*region[:axis], grid, *region[behind:]))
    place = place.reshape(at.shape)
    if not batch:
        return np.take(part, place, axis)
    column = place.reshape(*at.shape[:batch], -1, *(1,) * (x.rank - axis - 1))
    return np.take_along_axis(part, column, axis).reshape([len(r) for r in region])


def _write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    """A Gather; with shared axes a GatherND, whose indices are int64 and have an axis for their one coordinate."""
    indices = p.inputs[1]
    if not p.attr("batch"):
        emit.node("Gather", names, p.output.name, axis=p.attr("axis"))
        return
    column = names[1] if indices.dtype == "int64" else emit.node("Cast", [names[1]], to=7)
    column = emit.node("Reshape", [column, emit.const(np.asarray((*indices.shape, 1), np.int64))], allowzero=1)
    emit.node("GatherND", [names[0], column], p.output.name, batch_dims=p.attr("batch"))


def _indexed(p: Primitive) -> int:
    axis: int = p.attr("axis")
    return p.inputs[0].shape[axis]


add(Op("Take", Category.LAYOUT, _infer, _evaluate, _write, takes=True, indexed=_indexed))
