"""Linear primitives: the output is linear in every input (matrix products, convolutions, interpolation)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from korch.ir.ops.axes import along_last, channels_last, first_to_last, last_to_first, window_last
from korch.ir.ops.reduce import spatial_axes, window_shape, write_channels_first
from korch.ir.ops.spans import Part, Span, aligned, clipped
from korch.ir.ops.table import Array, Category, Emit, Op, Pull, Region, Shape, add, other_axes, whole
from korch.ir.ops.windows import Axis, axes_of, needed, shifted
from korch.ir.tensor import Tensor
from korch.system.threads import ThreadPool

if TYPE_CHECKING:
    from korch.ir.primitive import Primitive


def _matmul_infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    a, b = inputs
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return a.dtype, (*batch, a.shape[-2], b.shape[-1])


def _matmul(p: Primitive, region: Region, pull: Pull) -> Array:
    a, b = p.inputs
    batch, rows, columns, inner = region[:-2], region[-2], region[-1], np.arange(a.shape[-1])

    def part(t: Tensor) -> Region:
        own = batch[len(batch) - (t.rank - 2) :]
        return tuple(np.zeros(1, np.int64) if n == 1 else r for n, r in zip(t.shape[:-2], own, strict=True))

    return np.matmul(pull(0, (*part(a), rows, inner)), pull(1, (*part(b), inner, columns)))


def _matmul_write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    emit.node("MatMul", names, p.output.name)


def row_length(p: Primitive) -> int:
    """Products that an element of a matrix product sums."""
    return max(p.inputs[1].shape[-2], 1)


def _matmul_reads(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    """Rows, or a batch axis; a span of columns would need a span of weights that lie packed."""
    a, b = p.inputs
    if span.axis == p.output.rank - 1:
        return None
    if span.axis == p.output.rank - 2:
        return Part((Span(a.rank - 2, span.begin, span.end), None), attrs)
    return Part((aligned(a, p.output, span), aligned(b, p.output, span)), attrs)


add(
    Op(
        "MatMul",
        Category.LINEAR,
        _matmul_infer,
        _matmul,
        _matmul_write,
        is_product=True,
        reads=_matmul_reads,
        fan_in=row_length,
        terms=row_length,
        multiply_adds=lambda p: p.output.size * p.inputs[0].shape[-1],
    )
)


IN_CACHE = 1 << 15
"""Elements that a core's own cache holds beside their products and sums."""


# Convolution ---------------------------------------------------------------------------------------------------


def _check_channels(x: Tensor, w: Tensor, attrs: dict[str, Any], wanted: int) -> None:
    """ValueError where x does not have the channels that the weights are for, or groups do not divide them."""
    channels = x.shape[-1 if attrs["channels_last"] else 1]
    if x.rank != w.rank or channels != wanted or w.shape[0] % attrs["group"]:
        groups = f" in {attrs['group']} groups" if attrs["group"] != 1 else ""
        raise ValueError(f"weights of shape {list(w.shape)}{groups} do not fit an input of shape {list(x.shape)}")


def _conv_infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    x, w = inputs
    _check_channels(x, w, attrs, w.shape[1] * attrs["group"])
    return x.dtype, window_shape(x, attrs, w.shape[2:], w.shape[0])


def _transposed_infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    x, w = inputs
    _check_channels(x, w, attrs, w.shape[0])
    return x.dtype, tuple(attrs["output_shape"])


def _channels(p: Primitive, region: Region) -> Any:
    return region[-1] if p.attr("channels_last") else region[1]


