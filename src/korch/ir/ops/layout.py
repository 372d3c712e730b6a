"""Layout and broadcast primitives: O[x] = I[L(x)], no arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from korch.ir.ops.axes import along_last, channels_last
from korch.ir.ops.elementwise import broadcast_region
from korch.ir.ops.spans import Part, Span, aligned, narrowed, run_of
from korch.ir.ops.table import (
    Array,
    Category,
    Element,
    Emit,
    Op,
    Position,
    Pull,
    Region,
    Shape,
    ViewKind,
    add,
    always,
    is_whole,
    other_axes,
    share,
    whole,
    write_same,
)
from korch.ir.tensor import Tensor

if TYPE_CHECKING:
    from korch.ir.primitive import Primitive


def _shape_attr(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    return inputs[0].dtype, tuple(attrs["shape"])


def _write_shape(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    shape = emit.const(np.asarray(p.attr("shape"), np.int64))
    attrs: dict[str, Any] = {"allowzero": 1} if p.op == "Reshape" else {}
    emit.node(p.op, [*names, shape], p.output.name, **attrs)


def _expand(p: Primitive, region: Region, pull: Pull) -> Array:
    x = pull(0, broadcast_region(region, p.inputs[0].shape))
    return np.broadcast_to(x, tuple(len(r) for r in region))


def _expand_axis(p: Primitive, axis: int) -> int | None:
    behind = axis + p.output.rank - p.inputs[0].rank
    return behind if p.inputs[0].shape[axis] == p.output.shape[behind] else None


def _same_shape(operands: tuple[Tensor, ...], attrs: dict[str, Any]) -> Tensor | None:
    return operands[0] if tuple(attrs["shape"]) == operands[0].shape else None


def _expand_last(a: dict[str, Any], _: int) -> dict[str, Any]:
    return {"shape": channels_last(a["shape"])}


def _expand_source(p: Primitive, at: tuple[Position, ...]) -> Element[Position]:
    tail = at[p.output.rank - p.inputs[0].rank :]
    return Element(tuple(i * 0 if n == 1 else i for n, i in zip(p.inputs[0].shape, tail, strict=True)))


def _expand_reads(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    return Part((aligned(p.inputs[0], p.output, span),), attrs | {"shape": narrowed(p.output.shape, span)})


add(
    Op(
        "Expand",
        Category.BROADCAST,
        _shape_attr,
        _expand,
        _write_shape,
        source=_expand_source,
        view=ViewKind.REPEATS,
        idle=_same_shape,
        axis_map=_expand_axis,
        reads=_expand_reads,
        channels_last=_expand_last,
    )
)


def _reshape(p: Primitive, region: Region, pull: Pull) -> Array:
    """On a part: find the flat positions, pull the grid that covers them, pick them out of it."""
    source, shape = p.inputs[0].shape, p.output.shape
    if is_whole(region, shape) or p.output.size == 0:
        return pull(0, whole(source)).reshape(tuple(len(r) for r in region))
    flat = np.ravel_multi_index(np.ix_(*region), shape) if shape else np.zeros((), np.int64)
    at = np.unravel_index(flat.reshape(-1), source) if source else ()  # NumPy errs where the last of several axes is 1
    grid = tuple(np.unique(a) for a in at)
    x = pull(0, grid)
    return x[tuple(np.searchsorted(g, a) for g, a in zip(grid, at, strict=True))].reshape(flat.shape)


def _reshape_infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    dtype, shape = _shape_attr(inputs, attrs)
    if math.prod(shape) != inputs[0].size or any(n < 0 for n in shape):
        raise ValueError(f"{inputs[0].size} elements of shape {list(inputs[0].shape)} do not fill {list(shape)}")
    return dtype, shape


def _reshape_reads(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    """Where an axis of the input begins with the span's, and both ends lie between its positions."""
    x, y = p.inputs[0].shape, p.output.shape
    wanted = math.prod(y[span.axis + 1 :])
    read = run_of(x, math.prod(y[: span.axis]), span.begin * wanted, span.end * wanted)
    return Part((read,), attrs | {"shape": narrowed(y, span)}) if read else None


def _reshape_axis(p: Primitive, axis: int) -> int | None:
    """The axis of the output that is this one alone, the others regrouped around it."""
    shape, new = p.inputs[0].shape, p.output.shape
    if shape[axis] == 1:
        return None
    before = math.prod(shape[:axis])
    return next((a for a, n in enumerate(new) if n == shape[axis] and math.prod(new[:a]) == before), None)


add(
    Op(
        "Reshape",
        Category.LAYOUT,
        _reshape_infer,
        _reshape,
        _write_shape,
        view=ViewKind.REARRANGES,
        regroups=True,
        idle=_same_shape,
        axis_map=_reshape_axis,
        reads=_reshape_reads,
    )
)


def _transpose_infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    perm: Shape = attrs["perm"]
    return inputs[0].dtype, tuple(inputs[0].shape[a] for a in perm)


