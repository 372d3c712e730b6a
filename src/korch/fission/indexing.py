"""Operators that pick or pad parts of a tensor: Slice, Split, Gather, Pad and their like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from korch import limits
from korch.fission.parameters import integers
from korch.fission.rule import Opaque, fission
from korch.ir.builder import Builder, Value


def cut(b: Builder, x: Value, parts: Mapping[int, range]) -> Value:
    """x at the positions `parts[axis]` of each axis named, and all of the others: one Slice."""
    ranges = [parts.get(a, range(n)) for a, n in enumerate(x.shape)]
    starts = tuple(r.start if len(r) else 0 for r in ranges)
    steps = tuple(r.step if len(r) > 1 else 1 for r in ranges)
    return b.op("Slice", x, starts=starts, steps=steps, lengths=tuple(map(len, ranges)))


def take(b: Builder, x: Value, axis: int, indices: Sequence[int]) -> Value:
    """x at `indices` (non-negative) of `axis`: a Slice where they are evenly spaced, else a Gather."""
    limits.check_positions(len(indices))
    step = indices[1] - indices[0] if len(indices) > 1 else 1
    if indices and step and all(k - j == step for j, k in pairwise(indices)):
        return cut(b, x, {axis: range(indices[0], indices[-1] + (1 if step > 0 else -1), step)})
    return b.op("Gather", x, axis=axis, indices=tuple(indices))


@fission("Slice", since=10)
def slice_(
    b: Builder, x: Value, starts: Value, ends: Value, axes: Value | None = None, steps: Value | None = None, /
) -> Value | Opaque:
    """x[start:end:step] along each axis, with Python's clamping."""
    first, last = integers(starts), integers(ends)
    if isinstance(first, Opaque) or isinstance(last, Opaque):
        return Opaque("its bounds are computed by the model")
    where, stride = integers(axes, range(len(first))), integers(steps, [1] * len(first))
    if isinstance(where, Opaque) or isinstance(stride, Opaque):
        return Opaque("its axes or steps are computed by the model")
    return _sliced(b, x, first, last, where, stride)


@fission("Slice", since=1)
def slice_by_attributes(
    b: Builder, x: Value, *, starts: Sequence[int], ends: Sequence[int], axes: Sequence[int] | None = None
) -> Value:
    """Before opset 10 the bounds are attributes."""
    return _sliced(b, x, starts, ends, range(len(starts)) if axes is None else axes, [1] * len(starts))


def _sliced(
    b: Builder, x: Value, starts: Sequence[int], ends: Sequence[int], axes: Sequence[int], steps: Sequence[int]
) -> Value:
    rows = zip(axes, starts, ends, steps, strict=True)
    return cut(b, x, {a % x.rank: range(x.shape[a])[i:j:k] for a, i, j, k in rows})


