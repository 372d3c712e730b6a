"""Grouped convolutions that fill no vectors, as others that do.

Depthwise convolutions that make several channels of each are such of a channel each: those of the input repeated, which
is one more pass over a small tensor. Groups of a few channels are wider ones with zeros between what they hold; zeros
times infinity are NaN, so what is not finite in one group shows in its neighbours, and these are not exact. As written,
oneDNN falls back to loops that take up to a hundred times as long as the arithmetic: 48 -> 96 channels by 7x7 at 32x32
6.9 ms, 32 groups of 4 channels by 3x3 at 56x56 5.8 ms.
"""

from __future__ import annotations

import numpy as np

from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.ir.primitive import EXACT, REASSOCIATED, Primitive
from korch.rewrite.table import rewrite
from korch.rewrite.transformed import Transformed

WIDE = (8, 16)
"""Channels of groups, of the input and of the output, that fill vectors."""


@rewrite(stage=2)
def repeated_channels(graph: Graph) -> Graph:
    """`graph` with a plain depthwise convolution for every channels-last one that makes several channels of each."""
    build = Transformed(graph, "repeated_channels", EXACT)
    for p in graph.primitives:
        if _is_grouped(p) and _inputs(p) == 1 < _outputs(p):
            _add_depthwise(build, p)
    return build.result


@rewrite(stage=2, error=REASSOCIATED)
def wider_groups(graph: Graph) -> Graph:
    """`graph` with convolutions of fewer and wider groups for every channels-last one with groups of few channels."""
    build = Transformed(graph, "wider_groups", REASSOCIATED)
    for p in graph.primitives:
        if _is_grouped(p) and max(_inputs(p), _outputs(p)) > 1:
            for together in dict.fromkeys(_together(p, width) for width in WIDE):
                if together > 1:
                    _add_wider(build, p, together)
    return build.result


def _is_grouped(p: Primitive) -> bool:
    return p.spec.is_convolution and bool(p.attr("channels_last")) and p.attr("group") > 1 and p.inputs[1].const


def _inputs(p: Primitive) -> int:
    """Channels that a group reads."""
    return p.inputs[1].shape[1]


def _outputs(p: Primitive) -> int:
    """Channels that a group makes."""
    return p.output.shape[-1] // p.attr("group")


def _add_depthwise(build: Transformed, p: Primitive) -> None:
    """The chain that ends in p's output."""
    (x, w), each = p.inputs, _outputs(p)
    stem, made = f"{x.name}_times{each}", p.output.shape[-1]
    y = build.operand(p, "Reshape", x, f"{stem}_apart", shape=(*x.shape, 1))
    y = build.operand(p, "Expand", y, f"{stem}_each", shape=(*x.shape, each))
    y = build.operand(p, "Reshape", y, stem, shape=(*x.shape[:-1], made))
    build.add(p, "Conv", (y, w), p.output, **dict(p.attrs) | {"group": made})


def _together(p: Primitive, width: int) -> int:
    """The fewest groups, a divisor of p's, that have so many channels together; all of them where no fewer do."""
    groups, few = p.attr("group"), min(_inputs(p), _outputs(p))
    return next((n for n in range(1, groups + 1) if groups % n == 0 and n * few >= width), groups)


def _add_wider(build: Transformed, p: Primitive, together: int) -> None:
    (x, w), groups, outputs = p.inputs, p.attr("group"), _outputs(p)
    shape = (w.shape[0], together * w.shape[1], *w.shape[2:])
    wide = build.constant(w, f"{groups}by{together}", shape, lambda v: widened(v, outputs, together))
    build.add(p, "Conv", (x, wide), p.output, **dict(p.attrs) | {"group": groups // together})


def widened(w: Array, outputs: int, together: int) -> Array:
    """[K, C, *], by `outputs` of the K a group, to [K, together * C, *]: what other groups hold is zero."""
    wide = np.zeros((w.shape[0], together, *w.shape[1:]), w.dtype)
    made = np.arange(len(w))
    wide[made, made // outputs % together] = w
    return wide.reshape(w.shape[0], -1, *w.shape[2:])