def _transpose(p: Primitive, region: Region, pull: Pull) -> Array:
    perm: Shape = p.attr("perm")
    return pull(0, tuple(region[perm.index(a)] for a in range(len(perm)))).transpose(perm)


def _transpose_idle(operands: tuple[Tensor, ...], attrs: dict[str, Any]) -> Tensor | None:
    return operands[0] if tuple(attrs["perm"]) == tuple(range(operands[0].rank)) else None


def _transpose_source(p: Primitive, at: tuple[Position, ...]) -> Element[Position]:
    perm: Shape = p.attr("perm")
    return Element(tuple(at[perm.index(a)] for a in range(len(perm))))


def _transpose_reads(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    return Part((Span(attrs["perm"][span.axis], span.begin, span.end),), attrs)


add(
    Op(
        "Transpose",
        Category.LAYOUT,
        _transpose_infer,
        _transpose,
        write_same,
        source=_transpose_source,
        view=ViewKind.REARRANGES,
        permutes=True,
        idle=_transpose_idle,
        axis_map=lambda p, axis: p.attr("perm").index(axis),
        reads=_transpose_reads,
    )
)


def _slice_infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    return inputs[0].dtype, tuple(attrs["lengths"])


def _slice(p: Primitive, region: Region, pull: Pull) -> Array:
    starts, steps = p.attr("starts"), p.attr("steps")
    return pull(0, tuple(s + st * r for s, st, r in zip(starts, steps, region, strict=True)))


def _slice_write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    starts, steps, lengths = (np.asarray(p.attr(a), np.int64) for a in ("starts", "steps", "lengths"))
    ends = starts + steps * lengths
    ends = np.where(ends < 0, np.iinfo(np.int64).min, ends)  # a negative end would count from the back
    axes = np.arange(len(starts))
    emit.node("Slice", [*names, *(emit.const(v) for v in (starts, ends, axes, steps))], p.output.name)


def _slice_last(a: dict[str, Any], _: int) -> dict[str, Any]:
    return {k: channels_last(v) for k, v in a.items()}


def _slice_axis(p: Primitive, axis: int) -> int | None:
    whole = (p.attr("lengths")[axis], p.attr("starts")[axis], p.attr("steps")[axis])
    return axis if whole == (p.inputs[0].shape[axis], 0, 1) else None


def _slice_idle(operands: tuple[Tensor, ...], attrs: dict[str, Any]) -> Tensor | None:
    whole = tuple(attrs["lengths"]) == operands[0].shape and all(s == 1 for s in attrs["steps"])
    return operands[0] if whole else None


def _slice_source(p: Primitive, at: tuple[Position, ...]) -> Element[Position]:
    return Element(tuple(i * step + s for i, s, step in zip(at, p.attr("starts"), p.attr("steps"), strict=True)))


def _slice_reads(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    if attrs["steps"][span.axis] != 1:
        return None
    start = attrs["starts"][span.axis]
    starts = (*attrs["starts"][: span.axis], 0, *attrs["starts"][span.axis + 1 :])
    read = Span(span.axis, span.begin + start, span.end + start)
    return Part((read,), attrs | {"starts": starts, "lengths": narrowed(p.output.shape, span)})


add(
    Op(
        "Slice",
        Category.LAYOUT,
        _slice_infer,
        _slice,
        _slice_write,
        source=_slice_source,
        view=ViewKind.SELECTS,
        cuts=True,
        idle=_slice_idle,
        axis_map=_slice_axis,
        reads=_slice_reads,
        channels_last=_slice_last,
    )
)


def _concat_infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    axis: int = attrs["axis"]
    shape = list(inputs[0].shape)
    shape[axis] = sum(t.shape[axis] for t in inputs)
    return inputs[0].dtype, tuple(shape)


def _concat(p: Primitive, region: Region, pull: Pull) -> Array:
    axis: int = p.attr("axis")
    wanted, start = region[axis], 0
    parts: list[Array] = []
    places: list[Any] = []
    for i, t in enumerate(p.inputs):
        inside = np.flatnonzero((wanted >= start) & (wanted < start + t.shape[axis]))
        if len(inside):
            parts.append(pull(i, (*region[:axis], wanted[inside] - start, *region[axis + 1 :])))
            places.append(inside)
        start += t.shape[axis]
    if not parts:
        return np.zeros(tuple(len(r) for r in region))
    return np.take(np.concatenate(parts, axis), np.argsort(np.concatenate(places)), axis)


def _concat_reads(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    return Part((span,) * len(p.inputs), attrs) if span.axis != attrs["axis"] else None


add(
    Op(
        "Concat",
        Category.LAYOUT,
        _concat_infer,
        _concat,
        write_same,
        joins=True,
        idle=lambda operands, attrs: operands[0] if len(operands) == 1 else None,
        fewest=share,
        reads=_concat_reads,
        channels_last=along_last,
    )
)


def _pad_infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    x, pads = inputs[0], attrs["pads"]
    return x.dtype, tuple(n + pads[i] + pads[i + x.rank] for i, n in enumerate(x.shape))


def padded_positions(n: int, begin: int, out: Array, mode: str) -> tuple[Array, Array]:
    """Input positions that the padded positions `out` of an axis of length n show, and which of them exist."""
    pos = out - begin
    inside = (pos >= 0) & (pos < n)
    if mode == "constant":
        return np.where(inside, pos, 0), inside
    if mode == "edge":
        return np.clip(pos, 0, n - 1), np.ones_like(inside)
    if mode == "wrap":
        return pos % n, np.ones_like(inside)
    period = max(2 * (n - 1), 1)
    return (n - 1) - np.abs((pos % period) - (n - 1)), np.ones_like(inside)


def _pad(p: Primitive, region: Region, pull: Pull) -> Array:
    x, pads, mode = p.inputs[0], p.attr("pads"), p.attr("mode")
    maps = [padded_positions(n, pads[i], region[i], mode) for i, n in enumerate(x.shape)]
    if mode == "constant" and any(not inside.any() for _, inside in maps):
        return np.full(tuple(len(r) for r in region), p.attr("value"), np.float64 if x.is_float else x.dtype)
    grid = tuple(np.unique(pos[inside]) for pos, inside in maps)
    y = pull(0, grid)
    for axis, (pos, inside) in enumerate(maps):
        y = np.take(y, np.searchsorted(grid[axis], np.where(inside, pos, grid[axis][0])), axis)
        if not inside.all():
            mask = inside.reshape([-1 if i == axis else 1 for i in range(x.rank)])
            y = np.where(mask, y, np.asarray(p.attr("value"), y.dtype))
    return y


def _pad_axis(p: Primitive, axis: int) -> int | None:
    here = any(p.attr("pads")[a] for a in (axis, axis + p.inputs[0].rank))
    return None if here or (p.attr("mode") == "constant" and p.attr("value")) else axis


def _pad_last(a: dict[str, Any], rank: int) -> dict[str, Any]:
    return a | {"pads": channels_last(a["pads"][:rank]) + channels_last(a["pads"][rank:])}


def _pad_write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    if p.attr("mode") == "wrap":
        return _wrap_write(p, names[0], emit)
    pads = emit.const(np.asarray(p.attr("pads"), np.int64))
    extra = [emit.const(np.asarray(p.attr("value"), p.output.dtype))] if p.attr("mode") == "constant" else []
    emit.node("Pad", [*names, pads, *extra], p.output.name, mode=p.attr("mode"))


def _wrap_write(p: Primitive, name: str, emit: Emit) -> None:
    """Before opset 19 there is no such mode; a Gather an axis does the same."""
    x, pads = p.inputs[0], p.attr("pads")
    padded = [a for a in range(x.rank) if pads[a] or pads[a + x.rank]]
    for a in padded:
        indices, _ = padded_positions(x.shape[a], pads[a], np.arange(p.output.shape[a]), "wrap")
        name = emit.node("Gather", [name, emit.const(indices)], p.output.name if a == padded[-1] else None, axis=a)


def _pad_reads(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    pads = attrs["pads"]
    return None if pads[span.axis] or pads[span.axis + p.output.rank] else Part((span,), attrs)


add(
    Op(
        "Pad",
        Category.LAYOUT,
        _pad_infer,
        _pad,
        _pad_write,
        pads=True,
        idle=lambda operands, attrs: None if any(attrs["pads"]) else operands[0],
        axis_map=_pad_axis,
        keeps_constants=lambda p: p.attr("mode") != "constant",
        reads=_pad_reads,
        channels_last=_pad_last,
    )
)


def _gather_infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    shape = list(inputs[0].shape)
    shape[attrs["axis"]] = len(attrs["indices"])
    return inputs[0].dtype, tuple(shape)


def _gather(p: Primitive, region: Region, pull: Pull) -> Array:
    axis, indices = p.attr("axis"), np.asarray(p.attr("indices"), np.int64)
    wanted = indices[region[axis]]
    grid = np.unique(wanted)
    x = pull(0, (*region[:axis], grid, *region[axis + 1 :]))
    return np.take(x, np.searchsorted(grid, wanted), axis)


def _gather_write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    indices = emit.const(np.asarray(p.attr("indices"), np.int64))
    emit.node("Gather", [*names, indices], p.output.name, axis=p.attr("axis"))


def _gather_idle(operands: tuple[Tensor, ...], attrs: dict[str, Any]) -> Tensor | None:
    x = operands[0]
    axis: int = attrs["axis"]
    return x if tuple(attrs["indices"]) == tuple(range(x.shape[axis])) else None


add(
    Op(
        "Gather",
        Category.LAYOUT,
        _gather_infer,
        _gather,
        _gather_write,
        idle=_gather_idle,
        axis_map=other_axes,
        keeps_constants=always,
        channels_last=along_last,
    )
)
