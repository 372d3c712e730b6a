"""A convolution to few channels as one to many: neighbouring outputs, blocks of `tall` x `wide`, become channels.

Vector units and tensor cores compute 16 channels whether a convolution has 16 or 3. So the places of a block are
computed together by a kernel that is tall - 1 higher and wide - 1 wider and moves a whole block a step, its weights
shifted by one place for each neighbour. The larger kernel multiplies zeros too, which must cost less than idle lanes.

A strip, a block of one row, needs no pass over its result: [n, h, w / wide, wide * channels] has the bytes of
[n, h, w, channels]. A square block reads its input least often, and its result goes from depth to space.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.ir.primitive import REASSOCIATED, Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.table import rewrite
from korch.rewrite.transformed import Transformed

LANES = 16
SIDE, MOST_CHANNELS = 4, 64
"""Of a square block, and the channels it may have. (9x9 to 3 channels of 224x224 on an H200 by the tile model of its
products: 108 us as it is, 28 in blocks of 4 x 4.)"""
WORTH = 1.25
"""How many times as many of the products must count as without."""
BlockSize = tuple[int, int]


@rewrite(stage=2, error=REASSOCIATED)
def conv_in_strips(graph: Graph) -> Graph:
    """Adds a producer of strips to every channels-last convolution that leaves more than half of the lanes idle."""
    return _added(graph, "conv_in_strips", lambda p: (1, LANES // p.inputs[1].shape[0]))


@rewrite(stage=2, error=REASSOCIATED)
def conv_in_squares(graph: Graph) -> Graph:
    """Adds a producer of square blocks to every channels-last convolution to very few channels."""
    return _added(graph, "conv_in_squares", lambda p: (SIDE, SIDE))


def _added(graph: Graph, rule: str, block_of: Callable[[Primitive], BlockSize]) -> Graph:
    build = Transformed(graph, rule, REASSOCIATED)
    for p in graph.primitives:
        if _is_plain(p) and _pays(p, block_of(p)):
            _add_block(build, p, block_of(p))
    return build.result


def _is_plain(p: Primitive) -> bool:
    """Whether p is a channels-last convolution over images in one group, by a constant kernel."""
    if not p.spec.is_convolution or not p.attr("channels_last") or p.attr("group") != 1 or not p.inputs[1].const:
        return False
    return p.output.rank == 4


def _pays(p: Primitive, block: BlockSize) -> bool:
    """Whether fewer products are wasted on zeros than on idle lanes, along axes where every place is computed."""
    channels, *kernel = p.inputs[1].shape[:1] + p.inputs[1].shape[2:]
    together = math.prod(block)
    if together < 2 or together * channels > max(MOST_CHANNELS, LANES):
        return False
    shared = [a for a, n in enumerate(block) if n > 1]
    if any(p.attr("strides")[a] != 1 or p.attr("dilations")[a] != 1 for a in shared):
        return False
    before, after = channels / _lanes(channels), together * channels / _lanes(together * channels)
    useful = math.prod(k / (k + n - 1) for k, n in zip(kernel, block, strict=True))
    return useful * after > WORTH * before


def _lanes(channels: int) -> int:
    return -(-channels // LANES) * LANES


def _add_block(build: Transformed, p: Primitive, block: BlockSize) -> None:
    """The chain that ends in p's output."""
    (x, w), (n, height, width, channels), (tall, wide) = p.inputs, p.output.shape, block
    shape = (tall * wide * w.shape[0], w.shape[1], w.shape[2] + tall - 1, w.shape[3] + wide - 1)
    kernel = build.constant(w, f"{tall}x{wide}", shape, lambda v: _shifted(v, block))
    counts = -(-height // tall), -(-width // wide)
    strides = tuple(s * b for s, b in zip(p.attr("strides"), block, strict=True))
    attrs = dict(p.attrs) | {"strides": strides, "pads": _pads(p, x, kernel, counts, block)}
    blocks = build.add(p, "Conv", (x, kernel), f"{p.output.name}_blocks", **attrs)
    whole = (n, counts[0] * tall, counts[1] * wide, channels)
    if tall > 1:
        divided = (n, counts[0], counts[1], tall, wide, channels)
        parts = build.add(p, "Reshape", (blocks,), f"{p.output.name}_parts", shape=divided)
        blocks = build.add(p, "Transpose", (parts,), f"{p.output.name}_turned", perm=(0, 1, 3, 2, 4, 5))
    if whole == p.output.shape:
        build.add(p, "Reshape", (blocks,), p.output, shape=whole)
        return
    image = build.add(p, "Reshape", (blocks,), f"{p.output.name}_image", shape=whole)
    build.add(p, "Slice", (image,), p.output, starts=(0,) * 4, steps=(1,) * 4, lengths=p.output.shape)


def _pads(p: Primitive, x: Tensor, kernel: Tensor, counts: BlockSize, block: BlockSize) -> tuple[int, ...]:
    """As before; at the end of an axis that blocks share, what makes so many of them."""
    pads = list(p.attr("pads"))
    for a, n in enumerate(block):
        if n > 1:
            pads[2 + a] = (counts[a] - 1) * n + kernel.shape[2 + a] - pads[a] - x.shape[1 + a]
    return tuple(pads)


def _shifted(w: Array, block: BlockSize) -> Array:
    """[o, i, h, w] -> [tall * wide * o, i, h + tall - 1, w + wide - 1]: the kernel once for each place of a block, so
    many rows and columns further."""
    (o, i, h, k), (tall, wide) = w.shape, block
    larger = np.zeros((tall, wide, o, i, h + tall - 1, k + wide - 1), w.dtype)
    for row in range(tall):
        for place in range(wide):
            larger[row, place, ..., row : row + h, place : place + k] = w
    return larger.reshape(tall * wide * o, i, h + tall - 1, k + wide - 1)
