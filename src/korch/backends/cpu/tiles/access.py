"""Access relations: what a primitive reads of its inputs for a span of its output along one axis."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from korch.ir.cone import Cone
from korch.ir.ops.table import Category, Shape
from korch.ir.ops.winograd import tiling_of
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor

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
"""What of an input is read; None: all of it."""


@dataclass(frozen=True)
class Part:
    """A primitive that computes only a span of its output: what it reads, and the attributes that say so."""

    reads: tuple[Read, ...]
    attrs: dict[str, Any]


def part(p: Primitive, span: Span) -> Part | None:
    """`p` for `span` of its output; None where what it reads is no span."""
    attrs = dict(p.attrs)
    if span.axis == SUMMED:
        return _summed(p, span, attrs)
    if p.category is Category.ELEMENTWISE:
        return Part(tuple(_aligned(t, p.output, span) for t in p.inputs), attrs)
    relation = _RELATIONS.get(p.op)
    return relation(p, span, attrs) if relation else None


def outermost(shape: Shape) -> int:
    """The first axis that has more than one position: a span along it is one piece of memory."""
    return next((a for a, n in enumerate(shape) if n > 1), 0)


def ways_across(cone: Cone) -> tuple[int, ...]:
    """The axes of the root along which strips are worth trying: the outermost, and that one which is outermost where a
    transposition that ends the cone begins; of a product of two computed matrices also that of the sum."""
    last, first = cone.primitives[-1], outermost(cone.root.shape)
    if last.op == "MatMul" and not any(t.const for t in last.inputs):
        return first, SUMMED
    if last.op != "Transpose":
        return (first,)
    return tuple(dict.fromkeys((first, last.attr("perm").index(outermost(last.inputs[0].shape)))))


def length_along(cone: Cone, axis: int) -> int:
    """Positions of the root along the axis, or that its product adds up."""
    return cone.primitives[-1].inputs[0].shape[-1] if axis == SUMMED else cone.root.shape[axis]


def narrowed(shape: Shape, read: Read) -> Shape:
    """`shape` with the length of `read` along its axis."""
    if read is None or read.axis == SUMMED:
        return shape
    return (*shape[: read.axis], read.length, *shape[read.axis + 1 :])


def _aligned(t: Tensor, out: Tensor, span: Span) -> Read:
    """What broadcasting reads of `t`."""
    axis = span.axis - (out.rank - t.rank)
    if axis < 0 or t.shape[axis] != out.shape[span.axis]:
        return None
    return Span(axis, span.begin, span.end)


def _summed(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    """A sum over some of the columns of the one and rows of the other matrix."""
    if p.op != "MatMul":
        return None
    a, b = (Span(t.rank - i, span.begin, span.end) for i, t in enumerate(p.inputs, 1))
    return Part((a, b), attrs)


def _matmul(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    """Rows, or a batch axis; a span of columns would need a span of weights that lie packed."""
    a, b = p.inputs
    if span.axis == p.output.rank - 1:
        return None
    if span.axis == p.output.rank - 2:
        return Part((Span(a.rank - 2, span.begin, span.end), None), attrs)
    return Part((_aligned(a, p.output, span), _aligned(b, p.output, span)), attrs)


def _convolution(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    """Rows: the halo is the window's reach; the pads are those of the edges that the span touches."""
    x, w = p.inputs
    i = span.axis - (1 if attrs["channels_last"] else 2)
    k = w.rank - 2
    if span.axis == 0:
        return Part((span, None), attrs)
    if not 0 <= i < k:
        return None
    stride, pad = attrs["strides"][i], attrs["pads"][i]
    reach = (w.shape[2 + i] - 1) * attrs["dilations"][i] + 1
    read, before, after = _clipped(span, stride, pad, reach, x.shape[span.axis])
    pads = list(attrs["pads"])
    pads[i], pads[i + k] = before, after
    return Part((read, None), attrs | {"pads": tuple(pads)}) if read.length > 0 else None


def _clipped(span: Span, stride: int, pad: int, reach: int, length: int) -> tuple[Span, int, int]:
    """(what exists of the window's input, how much is missing before and behind it)."""
    begin = span.begin * stride - pad
    end = (span.end - 1) * stride - pad + reach
    read = Span(span.axis, max(begin, 0), min(end, length))
    return read, max(-begin, 0), max(end - length, 0)


