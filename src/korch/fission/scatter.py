"""Gathers and scatters: at constant places parts are put between the rest, scattered elements picked one by one; at
computed ones they are Take and Scatter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from korch.fission.indexing import cut, take
from korch.fission.rule import Opaque, fission
from korch.fission.scattered import as_rows, joined, narrowed, scattered
from korch.ir.builder import Builder, Value

MOST = 1 << 16
"""Elements that are picked one by one; more of them are looked up when the model runs."""

Places = NDArray[np.int64]


@fission("ScatterND", since=11)
def scatter_nd(b: Builder, x: Value, indices: Value, updates: Value, *, reduction: str = "none") -> Value | Opaque:
    """x with slices of `updates` in place of its own, or combined with them: slice i goes to x[indices[i]]."""
    if indices.array is not None:
        places = _of_slices(indices.array, x.shape)
        if reduction == "none" and (y := _written(b, x, places.reshape(updates.shape), updates)):
            return y
    rows = as_rows(b, x, indices, updates)
    y = rows if isinstance(rows, Opaque) else scattered(b, rows[0], 0, *rows[1:], reduction)
    return y if isinstance(y, Opaque) else b.op("Reshape", y, shape=x.shape)


@fission("ScatterElements", "Scatter", since=9)
def scatter_elements(
    b: Builder, x: Value, indices: Value, updates: Value, *, axis: int = 0, reduction: str = "none"
) -> Value | Opaque:
    """x with the elements of `updates` in place of its own, or combined with them: element i goes to position
    indices[i] of `axis`."""
    axis %= x.rank
    if indices.array is not None:
        places = _along(indices.array, x.shape, axis)
        if reduction == "none" and (y := _written(b, x, places, updates)):
            return y
    box = [range(n if a == axis else m) for a, (n, m) in enumerate(zip(x.shape, indices.shape, strict=True))]
    y = scattered(b, cut(b, x, dict(enumerate(box))), axis, indices, updates, reduction)
    return y if isinstance(y, Opaque) or not y.tensor.size else put(b, x, y, box)


@fission("GatherND", since=11)
def gather_nd(b: Builder, x: Value, indices: Value, *, batch_dims: int = 0) -> Value | Opaque:
    """The slices x[indices[i]], for each position of the first `batch_dims` axes its own."""
    if indices.array is None:
        return _taken(b, x, indices, batch_dims)
    depth = batch_dims + indices.shape[-1]
    batch = np.indices(indices.shape[:-1])[:batch_dims]
    rows = _wrapped(np.concatenate([batch, np.moveaxis(indices.array, -1, 0)]), x.shape[:depth])
    table = b.op("Reshape", x, shape=(math.prod(x.shape[:depth]), *x.shape[depth:]))
    picked = take(b, table, 0, rows.reshape(-1).tolist())
    return b.op("Reshape", picked, shape=(*indices.shape[:-1], *x.shape[depth:]))


@fission("GatherElements", since=11)
def gather_elements(b: Builder, x: Value, indices: Value, *, axis: int = 0) -> Value | Opaque:
    """The elements of x at positions indices[i] of `axis`."""
    if indices.array is None:
        return _taken_along(b, x, indices, axis % x.rank)
    places = _along(indices.array, x.shape, axis % x.rank)
    if places.size > MOST:
        return Opaque("it picks too many elements")
    flat = b.op("Reshape", x, shape=(x.tensor.size,))
    return b.op("Reshape", take(b, flat, 0, places.reshape(-1).tolist()), shape=indices.shape)


def _taken(b: Builder, x: Value, indices: Value, batch: int) -> Value | Opaque:
    """`gather_nd` of indices that the model computes."""
    behind = batch + indices.shape[-1]
    place = joined(b, indices, x.shape[batch:behind])
    if isinstance(place, Opaque):
        return place
    table = b.op("Reshape", x, shape=(*x.shape[:batch], math.prod(x.shape[batch:behind]), *x.shape[behind:]))
    return b.op("Take", table, place, axis=batch, batch=batch)


def _taken_along(b: Builder, x: Value, indices: Value, axis: int) -> Value:
    """`gather_elements` of indices that the model computes: of rows, where these repeat along them; else `axis` becomes
    the last one, and all others are shared."""
    shared = cut(b, x, {a: range(n) for a, n in enumerate(indices.shape) if a != axis})
    column = narrowed(b, indices, axis)
    outer, inner = math.prod(column.shape[:axis]), math.prod(column.shape[axis + 1 :])
    if inner == 1 and column.shape[:axis] == shared.shape[:axis]:
        return b.op("Take", shared, b.op("Reshape", column, shape=column.shape[: axis + 1]), axis=axis, batch=axis)
    if inner == outer == 1:
        return b.op("Take", shared, b.op("Reshape", column, shape=(column.shape[axis],)), axis=axis, batch=0)
    order = (*(a for a in range(x.rank) if a != axis), axis)
    back = tuple(order.index(a) for a in range(x.rank))
    rows, places = (b.op("Transpose", v, perm=order) for v in (shared, indices))
    return b.op("Transpose", b.op("Take", rows, places, axis=x.rank - 1, batch=x.rank - 1), perm=back)


def _of_slices(indices: NDArray[Any], shape: Sequence[int]) -> Places:
    """Flat positions in `shape` of the elements of each slice, a row for each."""
    depth = indices.shape[-1]
    inner = math.prod(shape[depth:])
    return _wrapped(np.moveaxis(indices, -1, 0), shape[:depth]).reshape(-1, 1) * inner + np.arange(inner)


def _wrapped(columns: NDArray[Any], lengths: Sequence[int]) -> Places:
    """Flat positions in a tensor of `lengths`, of one array of indices an axis, negative ones from the back."""
    for column, n in zip(columns, lengths, strict=True):
        if ((column < -n) | (column >= n)).any():
            raise ValueError(f"an index is outside of its axis of length {n}")
    positive = [column % n for column, n in zip(columns, lengths, strict=True)]
    return np.asarray(np.ravel_multi_index(positive, tuple(lengths)), np.int64)


def _along(indices: NDArray[Any], shape: Sequence[int], axis: int) -> Places:
    """Flat positions in `shape` of the elements at `indices` of `axis` and their own place elsewhere."""
    columns = [indices if a == axis else own for a, own in enumerate(np.indices(indices.shape, sparse=True))]
    return _wrapped(np.stack(np.broadcast_arrays(*columns)), shape)


def _written(b: Builder, x: Value, places: Places, updates: Value) -> Value | None:
    """x with `updates` at the flat positions `places`, where these are a block or few, each once."""
    if not places.size:
        return x
    box = _box(places, x.shape)
    if box is not None:
        return put(b, x, b.op("Reshape", updates, shape=tuple(map(len, box))), box)
    if x.tensor.size > MOST or np.unique(places).size != places.size:
        return None
    source = np.arange(x.tensor.size)
    source[places.reshape(-1)] = x.tensor.size + np.arange(places.size)
    both = [b.op("Reshape", v, shape=(v.tensor.size,)) for v in (x, updates)]
    return b.op("Reshape", take(b, b.op("Concat", *both, axis=0), 0, source.tolist()), shape=x.shape)


def _box(places: Places, shape: Sequence[int]) -> tuple[range, ...] | None:
    """The block of a tensor of `shape` that `places` run through in order; None where they are no block."""
    columns = np.unravel_index(places.reshape(-1), shape) if shape else ()
    box = tuple(range(int(c.min()), int(c.max()) + 1) for c in columns)
    if math.prod(map(len, box)) != places.size:
        return None
    block = np.arange(math.prod(shape)).reshape(shape)[np.ix_(*box)] if shape else np.zeros((), np.int64)
    return box if np.array_equal(block.reshape(-1), places.reshape(-1)) else None


def put(b: Builder, x: Value, part: Value, box: Sequence[range]) -> Value:
    """x with `part` at the positions `box`: along each axis what lies before it, the part, and what lies behind."""
    for a, r in enumerate(box):
        n = x.shape[a]
        if len(r) < n:
            inside = [range(len(q)) if i == a else q for i, q in enumerate(box)]
            middle = put(b, cut(b, x, {a: r}), part, inside)
            around = (cut(b, x, {a: range(r.start)}), middle, cut(b, x, {a: range(r.stop, n)}))
            return b.op("Concat", *(v for v in around if v.tensor.size), axis=a)
    return part
