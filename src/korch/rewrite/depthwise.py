"""Depthwise convolutions that make several channels of each, as ones of a channel each: those of the input repeated.

Neither vendors' kernels nor generated ones have a form of their own for channel multipliers: oneDNN falls back to a
reference that takes a hundred times as long as the arithmetic. Repeated channels are one more pass over a small tensor.
"""

from __future__ import annotations

from korch.ir.graph import Graph
from korch.ir.primitive import EXACT, Primitive
from korch.rewrite.table import rewrite
from korch.rewrite.transformed import Transformed


@rewrite(stage=2)
def repeated_channels(graph: Graph) -> Graph:
    """`graph` with a plain depthwise convolution for every channels-last one that makes several channels of each."""
    build = Transformed(graph, "repeated_channels", EXACT)
    for p in graph.primitives:
        if _multiplies_channels(p):
            _add_plain(build, p)
    return build.result


def _multiplies_channels(p: Primitive) -> bool:
    if p.op != "Conv" or not p.attr("channels_last") or not p.inputs[1].const:
        return False
    channels = p.inputs[0].shape[-1]
    return 1 < channels == p.attr("group") < p.output.shape[-1]


def _add_plain(build: Transformed, p: Primitive) -> None:
    """The chain that ends in p's output."""
    (x, w), (*_, made) = p.inputs, p.output.shape
    *places, channels = x.shape
    each, stem = made // channels, f"{x.name}_times{made // channels}"
    y = build.operand(p, "Reshape", x, f"{stem}_apart", shape=(*x.shape, 1))
    y = build.operand(p, "Expand", y, f"{stem}_each", shape=(*x.shape, each))
    y = build.operand(p, "Reshape", y, stem, shape=(*places, made))
    build.add(p, "Conv", (y, w), p.output, **dict(p.attrs) | {"group": made})
