"""Reduce primitives: aggregates along axes, or over sliding windows (pooling)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from korch.ir.ops.axes import along_last, axis_last, first_to_last, last_to_first, window_last
from korch.ir.ops.spans import Part, Span
from korch.ir.ops.table import Aggregate, Array, Category, Emit, Op, Pull, Region, Shape, add, always, never
from korch.ir.ops.windows import axes_of, needed, shifted
from korch.ir.tensor import Tensor

if TYPE_CHECKING:
    from korch.ir.primitive import Primitive


def reduced_shape(shape: Shape, axes: Sequence[int], keepdims: int) -> Shape:
    kept = (1 if i in axes else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(kept) if keepdims or i not in axes)


def _unreduced(p: Primitive, region: Region, axes: Sequence[int]) -> Region:
    """The input region that a reduction over `axes` reads: those axes whole."""
    shape, out = p.inputs[0].shape, iter(region)
    parts: list[Any] = []
    for i, n in enumerate(shape):
        if i in axes:
            parts.append(np.arange(n))
            if p.attr("keepdims"):
                next(out)
        else:
            parts.append(next(out))
    return tuple(parts)


def _all_of(p: Primitive) -> int:
    return max(p.inputs[0].size // max(p.output.size, 1), 1)


def _reads_all(p: Primitive, out: float) -> float:
    return p.inputs[0].size * out / max(p.output.size, 1)


def _folded_reads(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    rank = p.inputs[0].rank
    kept = range(rank) if attrs["keepdims"] else [a for a in range(rank) if a not in attrs["axes"]]
    axis = kept[span.axis]
    return Part((Span(axis, span.begin, span.end),), attrs) if axis not in attrs["axes"] else None


def _kept_axis(p: Primitive, axis: int) -> int | None:
    gone = p.attr("axes")
    return None if axis in gone else axis - (0 if p.attr("keepdims") else sum(a < axis for a in gone))


def _axes_last(a: dict[str, Any], rank: int) -> dict[str, Any]:
    return a | {"axes": tuple(sorted(axis_last(x, rank) for x in a["axes"]))}


def _define(name: str, fn: Callable[..., Array], fold: Aggregate) -> None:
    def infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
        return inputs[0].dtype, reduced_shape(inputs[0].shape, attrs["axes"], attrs["keepdims"])

    def evaluate(p: Primitive, region: Region, pull: Pull) -> Array:
        axes = p.attr("axes")
        x = pull(0, _unreduced(p, region, axes))
        with np.errstate(all="ignore"):
            y = fn(x, axis=tuple(axes), keepdims=bool(p.attr("keepdims")))
        return y.astype(x.dtype)

    def write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
        axes = emit.const(np.asarray(p.attr("axes"), np.int64))
        emit.node(name, [*names, axes], p.output.name, keepdims=p.attr("keepdims"), noop_with_empty_axes=1)

    add(
        Op(
            name,
            Category.REDUCE,
            infer,
            evaluate,
            write,
            folds=True,
            axis_map=_kept_axis if name in ("ReduceSum", "ReduceMean") else None,
            keeps_constants=always if name == "ReduceMean" else never,
            reads=None if name == "ReduceProd" else _folded_reads,
            channels_last=_axes_last,
            averages=name == "ReduceMean",
            aggregate=fold,
            drops_nan=fold in (Aggregate.LARGEST, Aggregate.SMALLEST),
            operations=_reads_all,
            fan_in=_all_of,
        )
    )


for _name, _fn, _fold in (
    ("ReduceSum", np.sum, Aggregate.SUM),
    ("ReduceMean", np.mean, Aggregate.SUM),
    ("ReduceMax", np.max, Aggregate.LARGEST),
    ("ReduceMin", np.min, Aggregate.SMALLEST),
    ("ReduceProd", np.prod, Aggregate.PRODUCT),
):
    _define(_name, _fn, _fold)


def _define_arg(name: str, fn: Callable[..., Any], fold: Aggregate) -> None:
    def infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
        return "int64", reduced_shape(inputs[0].shape, [attrs["axis"]], attrs["keepdims"])

    def evaluate(p: Primitive, region: Region, pull: Pull) -> Array:
        axis = p.attr("axis")
        x = pull(0, _unreduced(p, region, [axis]))
        if p.attr("select_last_index"):
            y = x.shape[axis] - 1 - fn(np.flip(x, axis), axis=axis)
        else:
            y = fn(x, axis=axis)
        return np.expand_dims(y, axis) if p.attr("keepdims") else y

    def write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
        emit.node(name, names, p.output.name, **dict(p.attrs))

    add(
        Op(
            name,
            Category.REDUCE,
            infer,
            evaluate,
            write,
            ranks=True,
            channels_last=along_last,
            is_step=True,
            aggregate=fold,
            operations=_reads_all,
            fan_in=_all_of,
        )
    )


_define_arg("ArgMax", np.argmax, Aggregate.LARGEST)
_define_arg("ArgMin", np.argmin, Aggregate.SMALLEST)


# Pooling -------------------------------------------------------------------------------------------------------


def spatial_axes(rank: int, channels_last: int) -> tuple[int, ...]:
    """Which axes of an activation are spatial."""
    return tuple(range(1, rank - 1)) if channels_last else tuple(range(2, rank))


def pooled_length(n: int, kernel: int, stride: int, pads: int, dilation: int) -> int:
    return (n + pads - (dilation * (kernel - 1) + 1)) // stride + 1


def window_shape(x: Tensor, attrs: dict[str, Any], kernel: Shape, channels: int) -> Shape:
    """Output shape of a window operator with explicit pads."""
    axes, k = spatial_axes(x.rank, attrs["channels_last"]), len(kernel)
    pads = attrs["pads"]
    lengths = [
        pooled_length(x.shape[a], kernel[i], attrs["strides"][i], pads[i] + pads[i + k], attrs["dilations"][i])
        for i, a in enumerate(axes)
    ]
    if min(lengths, default=1) < 1 and x.size:
        raise ValueError(f"a window of shape {list(kernel)} does not fit into an input of shape {list(x.shape)}")
    return (x.shape[0], *lengths, channels) if attrs["channels_last"] else (x.shape[0], channels, *lengths)


def _pool_infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    x = inputs[0]
    channels = x.shape[-1] if attrs["channels_last"] else x.shape[1]
    return x.dtype, window_shape(x, attrs, attrs["kernel_shape"], channels)


def _pool(p: Primitive, region: Region, pull: Pull, fill: float, step: Callable[[Any, Array], Array]) -> Array:
    """Folds `step` over the window; works channels-first and turns the result back."""
    x, last = p.inputs[0], p.attr("channels_last")
    spatial = spatial_axes(x.rank, last)
    axes = axes_of(p, tuple(x.shape[a] for a in spatial), p.attr("kernel_shape"))
    out = tuple(region[a] for a in spatial)
    have = needed(axes, out)
    where = {a: have[i] for i, a in enumerate(spatial)}
    part = pull(0, tuple(where.get(a, region[a]) for a in range(x.rank)))
    part = part.transpose(last_to_first(x.rank)) if last else part
    total: Any = None
    for _, seen in shifted(part, axes, have, out, fill):
        total = step(total, seen)
    return total.transpose(first_to_last(x.rank)) if last else total


def _max_pool(p: Primitive, region: Region, pull: Pull) -> Array:
    return _pool(p, region, pull, lowest(p.inputs[0]), lambda m, x: x if m is None else np.maximum(m, x))


def lowest(t: Tensor) -> float | int:
    """The least number of the tensor's dtype, which no maximum is but of itself."""
    return -math.inf if t.is_float else int(np.iinfo(t.dtype).min)