def convolve(p: Primitive, region: Region, pull: Pull, transposed: bool) -> Array:
    """The convolution `p`, a `transposed` one perhaps, on `region`: one matrix product a kernel offset, group by group;
    works channels-first."""
    x, w, last = p.inputs[0], p.inputs[1], p.attr("channels_last")
    spatial = spatial_axes(x.rank, last)
    axes = axes_of(p, tuple(x.shape[a] for a in spatial), w.shape[2:], transposed)
    out, wanted = tuple(region[a] for a in spatial), _channels(p, region)
    have = needed(axes, out)
    groups: int = p.attr("group")
    channels = w.shape[0] if transposed else w.shape[1] * groups
    weights = pull(1, whole(w.shape))
    per_out = w.shape[1] if transposed else w.shape[0] // groups
    used = np.unique(wanted // max(per_out, 1))
    per_in = channels // groups
    inputs = (used[:, None] * per_in + np.arange(per_in)).reshape(-1)
    where: dict[int, Any] = {a: have[i] for i, a in enumerate(spatial)} | {
        0: region[0],
        (x.rank - 1 if last else 1): inputs,
    }
    part = pull(0, tuple(where[a] for a in range(x.rank)))
    part = part.transpose(last_to_first(x.rank)) if last else part
    y = _grouped(part, weights, axes, have, out, used, groups, transposed)
    column = {g: i for i, g in enumerate(used.tolist())}
    pick = np.asarray([column[int(o) // per_out] * per_out + int(o) % per_out for o in wanted], np.int64)
    y = y if np.array_equal(pick, np.arange(len(used) * per_out)) else np.take(y, pick, axis=1)
    return y.transpose(first_to_last(x.rank)) if last else y


def _grouped(
    x: Array, w: Array, axes: tuple[Axis, ...], have: Region, out: Region, used: Any, groups: int, transposed: bool
) -> Array:
    """Output channels of the groups `used`, whole: [n, len(used) * O/g, *out]."""
    n, g = x.shape[0], len(used)
    if transposed:  # [I, O/g, *k] -> [g, O/g, I/g, *k]
        w = w.reshape(groups, w.shape[0] // groups, *w.shape[1:])[used].swapaxes(1, 2)
    else:  # [O, I/g, *k] -> [g, O/g, I/g, *k]
        w = w.reshape(groups, w.shape[0] // groups, *w.shape[1:])[used]
    lengths = tuple(len(o) for o in out)
    places = prod(lengths)
    if w.shape[1] == w.shape[2] == 1:
        return _depthwise(x, w.reshape(g, *w.shape[3:]), axes, have, out)
    total: Array | None = None
    for offset, seen in shifted(x, axes, have, out, 0.0):
        tap = w[(slice(None), slice(None), slice(None), *offset)]
        columns = seen.reshape(n, g, w.shape[2], places)  # of no images, too
        product = tap[None] * columns if w.shape[2] == 1 else np.matmul(tap[None], columns)
        total = product if total is None else np.add(total, product, out=total)
    if total is None:
        total = np.zeros((n, g, w.shape[1], places), np.result_type(x, w))
    return total.reshape(n, g * w.shape[1], *lengths)


def _depthwise(x: Array, w: Array, axes: tuple[Axis, ...], have: Region, out: Region) -> Array:
    """One kernel a channel; as many channels at a time as a core's cache holds, on every processor."""
    result = np.zeros((*x.shape[:2], *map(len, out)), np.result_type(x, w))
    some = max(1, IN_CACHE * x.shape[1] // max(x.size // max(len(x), 1), 1))

    def add_up(at: tuple[int, int]) -> None:
        image, part = at[0], slice(at[1], at[1] + some)
        total, kernels = result[image, part], w[part]
        product = np.empty_like(total)
        with np.errstate(all="ignore"):  # a thread has a state of its own
            for offset, seen in shifted(x[image, part], axes, have, out, 0.0):
                taps = kernels[(slice(None), *offset)].reshape(-1, *(1,) * len(out))
                total += np.multiply(seen, taps, out=product)

    parts = [(image, first) for image in range(len(x)) for first in range(0, x.shape[1], some)]
    with ThreadPool(os.cpu_count()) as pool:
        list(pool.map(add_up, parts))
    return result


def _conv_write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    write_channels_first(p, names, emit, dict(p.attrs))


def _transposed_write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    """ONNX derives the output's length from pads and output_padding; ours states it."""
    attrs = dict(p.attrs)
    last, shape = attrs["channels_last"], attrs.pop("output_shape")
    x, w = p.inputs
    spatial = spatial_axes(x.rank, last)
    k = len(spatial)
    pads, extra = list(attrs["pads"]), list[int]()
    for i, a in enumerate(spatial):
        reach = (x.shape[a] - 1) * attrs["strides"][i] + (w.shape[2 + i] - 1) * attrs["dilations"][i] + 1
        short = shape[a] - (reach - pads[i] - pads[i + k])
        extra.append(max(short, 0))
        pads[i + k] -= min(short, 0)
    write_channels_first(p, names, emit, attrs | {"pads": tuple(pads), "output_padding": tuple(extra)})


def _transposed_last(a: dict[str, Any], rank: int) -> dict[str, Any]:
    return window_last(a, rank) | {"output_shape": channels_last(a["output_shape"])}


def seen_by_windows(p: Primitive) -> float:
    """The share of its image that a convolution reads: windows may move further than they are wide."""
    return prod(min(1.0, n / step) for n, step in zip(p.inputs[1].shape[2:], p.attr("strides"), strict=True))


def _fewest_of_convolution(p: Primitive, t: Tensor, out: float) -> float:
    seen = seen_by_windows(p) if t == p.inputs[0] else 1.0
    return seen * t.size * out / max(p.output.size, 1)


def window_terms(p: Primitive) -> int:
    """Weights of one output channel."""
    w = p.inputs[1]
    return max(w.size // max(w.shape[1 if p.spec.is_deconvolution else 0], 1), 1)


def _multiply_adds(p: Primitive, short: Tensor, long: Tensor) -> int:
    """A transposed convolution pairs the same positions as the convolution from its output to its input."""
    w, first = p.inputs[1].shape, 1 if p.attr("channels_last") else 2
    strides, dilations, pads = p.attr("strides"), p.attr("dilations"), p.attr("pads")
    pairs = prod(
        _pairs(long.shape[first + i], short.shape[first + i], taps, strides[i], dilations[i], pads[i])
        for i, taps in enumerate(w[2:])
    )
    return short.shape[0] * w[0] * w[1] * pairs


def _pairs(long: int, short: int, taps: int, stride: int, dilation: int, pad: int) -> int:
    """How many of short x taps fall on one of the `long` positions of the padded axis."""
    return sum(
        max(0, min(short, _ceil(long + pad - j * dilation, stride)) - max(0, _ceil(pad - j * dilation, stride)))
        for j in range(taps)
    )


def _ceil(a: int, b: int) -> int:
    return -(-a // b)


def _convolution_reads(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
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
    read, before, behind = clipped(span, stride, pad, reach, x.shape[span.axis])
    pads = list(attrs["pads"])
    pads[i], pads[i + k] = before, behind
    return Part((read, None), attrs | {"pads": tuple(pads)}) if read.length > 0 else None


add(
    Op(
        "Conv",
        Category.LINEAR,
        _conv_infer,
        lambda p, r, pull: convolve(p, r, pull, False),
        _conv_write,
        is_convolution=True,
        reads=_convolution_reads,
        channels_last=window_last,
        fewest=_fewest_of_convolution,
        fan_in=window_terms,
        terms=window_terms,
        multiply_adds=lambda p: _multiply_adds(p, short=p.output, long=p.inputs[0]),
    )
)
add(
    Op(
        "ConvTranspose",
        Category.LINEAR,
        _transposed_infer,
        lambda p, r, pull: convolve(p, r, pull, True),
        _transposed_write,
        is_deconvolution=True,
        channels_last=_transposed_last,
        fan_in=window_terms,
        terms=window_terms,
        multiply_adds=lambda p: _multiply_adds(p, short=p.inputs[0], long=p.output),
    )
)


# Interpolation -------------------------------------------------------------------------------------------------


def _interpolate_infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    shape = list(inputs[0].shape)
    shape[attrs["axis"]] = len(attrs["indices"]) // attrs["taps"]
    return inputs[0].dtype, tuple(shape)


def _interpolate(p: Primitive, region: Region, pull: Pull) -> Array:
    axis, taps = p.attr("axis"), p.attr("taps")
    indices = np.asarray(p.attr("indices"), np.int64).reshape(-1, taps)[region[axis]]
    weights = np.asarray(p.attr("weights")).reshape(-1, taps)[region[axis]]
    grid = np.unique(indices)
    x = pull(0, (*region[:axis], grid, *region[axis + 1 :]))
    shape = [-1 if i == axis else 1 for i in range(x.ndim)]
    parts = [
        np.take(x, np.searchsorted(grid, indices[:, j]), axis) * weights[:, j].astype(x.dtype).reshape(shape)
        for j in range(taps)
    ]
    return sum(parts[1:], parts[0])


def _interpolate_write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    axis, taps, rank = p.attr("axis"), p.attr("taps"), p.output.rank
    indices = np.asarray(p.attr("indices"), np.int64).reshape(-1, taps)
    weights = np.asarray(p.attr("weights"), p.output.dtype).reshape(-1, taps)
    total = ""
    for j in range(taps):
        shape = [-1 if i == axis else 1 for i in range(rank)]
        x = emit.node("Gather", [names[0], emit.const(indices[:, j])], axis=axis)
        last = p.output.name if j == taps - 1 else None
        x = emit.node("Mul", [x, emit.const(weights[:, j].reshape(shape))], last if taps == 1 else None)
        total = x if j == 0 else emit.node("Add", [total, x], last)


def _weighs_one(p: Primitive) -> bool:
    sums = np.asarray(p.attr("weights")).reshape(-1, p.attr("taps")).sum(1)
    return bool(np.abs(sums - 1).max() < 1e-12)


def _fewest_of_positions(p: Primitive, t: Tensor, out: float) -> float:
    """Those along the axis that have a weight."""
    axis: int = p.attr("axis")
    return len(set(p.attr("indices"))) / t.shape[axis] * t.size * out / max(p.output.size, 1)


def _interpolate_reads(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    """Along its axis, from the first to the last position that one of the span is made of."""
    if span.axis != attrs["axis"]:
        return Part((span,), attrs)
    taps = slice(span.begin * attrs["taps"], span.end * attrs["taps"])
    indices = attrs["indices"][taps]
    read = Span(span.axis, min(indices), max(indices) + 1)
    own = {"indices": tuple(i - read.begin for i in indices), "weights": attrs["weights"][taps]}
    return Part((read,), attrs | own)


add(
    Op(
        "Interpolate",
        Category.LINEAR,
        _interpolate_infer,
        _interpolate,
        _interpolate_write,
        interpolates=True,
        axis_map=other_axes,
        keeps_constants=_weighs_one,
        reads=_interpolate_reads,
        channels_last=along_last,
        averages=True,
        sparse=True,
        fewest=_fewest_of_positions,
        fan_in=lambda p: p.attr("taps"),
    )
)
