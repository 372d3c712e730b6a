"""Operators each of whose output elements is an element of the input, or a number.

The reference follows from that source, and so do loops that backends write and bounds of values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from korch.ir.ops.table import Array, Category, Emit, Op, Pull, Region, Shape, Source
from korch.ir.tensor import Tensor

if TYPE_CHECKING:
    from korch.ir.primitive import Primitive


def layout(
    name: str,
    infer: Callable[[tuple[Tensor, ...], dict[str, Any]], tuple[str, Shape]],
    source: Source,
    write: Callable[[Primitive, Sequence[str], Emit], None],
) -> Op:
    """A layout operator whose `source` says all; how little it reads at least is not known from that."""
    return Op(name, Category.LAYOUT, infer, evaluate, write, source=source, fewest=lambda p, t, out: 0.0)


def fill_of(p: Primitive) -> float | None:
    """The number that may take the place of elements of the input; None where nothing does, or there is no source."""
    if p.spec.source is None:
        return None
    element = p.spec.source(p, tuple(np.zeros(1, np.int64) for _ in p.output.shape))
    return element.fill if element.inside else None


def evaluate(p: Primitive, region: Region, pull: Pull) -> Array:
    """The reference of a primitive that has a source: pulls the grid that covers what it reads, and picks."""
    assert p.spec.source
    x, shape = p.inputs[0], tuple(map(len, region))
    element = p.spec.source(p, np.ix_(*region))
    inside = np.ones(shape, bool)
    for at in element.inside:
        inside &= at >= 0
    if not inside.any():
        return np.full(shape, element.fill, np.float64 if x.is_float else x.dtype)
    places = [np.broadcast_to(at, shape)[inside] for at in element.at]
    grid = tuple(np.unique(at) for at in places)
    part = pull(0, grid)
    y = np.full(shape, element.fill, part.dtype)
    y[inside] = part[tuple(np.searchsorted(g, at) for g, at in zip(grid, places, strict=True))]
    return y
