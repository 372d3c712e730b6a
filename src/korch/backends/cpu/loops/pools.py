"""The windows of pools: their bounds inside the tensor, and how many elements an average is of."""

from __future__ import annotations

import math

from korch.backends.cpu.loops.binding import Stage
from korch.backends.cpu.loops.language import c_index
from korch.backends.maps.index import Index, Lookup, Var
from korch.ir.ops.reduce import spatial_axes, window_counts


def window_bounds(s: Stage, v: Var) -> tuple[str, str]:
    """The part of a reduced loop, in C; of a window, the part inside: 0 <= o * stride + k * dilation - pad < n."""
    p = s.maker
    if not p.spec.is_pool:
        return str(v.lo), str(v.hi)
    spatial = spatial_axes(s.tensor.rank, p.attr("channels_last"))
    i, axis = next((i, axis) for i, axis in enumerate(spatial) if v in s.source[axis].vars())
    n, d = p.inputs[0].shape[axis], p.attr("dilations")[i]
    at = s.source[axis] - Index.of(v) * d
    lo, hi = at.range()
    low = "0" if lo >= 0 else f"KORCH_MAX(0, ({c_index(at * -1)} + {d - 1}) / {d})"
    high = str(v.hi) if hi + (v.hi - 1) * d < n else f"KORCH_MIN({v.hi}, ({n - 1 + d} - ({c_index(at)})) / {d})"
    return low, high


def steers_window(s: Stage, v: Var) -> bool:
    """Whether the bounds of a looped window depend on `v`, which then cannot be the innermost loop."""
    if not s.maker.spec.is_pool:
        return False
    return any(v in e.vars() and e.vars() & set(s.reds) for e in s.source)


def averaged(s: Stage) -> str:
    """How many elements an average is of: a number, or looked up by position."""
    p = s.maker
    if p.attr("count_include_pad"):
        return str(math.prod(p.attr("kernel_shape")))
    spatial = spatial_axes(s.tensor.rank, p.attr("channels_last"))
    factors: list[str] = []
    for a, counts in zip(spatial, window_counts(p), strict=True):
        table = tuple(int(c) for c in counts)
        same = len(set(table)) == 1
        factors.append(str(table[0]) if same else c_index(Index.of(Lookup(table, s.axes[a]))))
    return f"({' * '.join(factors)})"
