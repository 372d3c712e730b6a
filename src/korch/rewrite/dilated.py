"""Dilated convolutions as plain ones: the positions of an image modulo the dilation are images of their own.

Taps d positions apart meet only positions that are alike modulo d, so a convolution with dilation d is one of d x d
smaller images with a plain window, of a signal one of d shorter signals. Those become a batch, for which Winograd's
algorithm has its choices: of a 3x3 window 2.25 products an output instead of 9, of one of 3 taps 1.5 instead of 3.
"""

from __future__ import annotations

from korch.ir.graph import Graph
from korch.ir.primitive import EXACT, Primitive
from korch.rewrite.grid import in_whole_steps, parted
from korch.rewrite.table import rewrite
from korch.rewrite.transformed import Transformed
from korch.rewrite.winograd import LEAST_CHANNELS


@rewrite(stage=2)
def dilated_convolutions(graph: Graph) -> Graph:
    """`graph` with a plain convolution for every channels-last one that is dilated."""
    build = Transformed(graph, "dilated_convolutions", EXACT)
    for p in graph.primitives:
        if _is_dilated(p):
            _add_plain(build, p)
    return build.result


def _is_dilated(p: Primitive) -> bool:
    """Alike along both axes, with enough channels for transforms."""
    if not p.spec.is_convolution or not p.attr("channels_last") or p.output.rank not in (3, 4) or not p.inputs[1].const:
        return False
    dilations, (k, c, *window) = set(p.attr("dilations")), p.inputs[1].shape
    plain = {*p.attr("strides"), p.attr("group")} == {1} and min(p.attr("pads")) >= 0
    alike = len(dilations) == len(set(window)) == 1
    return plain and alike and min(*dilations, *window) > 1 and min(k, c) >= LEAST_CHANNELS


def _add_plain(build: Transformed, p: Primitive) -> None:
    """The chain that ends in p's output."""
    d, taps, axes = p.attr("dilations")[0], p.inputs[1].shape[2], p.output.rank - 2
    filled, pads = in_whole_steps(p, d, taps)
    steps, rests = range(1, 2 * axes, 2), range(2, 2 * axes + 1, 2)  # the axes of positions, and of those modulo d
    phases = parted(build, p, filled, d, (0, *rests, *steps, 2 * axes + 1))
    n = phases.shape[0]
    images = build.operand(p, "Reshape", phases, f"{phases.name}_apart", shape=(n * d**axes, *phases.shape[1 + axes :]))
    stem, attrs = f"{p.output.name}_plain", dict(p.attrs) | {"dilations": (1,) * axes, "pads": pads}
    y = build.add(p, "Conv", (images, p.inputs[1]), stem, **attrs)
    _, *lengths, k = y.shape
    y = build.add(p, "Reshape", (y,), f"{stem}_apart", shape=(n, *(d,) * axes, *lengths, k))
    back = (at for i in range(1, axes + 1) for at in (i + axes, i))
    y = build.add(p, "Transpose", (y,), f"{stem}_parts", perm=(0, *back, 2 * axes + 1))
    whole = (n, *(length * d for length in lengths), k)
    if whole == p.output.shape:
        build.add(p, "Reshape", (y,), p.output, shape=whole)
        return
    y = build.add(p, "Reshape", (y,), f"{stem}_whole", shape=whole)
    build.add(p, "Slice", (y,), p.output, starts=(0,) * y.rank, steps=(1,) * y.rank, lengths=p.output.shape)