@fission("Split")
def split_(
    b: Builder,
    x: Value,
    sizes: Value | None = None,
    /,
    *,
    axis: int = 0,
    split: Sequence[int] | None = None,
    num_outputs: int | None = None,
    outputs: int,
) -> tuple[Value, ...] | Opaque:
    """x in parts of the given lengths, or of equal ones of which the last may be shorter."""
    n = x.shape[axis]
    even = -(-n // (num_outputs or outputs))
    lengths = integers(sizes, split or [min(even, n - i) for i in range(0, max(n, 1), max(even, 1))])
    if isinstance(lengths, Opaque):
        return lengths
    lengths = (*lengths, *[0] * (outputs - len(lengths)))
    ends = np.cumsum(lengths).tolist()
    return tuple(cut(b, x, {axis % x.rank: range(e - k, e)}) for k, e in zip(lengths, ends, strict=True))


@fission("Concat")
def concat(b: Builder, *xs: Value, axis: int = 1) -> Value:
    """The inputs one behind the other along `axis`; empty ones add nothing."""
    full = [x for x in xs if x.shape[axis]] or [xs[0]]
    return b.op("Concat", *full, axis=axis % xs[0].rank)


@fission("Gather")
def gather(b: Builder, x: Value, indices: Value, *, axis: int = 0) -> Value | Opaque:
    """x[..., indices, ...] for indices of any shape, negative ones from the back."""
    places, n = integers(indices), x.shape[axis]
    if isinstance(places, Opaque):
        return b.op("Take", x, indices, axis=axis % x.rank, batch=0)
    if not all(-n <= i < n for i in places):
        raise ValueError(f"an index is outside of its axis of length {n}")
    at = axis % x.rank
    picked = take(b, x, at, [i % n for i in places])
    return b.op("Reshape", picked, shape=(*x.shape[:at], *indices.shape, *x.shape[at + 1 :]))


@fission("Compress", since=9)
def compress(b: Builder, x: Value, condition: Value, *, axis: int | None = None) -> Value | Opaque:
    """x where the condition holds along `axis`, or along all of x in a row; behind the condition's end it does not."""
    if condition.array is None:
        return Opaque("its condition is computed by the model")
    if axis is None:
        x, axis = b.op("Reshape", x, shape=(x.tensor.size,)), 0
    places = np.flatnonzero(condition.array).tolist()
    if places and places[-1] >= x.shape[axis]:
        raise ValueError(f"a condition is outside of its axis of length {x.shape[axis]}")
    return take(b, x, axis % x.rank, places)


@fission("OneHot", since=9)
def one_hot(b: Builder, indices: Value, depth: Value, values: Value, *, axis: int = -1) -> Value | Opaque:
    """values[1] where the position on the new axis is the index (negative ones from the back), elsewhere values[0]."""
    lengths = integers(depth)
    if isinstance(lengths, Opaque):
        return lengths
    n, at = int(lengths[0]), axis % (indices.rank + 1)
    if n < 1:
        raise ValueError(f"the depth {n} is no length")
    places = b.op("Cast", indices, to="int64")
    places = b.op("Where", b.op("Less", places, 0), places + n, places)
    column = b.op("Reshape", places, shape=(*places.shape[:at], 1, *places.shape[at:]))
    hot = b.op("Equal", column, b.constant(b.positions(n).reshape(-1, *(1,) * (indices.rank - at))))
    off, on = (b.op("Reshape", cut(b, values, {0: range(i, i + 1)}), shape=()) for i in (0, 1))
    return b.op("Where", hot, on, off)


@fission("Pad", since=11)
def pad(
    b: Builder,
    x: Value,
    pads: Value,
    fill: Value | None = None,
    axes: Value | None = None,
    /,
    *,
    mode: str = "constant",
) -> Value | Opaque:
    """x with more around it (constant, reflected, its edge, or itself again), or less where a pad is negative."""
    around, where = integers(pads), integers(axes, range(x.rank))
    if isinstance(around, Opaque) or isinstance(where, Opaque) or (fill is not None and fill.array is None):
        return Opaque("its pads or its value are computed by the model")
    full, k = [0] * (2 * x.rank), len(where)
    for i, a in enumerate(where):
        full[a % x.rank], full[a % x.rank + x.rank] = around[i], around[i + k]
    return padded(b, x, full, mode, fill.array.item() if fill is not None and fill.array is not None else 0)


@fission("Pad", since=2)
def pad_by_attributes(
    b: Builder, x: Value, *, pads: Sequence[int], mode: str = "constant", value: float = 0.0
) -> Value:
    """Before opset 11 pads and value are attributes."""
    return padded(b, x, pads, mode, value)


def padded(b: Builder, x: Value, pads: Sequence[int], mode: str = "constant", value: float = 0) -> Value:
    """Cuts where a pad is negative, then pads (`pads`: full rank, begins then ends)."""
    r = x.rank
    inner = cut(b, x, {a: range(max(-pads[a], 0), n + min(pads[a + r], 0)) for a, n in enumerate(x.shape)})
    more = tuple(max(p, 0) for p in pads)
    return b.op("Pad", inner, pads=more, mode=mode, value=float(value) if x.tensor.is_float else value)


@fission("CenterCropPad")
def center_crop_pad(b: Builder, x: Value, shape: Value, *, axes: Sequence[int] | None = None) -> Value | Opaque:
    """x cut or padded with zeros at both ends to the lengths `shape`."""
    lengths = integers(shape)
    if isinstance(lengths, Opaque):
        return lengths
    pads = [0] * (2 * x.rank)
    for a, n in zip(range(x.rank) if axes is None else axes, lengths, strict=True):
        more = n - x.shape[a]
        begin = more // 2 if more > 0 else -(-more // 2)
        pads[a % x.rank], pads[a % x.rank + x.rank] = begin, more - begin
    return padded(b, x, pads)


@fission("Trilu")
def trilu(b: Builder, x: Value, k: Value | None = None, /, *, upper: int = 1) -> Value | Opaque:
    """x above (below) its k-th diagonal, that included, and 0 elsewhere."""
    diagonal = integers(k, [0])
    if isinstance(diagonal, Opaque):
        return diagonal
    b.check_constant(x.shape[-2:], "bool")
    ones = np.ones(x.shape[-2:], bool)
    kept = np.triu(ones, diagonal[0]) if upper else np.tril(ones, diagonal[0])
    return b.op("Where", b.constant(kept), x, 0)
