"""Pooling and depthwise convolutions, as values of a trace: every tap of the window is written out."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

from korch.backends.maps.index import Clamp, Index, Lookup
from korch.backends.maps.trace import Indices
from korch.ir.ops.reduce import spatial_axes, window_counts
from korch.ir.primitive import Primitive

if TYPE_CHECKING:
    from korch.backends.cuda.triton.blocks import BlockTrace

MOST_TAPS = 49
"""Taps that are written out; larger windows are reductions of their own."""


def is_window(p: Primitive) -> bool:
    """Whether each element of p's output is made of a window of its input."""
    return p.spec.slides and not p.spec.is_deconvolution


def kernel_of(p: Primitive) -> tuple[int, ...]:
    """The lengths of a window."""
    return p.attr("kernel_shape") if p.spec.is_pool else p.inputs[1].shape[2:]


def taps(p: Primitive) -> int:
    """How many elements a window has."""
    return math.prod(kernel_of(p))


def has_channel_groups(p: Primitive) -> bool:
    """Whether p is a convolution with one input channel a group, in either layout: nothing for tensor cores."""
    return p.spec.is_convolution and p.inputs[1].shape[1] == 1 and p.attr("group") > 1


def is_depthwise(p: Primitive) -> bool:
    """A convolution with one input channel a group, channels-last."""
    return has_channel_groups(p) and bool(p.attr("channels_last"))


def written_out(trace: BlockTrace, p: Primitive, idx: Indices) -> str:
    """The value of a window at `idx`: its taps one after another."""
    total = ""
    for offset in product(*map(range, kernel_of(p))):
        v = under(trace, p, idx, tuple(map(Index, offset)))
        if v and p.spec.is_convolution:
            v = f"{v} * {_weight(trace, p, idx, offset)}"
        if v:
            total = trace.name(folded(p, total, v) if total else v, p.output.dtype)
    total = total or trace.name(trace.language.literal(neutral(p), p.output.dtype), p.output.dtype)
    return averaged(trace, p, total, idx) if p.spec.averages else total


def _weight(trace: BlockTrace, p: Primitive, idx: Indices, offset: tuple[int, ...]) -> str:
    return trace.value(p.inputs[1], (idx[-1], Index(), *map(Index, offset)))


def neutral(p: Primitive) -> float:
    """What positions outside of a tensor count as."""
    return -math.inf if p.spec.picks else 0.0


def folded(p: Primitive, total: str, v: str) -> str:
    return f"folds.larger({total}, {v})" if p.spec.picks else f"{total} + {v}"


def under(trace: BlockTrace, p: Primitive, idx: Indices, offset: Indices) -> str:
    """The input's value under an offset of the window; empty where that lies outside for every `idx`."""
    x, source, outside = p.inputs[0], list(idx), list[str]()
    if p.spec.is_convolution:
        source[-1] = idx[-1] // (p.inputs[1].shape[0] // p.attr("group"))
    for i, a in enumerate(spatial_axes(x.rank, p.attr("channels_last"))):
        e = idx[a] * p.attr("strides")[i] + offset[i] * p.attr("dilations")[i] - p.attr("pads")[i]
        n, (lo, hi) = x.shape[a], e.range()
        if hi < 0 or lo >= n:
            return ""
        outside += [trace.language.below(e, 0)] * (lo < 0) + [trace.language.reaches(e, n)] * (hi >= n)
        source[a] = Index.of(Clamp(e, 0, n - 1)) if lo < 0 or hi >= n else e
    v = trace.value(x, tuple(source))
    if not outside or (not p.spec.picks and (x in trace.arrays or x in trace.stored)):
        return v  # masked loads give zeros
    fill = trace.language.literal(neutral(p), x.dtype)
    return trace.name(trace.language.chosen(trace.language.any_of(outside), fill, v), x.dtype)


def averaged(trace: BlockTrace, p: Primitive, total: str, idx: Indices) -> str:
    """A sum over a window, divided by how many elements it is of."""
    if p.attr("count_include_pad"):
        return trace.name(f"{total} / {float(taps(p))!r}", p.output.dtype)
    factors: list[str] = []
    for a, counts in zip(spatial_axes(p.output.rank, p.attr("channels_last")), window_counts(p), strict=True):
        table = tuple(int(c) for c in counts)
        factors.append(trace.language.index(Index.of(Lookup(table, idx[a]))) if len(set(table)) > 1 else str(table[0]))
    return trace.name(f"{total} / ({' * '.join(factors)})", p.output.dtype)