def window_counts(p: Primitive) -> list[Any]:
    """Per spatial axis: how many positions of the window exist at each output position."""
    x = p.inputs[0]
    spatial = spatial_axes(x.rank, p.attr("channels_last"))
    axes = axes_of(p, tuple(x.shape[a] for a in spatial), p.attr("kernel_shape"))
    outs = [np.arange(p.output.shape[a]) for a in spatial]
    return [
        sum(axis.reads(out, k)[1].astype(np.int64) for k in range(axis.kernel))
        for axis, out in zip(axes, outs, strict=True)
    ]


def _average_pool(p: Primitive, region: Region, pull: Pull) -> Array:
    total = _pool(p, region, pull, 0.0, lambda m, x: x if m is None else m + x)
    if p.attr("count_include_pad"):
        return total / total.dtype.type(math.prod(p.attr("kernel_shape")))
    spatial = spatial_axes(p.inputs[0].rank, p.attr("channels_last"))
    for axis, count in zip(spatial, window_counts(p), strict=True):
        shape = [-1 if i == axis else 1 for i in range(total.ndim)]
        total = total / count[region[axis]].astype(total.dtype).reshape(shape)
    return total


def _pool_write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    attrs = dict(p.attrs)
    if attrs["kernel_shape"] and p.op == "AveragePool" and all(d == 1 for d in attrs["dilations"]):
        del attrs["dilations"]
    write_channels_first(p, names, emit, attrs)


def write_channels_first(p: Primitive, names: Sequence[str], emit: Emit, attrs: dict[str, Any]) -> None:
    """Writes a window operator; a channels-last one between two Transposes, as ONNX has no other form."""
    last, rank = attrs.pop("channels_last"), p.output.rank
    if not last:
        emit.node(p.op, names, p.output.name, **attrs)
        return
    x = emit.node("Transpose", [names[0]], perm=last_to_first(rank))
    y = emit.node(p.op, [x, *names[1:]], **attrs)
    emit.node("Transpose", [y], p.output.name, perm=first_to_last(rank))


def _taps(p: Primitive) -> int:
    return math.prod(p.attr("kernel_shape"))


def _fewest_of_windows(p: Primitive, t: Tensor, out: float) -> float:
    """Windows that overlap share what they read; those that move further than they are wide skip the rest."""
    return min(t.size, out * math.prod(map(min, p.attr("strides"), p.attr("kernel_shape"))))


def _channel_axis(p: Primitive, axis: int) -> int | None:
    return axis if axis == 1 and not p.attr("channels_last") else None


def _counts_inside(p: Primitive) -> bool:
    return not (p.attr("count_include_pad") and any(p.attr("pads")))


def _define_pool(name: str, evaluate: Callable[[Primitive, Region, Pull], Array], averages: bool) -> None:
    add(
        Op(
            name,
            Category.REDUCE,
            _pool_infer,
            evaluate,
            _pool_write,
            is_pool=True,
            axis_map=_channel_axis if averages else None,
            keeps_constants=_counts_inside if averages else never,
            channels_last=window_last,
            averages=averages,
            aggregate=Aggregate.SUM if averages else Aggregate.LARGEST,
            drops_nan=not averages,
            fewest=_fewest_of_windows,
            operations=lambda p, out: out * _taps(p),
            fan_in=_taps,
        )
    )


_define_pool("MaxPool", _max_pool, averages=False)
_define_pool("AveragePool", _average_pool, averages=True)
