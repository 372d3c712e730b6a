"""Access relations: what a primitive reads of its inputs for a span of its output along one axis."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from korch.ir.tensor import Tensor

if TYPE_CHECKING:
    from korch.ir.ops.table import Shape

SUMMED = -1
"""In place of an axis of a product: the one along which its operands are multiplied and added up. A span of it is the
sum over these positions."""


@dataclass(frozen=True, slots=True)
class Span:
    """Positions `begin` to `end`, that one left out, along `axis`."""

    axis: int
    begin: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.begin


Read = Span | None
"""The span of an input that is read; None: all of it."""


@dataclass(frozen=True)
class Part:
    """A primitive that computes only a span of its output: what it reads, and the attributes that say so."""

    reads: tuple[Read, ...]
    attrs: dict[str, Any]


def outermost(shape: Shape) -> int:
    """The first axis that has more than one position: a span along it is one piece of memory."""
    return next((a for a, n in enumerate(shape) if n > 1), 0)


def narrowed(shape: Shape, read: Read) -> Shape:
    """`shape` with the length of `read` along its axis."""
    if read is None or read.axis == SUMMED:
        return shape
    return (*shape[: read.axis], read.length, *shape[read.axis + 1 :])


def aligned(t: Tensor, out: Tensor, span: Span) -> Read:
    """The span that broadcasting reads of `t`."""
    axis = span.axis - (out.rank - t.rank)
    if axis < 0 or t.shape[axis] != out.shape[span.axis]:
        return None
    return Span(axis, span.begin, span.end)


def clipped(span: Span, stride: int, pad: int, reach: int, length: int) -> tuple[Span, int, int]:
    """(what exists of the window's input, how much is missing before and behind it)."""
    begin = span.begin * stride - pad
    end = (span.end - 1) * stride - pad + reach
    read = Span(span.axis, max(begin, 0), min(end, length))
    return read, max(-begin, 0), max(end - length, 0)


def run_of(shape: Shape, before: int, begin: int, end: int) -> Span | None:
    """Elements `begin` to `end` as a span of the axis that begins behind `before` positions of the outer ones; None
    where there is no such axis, or they end between its positions."""
    axis = next((a for a, n in enumerate(shape) if n > 1 and math.prod(shape[:a]) == before), None)
    if axis is None:
        return None
    each = math.prod(shape[axis + 1 :])
    return None if begin % each or end % each else Span(axis, begin // each, end // each)
