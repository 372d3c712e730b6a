"""Scatter from ONNX's operators: several coordinates become one index, and indices that repeat are read once."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from functools import reduce

from korch.fission.indexing import cut
from korch.fission.rule import Opaque
from korch.ir.builder import Builder, Value

LONGEST = 1 << 20
"""Positions of an axis that are looked up."""


def scattered(b: Builder, x: Value, axis: int, indices: Value, updates: Value, reduction: str) -> Value | Opaque:
    """x with each element of `updates` combined with the one at position indices[...] of `axis`."""
    if x.dtype == "bool" and reduction != "none":
        return Opaque(f"it combines booleans ({reduction})")
    if not updates.tensor.size or not x.tensor.size:
        return x
    column = narrowed(b, indices, axis)
    given = _uniform(b, x)
    return b.op("Scatter", given, column, updates, axis=axis, length=x.shape[axis], reduction=reduction)


def narrowed(b: Builder, indices: Value, axis: int) -> Value:
    """`indices` with length 1 along each axis, but for `axis`, along which they are known to repeat."""
    if indices.array is not None:
        alike = [a for a in range(indices.rank) if a != axis and (indices.array == indices.array.take([0], a)).all()]
        return cut(b, indices, {a: range(1) for a in alike})
    p = b.producer(indices)
    while p and p.op == "Expand":
        source = Value(b, p.inputs[0])
        wide = b.op("Reshape", source, shape=(*(1,) * (indices.rank - source.rank), *source.shape))
        if wide.shape[axis] != indices.shape[axis]:
            break
        indices, p = wide, b.producer(source)
    return indices


def as_rows(b: Builder, x: Value, indices: Value, updates: Value) -> tuple[Value, Value, Value] | Opaque:
    """ScatterND's tensors with one coordinate: x as rows, one index for each row of updates, these rows."""
    depth, count = indices.shape[-1], math.prod(indices.shape[:-1])
    inner, place = x.shape[depth:], joined(b, indices, x.shape[:depth])
    if isinstance(place, Opaque):
        return place
    rows = b.op("Reshape", x, shape=(math.prod(x.shape[:depth]), *inner))
    column = b.op("Reshape", place, shape=(count, *(1,) * len(inner)))
    return rows, column, b.op("Reshape", updates, shape=(count, *inner))


def joined(b: Builder, indices: Value, lengths: Sequence[int]) -> Value | Opaque:
    """The flat position in a tensor of `lengths` of the coordinates along the last axis. Each is looked up in a table:
    one outside of its own axis is an error, and those that count from the back do so there."""
    if len(lengths) == 1:
        return b.op("Reshape", indices, shape=indices.shape[:-1])
    if not lengths or max(lengths) > LONGEST:
        return Opaque(f"it has no coordinates, or several of which one is of more than {LONGEST} positions")
    places: list[Value] = []
    for a, n in enumerate(lengths):
        steps = b.constant(b.positions(n) * math.prod(lengths[a + 1 :]))
        i = cut(b, indices, {indices.rank - 1: range(a, a + 1)})
        places.append(b.op("Take", steps, b.op("Reshape", i, shape=indices.shape[:-1]), axis=0, batch=0))
    return reduce(operator.add, places)


def _uniform(b: Builder, x: Value) -> Value:
    """x as one number, where it is the same everywhere."""
    if x.array is None or not (x.array == x.array.flat[0]).all():
        return x
    return b.constant(x.array.reshape(-1)[0])
