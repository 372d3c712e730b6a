"""A convolution to few channels as one to many: neighbouring outputs of a row become channels.

Vector units compute 16 channels whether a convolution has 16 or 3. So `p` neighbours along a row are computed
together by a kernel that is p - 1 wider and moves p positions a step, its weights shifted by one position for each
neighbour. The result [n, h, w / p, p * channels] has the bytes of [n, h, w, channels]. The wider kernel multiplies
zeros too: kernel / (kernel + p - 1) of the products count, against channels / 16 before.
"""

from __future__ import annotations

import numpy as np

from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.ir.primitive import REASSOCIATED, Primitive
from korch.rewrite.table import rewrite
from korch.rewrite.transformed import Transformed

LANES = 16


@rewrite(stage=2, error=REASSOCIATED)
def conv_in_strips(graph: Graph) -> Graph:
    """Adds the producer to every channels-last convolution that leaves more than half of the lanes idle."""
    build = Transformed(graph, "conv_in_strips", REASSOCIATED)
    for p in graph.primitives:
        if _pays(p):
            _add_strips(build, p)
    return build.result


def _pays(p: Primitive) -> bool:
    """Whether fewer products are wasted on zeros than on idle lanes."""
    if p.op != "Conv" or not p.attr("channels_last") or p.attr("group") != 1 or not p.inputs[1].const:
        return False
    if p.output.rank != 4 or p.attr("strides")[1] != 1 or p.attr("dilations")[1] != 1:
        return False
    channels, width = p.inputs[1].shape[0], p.inputs[1].shape[3]
    together = LANES // channels
    return together > 1 and width / (width + together - 1) * together > 1.25


def _add_strips(build: Transformed, p: Primitive) -> None:
    """The chain that ends in p's output."""
    (x, w), (n, height, width, channels) = p.inputs, p.output.shape
    together = LANES // channels
    groups = -(-width // together)
    shape = (together * w.shape[0], *w.shape[1:3], w.shape[3] + together - 1)
    wide = build.constant(w, f"{together}strips", shape, lambda v: _shifted(v, together))
    top, left, bottom, _ = p.attr("pads")
    right = groups * together + w.shape[3] - 1 - left - x.shape[2]
    attrs = dict(p.attrs) | {"strides": (p.attr("strides")[0], together), "pads": (top, left, bottom, right)}
    strips = build.add(p, "Conv", (x, wide), f"{p.output.name}_strips", **attrs)
    whole = (n, height, groups * together, channels)
    if whole == p.output.shape:
        build.add(p, "Reshape", (strips,), p.output, shape=whole)
        return
    rows = build.add(p, "Reshape", (strips,), f"{p.output.name}_rows", shape=whole)
    build.add(p, "Slice", (rows,), p.output, starts=(0,) * 4, steps=(1,) * 4, lengths=p.output.shape)


def _shifted(w: Array, together: int) -> Array:
    """[o, i, h, w] -> [together * o, i, h, w + together - 1]: the kernel once for each neighbour, one place further."""
    o, i, h, k = w.shape
    wide = np.zeros((together, o, i, h, k + together - 1), w.dtype)
    for place in range(together):
        wide[place, ..., place : place + k] = w
    return wide.reshape(together * o, i, h, -1)
