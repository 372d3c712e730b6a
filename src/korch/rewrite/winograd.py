"""Winograd's algorithm as a choice: convolutions with stride 1 or 2 by transforms and one batched matrix product.

F(m, k) computes m x m outputs of a k x k convolution by (m + k - 1)^2 products. Each interpolates at m + k - 1 points,
so the patches of F(2, 3) and F(3, 2) are alike, and those of F(4, 3), F(5, 2) and F(2, 5). With stride 2 even samples
meet the outer two of three taps, F(m, 2), and odd ones the tap between, m plain products: (2m + 1)^2 in two dimensions.

| | products an output | the convolution as written |
|---|---|---|
| F(2, 3) | 4 | 9 |
| F(4, 3) | 2.25 | 9 |
| F(3, 2) | 1.78 | 4 |
| F(5, 2) | 1.44 | 4 |
| F(2, 5) | 9 | 25 |
| F(2, 3) at stride 2 | 6.25 | 9 |
| F(3, 3) at stride 2 | 5.44 | 9 |
| F(5, 3) at stride 2 | 4.84 | 9 |

A transposed convolution with stride s and an sk x sk window is s * s convolutions k x k of one input, whose results
interleave. They share the input's transform and are one product: so for an image enlarged by 2 and then convolved 3x3
(`subpixel.py`) an output takes 1.44 products on a quarter of the tiles.

Grouped convolutions share transforms, and are a product a group. Convolutions of signals, and of images by windows of
one row or column, are transformed along that axis alone: F(4, 3) has 1.5 products an output there instead of 3.

Convolutions of volumes are transformed in the plane of each frame, and the product adds up over the frames that windows
reach: 6.75 products an output of a 3x3x3 window instead of 27. Transforms along the frames as well would leave 3.4, but
have 3.4 times what is read to write instead of 2.25.

The sums of the transforms cancel, so the result errs more than a direct convolution's: about twice as much with four
points, five times with six, whichever the kernel. At stride 2 tiles of 2 and 3 err like F(2, 3), tiles of 5 a little
less than F(4, 3): 2.2, 1.9 and 5.4 times as much as a direct one (256 channels, normal data; 1.2, 1.1 and 3.1 for 64).
Hence `approximate`, and no choice under strict numerics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.ir.ops.winograd import BOTH, Along, Frames, Tiling, as_image, weights
from korch.ir.primitive import APPROXIMATE, Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.grid import Pads
from korch.rewrite.table import rewrite
from korch.rewrite.transformed import Transformed

TILES = {(3, 1): (2, 4), (2, 1): (3, 5), (5, 1): (2,), (3, 2): (2, 3, 5)}
"""The tiles on offer, by kernel and stride."""
LEAST_CHANNELS = 8
"""Of input and output: 12 to 16 at 208x208 take 0.39 ms with what follows, as written 0.76."""
WORTH = 0.75
"""Products must fall at least to this share for the transforms to pay."""


@rewrite(stage=3, error=APPROXIMATE)
def winograd(graph: Graph) -> Graph:
    """`graph` with a few ways for every channels-last convolution that they can pay for."""
    return chains(graph, "winograd", _views)


@dataclass(frozen=True)
class ConvolutionView:
    """`primitive` as phases x phases convolutions `kernel` x `kernel` of its input padded by `pads`, interleaved; or as
    one with a `stride`, whose windows may reach `along` one axis only, and over several `frames` of a volume."""

    primitive: Primitive
    kernel: int
    pads: Pads
    phases: int = 1
    skipped: tuple[int, int] = (0, 0)
    stride: int = 1
    along: Along = BOTH
    frames: Frames | None = None

    @property
    def taps(self) -> int:
        """Frames that a window sees."""
        return self.frames.taps if self.frames else 1

    def tiling(self, tile: int) -> Tiling:
        """How tiles cover the outputs of each phase."""
        n, height, width, _ = as_image(self.primitive.output.shape)
        rows, columns = (
            -(-(length + cut) // self.phases) for length, cut in zip((height, width), self.skipped, strict=True)
        )
        return Tiling(tile, self.kernel, n, rows, columns, self.stride, self.along)

    @property
    def channels(self) -> tuple[int, int]:
        """Of the input of a group, of all frames that a window sees, and of the output's phases together."""
        w = self.primitive.inputs[1].shape
        c, k = w[:2] if self.primitive.spec.is_deconvolution else w[1::-1]
        return self.taps * c, self.phases**2 * k

    def pays(self, tile: int) -> bool:
        """Whether products become so few that the transforms are worth it."""
        tiling, (*positions, _) = self.tiling(tile), self.primitive.output.shape
        return tiling.tiles * tiling.points * self.phases**2 <= WORTH * prod(positions) * self.kernel ** sum(self.along)

    def read(self, build: Transformed) -> Tensor:
        """What is transformed."""
        return self.primitive.inputs[0]

    def kernels(self, w: Array) -> Array:
        """[phases^2 * K, C, kernel, kernel]: the weights of the phases, phase by phase; of volumes those of all frames
        that a window sees, [K, taps * C, kernel, kernel]."""
        if self.frames:
            return w.swapaxes(1, 2).reshape(len(w), self.channels[0], *w.shape[3:])
        if self.primitive.spec.is_convolution:
            return w
        s, (c, k) = self.phases, w.shape[:2]
        taps = w.reshape(c, k, self.kernel, s, self.kernel, s)[:, :, ::-1, :, ::-1]
        return taps.transpose(3, 5, 1, 0, 2, 4).reshape(s * s * k, c, self.kernel, self.kernel)


