"""A convolution to few channels as one to many: neighbouring outputs of a row become channels.

Vector units compute 16 channels whether a convolution has 16 or 3. So `p` neighbours along a row are computed
together by a kernel that is p - 1 wider and moves p positions a step, its weights shifted by one position for each
neighbour. The result [n, h, w / p, p * channels] has the bytes of [n, h, w, channels]. The wider kernel multiplies
zeros too: kernel / (kernel + p - 1) of the products count, against channels / 16 before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.ir.primitive import REASSOCIATED, Primitive, freeze
from korch.ir.tensor import Tensor
from korch.rewrite.table import rewrite

LANES = 16


@rewrite(stage=2, error=REASSOCIATED)
def conv_in_strips(graph: Graph) -> Graph:
    """Adds the producer to every channels-last convolution that leaves more than half of the lanes idle."""
    added: list[Primitive] = []
    constants: dict[str, Array] = {}
    for p in graph.primitives:
        if _pays(p):
            primitives, weights = _in_strips(p, graph, f"{p.output.name}_{len(constants)}")
            added += primitives
            constants.update(weights)
    return graph.add(added, constants)


def _pays(p: Primitive) -> bool:
    """Whether fewer products are wasted on zeros than on idle lanes."""
    if p.op != "Conv" or not p.attr("channels_last") or p.attr("group") != 1 or not p.inputs[1].const:
        return False
    if p.output.rank != 4 or p.attr("strides")[1] != 1 or p.attr("dilations")[1] != 1:
        return False
    channels, width = p.inputs[1].shape[0], p.inputs[1].shape[3]
    together = LANES // channels
    return together > 1 and width / (width + together - 1) * together > 1.25


def _in_strips(p: Primitive, graph: Graph, stem: str) -> tuple[list[Primitive], dict[str, Array]]:
    """The chain that ends in p's output, and its weights; `stem` begins the names of what is new."""
    x, w = p.inputs
    n, height, width, channels = p.output.shape
    together = LANES // channels
    groups = -(-width // together)
    wide = _shifted(graph.constants[w.name], together)
    weights = Tensor(f"{stem}_strip_weights", w.dtype, wide.shape, True)
    top, left, bottom, _ = p.attr("pads")
    right = groups * together + w.shape[3] - 1 - left - x.shape[2]
    attrs = dict(p.attrs) | {"strides": (p.attr("strides")[0], together), "pads": (top, left, bottom, right)}
    strips = Tensor(f"{stem}_strips", p.output.dtype, (n, height, groups, together * channels))
    rows = Tensor(f"{stem}_rows", p.output.dtype, (n, height, groups * together, channels))
    whole = rows if rows.shape != p.output.shape else p.output
    chain = [
        _like(p, "Conv", (x, weights), strips, attrs),
        _like(p, "Reshape", (strips,), whole, {"shape": whole.shape}),
    ]
    if whole != p.output:
        cut = {"starts": (0,) * 4, "steps": (1,) * 4, "lengths": p.output.shape}
        chain.append(_like(p, "Slice", (rows,), p.output, cut))
    return chain, {weights.name: wide}


def _shifted(w: Array, together: int) -> Array:
    """[o, i, h, w] -> [together * o, i, h, w + together - 1]: the kernel once for each neighbour, one place further."""
    o, i, h, k = w.shape
    wide = np.zeros((together, o, i, h, k + together - 1), w.dtype)
    for place in range(together):
        wide[place, ..., place : place + k] = w
    return wide.reshape(together * o, i, h, -1)


def _like(p: Primitive, op: str, inputs: tuple[Tensor, ...], output: Tensor, attrs: Mapping[str, Any]) -> Primitive:
    return Primitive(op, inputs, output, freeze(dict(attrs)), REASSOCIATED, p.origin, "conv_in_strips")