def _winograd_input(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    """Whole rows of tiles of one image."""
    tiling, x = tiling_of(p), p.inputs[0].shape
    columns = tiling.counts[1]
    if span.axis != 1 or len(x) != 4 or tiling.images != 1 or span.begin % columns or span.end % columns:
        return None
    rows = Span(1, span.begin // columns, span.end // columns)
    top, left, _, right = attrs["pads"]
    read, before, after = _clipped(rows, tiling.steps[0], top, tiling.sides[0], x[1])
    return Part((read,), attrs | {"pads": (before, left, after, right)}) if read.length > 0 else None


def _winograd_output(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    """Rows that are whole tiles, or begin or end with the output."""
    if p.output.rank != 4:
        return None
    tiling, (_, height, width, channels), (above, left) = tiling_of(p), p.output.shape, attrs["skipped"]
    each, columns = tiling.outputs[0] * attrs["phases"], tiling.counts[1]
    begin, end = (0 if span.begin == 0 else span.begin + above), span.end + above
    if span.axis != 1 or tiling.images != 1 or begin % each or (end % each and span.end < height):
        return None
    read = Span(1, begin // each * columns, -(-end // each) * columns)
    cut = {"shape": (1, span.length, width, channels), "skipped": (0 if begin else above, left)}
    return Part((read,), attrs | cut)


def _strassen_input(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    """Whole pairs of adjacent rows."""
    x = p.inputs[0].shape
    read = _run(x, 1, span.begin * 2 * x[-1], span.end * 2 * x[-1]) if span.axis == 1 else None
    return Part((read,), attrs) if read else None


def _strassen_output(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    """Positions of the outermost axis whose rows are whole pairs."""
    y = p.output.shape
    each = math.prod(y[span.axis + 1 : -1])
    if span.axis != outermost(y) or (span.begin * each) % 2 or (span.end * each) % 2:
        return None
    read = Span(1, span.begin * each // 2, span.end * each // 2)
    return Part((read,), attrs | {"shape": narrowed(y, span)})


def _transpose(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    return Part((Span(attrs["perm"][span.axis], span.begin, span.end),), attrs)


def _reshape(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    """Where an axis of the input begins with the span's, and both ends lie between its positions."""
    x, y = p.inputs[0].shape, p.output.shape
    wanted = math.prod(y[span.axis + 1 :])
    read = _run(x, math.prod(y[: span.axis]), span.begin * wanted, span.end * wanted)
    return Part((read,), attrs | {"shape": narrowed(y, span)}) if read else None


def _run(shape: Shape, before: int, begin: int, end: int) -> Span | None:
    """Elements `begin` to `end` as a span of the axis that begins behind `before` positions of the outer ones; None
    where there is no such axis, or they end between its positions."""
    axis = next((a for a, n in enumerate(shape) if n > 1 and math.prod(shape[:a]) == before), None)
    if axis is None:
        return None
    each = math.prod(shape[axis + 1 :])
    return None if begin % each or end % each else Span(axis, begin // each, end // each)


def _slice(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    if attrs["steps"][span.axis] != 1:
        return None
    start = attrs["starts"][span.axis]
    starts = (*attrs["starts"][: span.axis], 0, *attrs["starts"][span.axis + 1 :])
    read = Span(span.axis, span.begin + start, span.end + start)
    return Part((read,), attrs | {"starts": starts, "lengths": narrowed(p.output.shape, span)})


def _concat(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    return Part((span,) * len(p.inputs), attrs) if span.axis != attrs["axis"] else None


def _pad(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    pads = attrs["pads"]
    return None if pads[span.axis] or pads[span.axis + p.output.rank] else Part((span,), attrs)


def _expand(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    return Part((_aligned(p.inputs[0], p.output, span),), attrs | {"shape": narrowed(p.output.shape, span)})


def _interpolate(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    """Along its axis, from the first to the last position that one of the span is made of."""
    if span.axis != attrs["axis"]:
        return Part((span,), attrs)
    taps = slice(span.begin * attrs["taps"], span.end * attrs["taps"])
    indices = attrs["indices"][taps]
    read = Span(span.axis, min(indices), max(indices) + 1)
    own = {"indices": tuple(i - read.begin for i in indices), "weights": attrs["weights"][taps]}
    return Part((read,), attrs | own)


def _reduce(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    rank = p.inputs[0].rank
    kept = range(rank) if attrs["keepdims"] else [a for a in range(rank) if a not in attrs["axes"]]
    axis = kept[span.axis]
    return Part((Span(axis, span.begin, span.end),), attrs) if axis not in attrs["axes"] else None


Relation = Callable[[Primitive, Span, dict[str, Any]], Part | None]
_RELATIONS: dict[str, Relation] = {
    "MatMul": _matmul,
    "Conv": _convolution,
    "WinogradInput": _winograd_input,
    "WinogradOutput": _winograd_output,
    "StrassenInput": _strassen_input,
    "StrassenOutput": _strassen_output,
    "Transpose": _transpose,
    "Reshape": _reshape,
    "Slice": _slice,
    "Concat": _concat,
    "Pad": _pad,
    "Expand": _expand,
    "Interpolate": _interpolate,
    "ReduceSum": _reduce,
    "ReduceMax": _reduce,
    "ReduceMin": _reduce,
    "ReduceMean": _reduce,
}