def _views(p: Primitive) -> Iterator[ConvolutionView]:
    """`p` as Winograd may compute it, if it may and has enough channels to work on."""
    if not p.spec.convolves or not p.attr("channels_last") or p.output.rank not in (3, 4, 5):
        return
    w = p.inputs[1]
    groups = p.attr("group")
    plain = w.const and set(p.attr("dilations")[-2:]) == {1} and (groups == 1 or p.spec.is_convolution)
    if p.output.rank == 5 and (groups > 1 or not p.spec.is_convolution):
        return
    if plain and min(w.shape[0] // groups, w.shape[1]) >= LEAST_CHANNELS:
        view = _convolution(p) if p.spec.is_convolution else _transposed(p)
        if view and (view.kernel, view.stride) in TILES and min(*view.pads, *(view.frames or ())) >= 0:
            yield view


def _convolution(p: Primitive) -> ConvolutionView | None:
    """Alike along both axes, or of one step along one of them, as along the missing one of a signal."""
    kernel, strides, pads = p.inputs[1].shape[2:], p.attr("strides"), p.attr("pads")
    frames = None
    if p.output.rank == 3:
        kernel, strides, pads = (1, *kernel), (1, *strides), (0, pads[0], 0, pads[1])
    if p.output.rank == 5:
        frames = Frames(kernel[0], strides[0], p.attr("dilations")[0], pads[0], pads[3])
        kernel, strides, pads = kernel[1:], strides[1:], (*pads[1:3], *pads[4:])
    down, along = kernel[0] > 1, kernel[1] > 1
    longest, step = max(kernel), max(strides)
    alike = [(longest, step) if reaches else (1, 1) for reaches in (down, along)]
    if longest == 1 or list(zip(kernel, strides, strict=True)) != alike:
        return None
    return ConvolutionView(p, longest, pads, stride=step, along=(down, along), frames=frames)


def _transposed(p: Primitive) -> ConvolutionView | None:
    """Output s * a + r - pad takes tap r + s * j of input a - j, j below `kernel`: a convolution at a for each r."""
    s, taps = p.attr("strides")[0], p.inputs[1].shape[2]
    if s == 1 or p.attr("strides") != (s, s) or p.inputs[1].shape[2:] != (taps, taps) or taps % s:
        return None
    kernel, before = taps // s, p.attr("pads")[:2]
    first = [pad // s for pad in before]
    last = [(pad + n - 1) // s for pad, n in zip(before, p.output.shape[1:3], strict=True)]
    top, left = (kernel - 1 - a for a in first)
    bottom, right = (a + 1 - n for a, n in zip(last, p.inputs[0].shape[1:3], strict=True))
    return ConvolutionView(p, kernel, (top, left, bottom, right), s, (before[0] % s, before[1] % s))


def chains(graph: Graph, rule: str, views: Callable[[Primitive], Iterable[ConvolutionView]]) -> Graph:
    """`graph` with a chain for every view and tile that pays."""
    build = _Winograd(graph, rule)
    for p in graph.primitives:
        for view in views(p):
            for tile in TILES[view.kernel, view.stride]:
                if view.pays(tile):
                    build.convolution(view, tile)
    return build.result


class _Winograd(Transformed):
    def convolution(self, view: ConvolutionView, tile: int) -> None:
        """Adds the chain that ends in the view's output; convolutions of one tensor share its transform."""
        p, x, form = view.primitive, view.read(self), _form(view, tile)
        name = f"{x.name}_{form}_{'_'.join(map(str, view.pads))}"
        attrs = {"tile": tile, "kernel": view.kernel, "stride": view.stride, "along": view.along}
        frames = {"frames": tuple(view.frames)} if view.frames else {}
        v = self.operand(p, "WinogradInput", x, name, **attrs, **frames, pads=view.pads)
        if (groups := p.attr("group")) > 1:
            m = self._by_group(p, v, self._weights(view, tile), groups, form)
        else:
            m = self.product(p, v, self._weights(view, tile), form)
        self.add(
            p, "WinogradOutput", (m,), p.output, **attrs, shape=p.output.shape, phases=view.phases, skipped=view.skipped
        )

    def _by_group(self, p: Primitive, v: Tensor, w: Tensor, groups: int, form: str) -> Tensor:
        """The products [points, tiles, K] of every group for itself."""
        points, tiles, channels = v.shape
        v = self.operand(p, "Reshape", v, f"{v.name}_by{groups}", shape=(points, tiles, groups, channels // groups))
        v = self.operand(p, "Transpose", v, f"{v.name}_first", perm=(0, 2, 1, 3))
        m = self.product(p, v, w, form)
        m = self.add(p, "Transpose", (m,), f"{m.name}_last", perm=(0, 2, 1, 3))
        return self.add(p, "Reshape", (m,), f"{m.name}_together", shape=(points, tiles, p.output.shape[-1]))

    def _weights(self, view: ConvolutionView, tile: int) -> Tensor:
        """[points, C, K]; of several groups [points, groups, C, K], C and K of one."""
        w, groups = view.primitive.inputs[1], view.primitive.attr("group")
        form = _form(view, tile) + ("" if view.phases == 1 else f"_{view.primitive.op}{view.phases}")
        form += "" if groups == 1 else f"_{groups}groups"
        c, k = view.channels
        points, each = view.tiling(tile).points, k // groups

        def turned(v: Array) -> Array:
            y = weights(view.kernels(v), tile, view.stride, view.along)
            return y if groups == 1 else np.ascontiguousarray(y.reshape(points, c, groups, each).swapaxes(1, 2))

        return self.constant(w, form, (points, c, k) if groups == 1 else (points, groups, c, each), turned)


def _form(view: ConvolutionView, tile: int) -> str:
    return f"f{tile}{view.kernel}" + (f"s{view.stride}" if view.stride > 1 else "")
