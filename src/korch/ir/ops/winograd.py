"""The linear maps around a Winograd convolution's matrix product (Lavin & Gray 2016), channels-last.

A convolution with a `kernel` x `kernel` window computes tiles of `tile` x `tile` outputs, each from a patch of side =
tile * stride + kernel - stride. `WinogradInput` takes x [N, H, W, C] to [side^2, N * tiles, C]: every patch that a tile
reads, as B^T d B. The matrix product with the weights G g G^T follows, one a position. `WinogradOutput` takes its
result [side^2, N * tiles, K] to [N, H', W', K]: A^T m A.

A transposed convolution with stride s and an s * kernel window is s * s such convolutions of one input, one for each
*phase* of the output's rows and columns. They share input transform and product, so the result has s * s * K channels,
phases first, and `WinogradOutput` interleaves them: element (s * i + r, s * j + c) of all tiles side by side is element
(i, j) of phase r * s + c. The output begins `skipped` elements further.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from korch.ir.ops.table import Array, Category, Emit, Op, Pull, Region, Shape, add, write_reshape
from korch.ir.ops.windows import Positions
from korch.ir.tensor import Tensor

if TYPE_CHECKING:
    from korch.ir.primitive import Primitive

CHUNK = 8192
_ROOT = 2.0**-0.5
POINTS: dict[int, tuple[float, ...]] = {
    3: (0.0, 1.0), 4: (0.0, 1.0, -1.0), 6: (0.0, _ROOT, -_ROOT, 2 * _ROOT, -2 * _ROOT),
}  # fmt: skip
"""Interpolation points besides infinity, by their number with it. With the integers 0, 1, -1, 2, -2, six points err
twice as much (measured)."""


@cache
def matrices(tile: int, kernel: int, stride: int = 1) -> tuple[Array, Array, Array]:
    """(A^T, G, B^T) of F(tile, kernel): y = A^T [(G g) * (B^T d)].

    Taps and samples meet only where their positions are alike modulo the stride: each class of positions is a
    convolution with stride 1, and a block of the matrices.
    """
    side = tile * stride + kernel - stride
    a, g, b = np.zeros((tile, side)), np.zeros((side, kernel)), np.zeros((side, side))
    begin = 0
    for first in range(stride):
        taps = len(range(first, kernel, stride))
        rows = slice(begin, begin + tile + taps - 1)
        a[:, rows], g[rows, first::stride], b[rows, first::stride] = _block(tile, taps)
        begin = rows.stop
    return a, g, b


def _block(tile: int, taps: int) -> tuple[Array, Array, Array]:
    """F(tile, taps) with stride 1; one tap makes plain products."""
    if taps == 1:
        return np.eye(tile), np.ones((tile, 1)), np.eye(tile)
    return cook_toom(tile, taps, POINTS[tile + taps - 1])


def cook_toom(tile: int, kernel: int, points: tuple[float, ...]) -> tuple[Array, Array, Array]:
    """The matrices by Cook's and Toom's interpolation at `points` and infinity."""
    from numpy.polynomial import polynomial  # a megabyte that programs which only run do without

    side = tile + kernel - 1
    others = [[q for q in points if q != p] for p in points]
    a = np.zeros((tile, side))
    g = np.zeros((side, kernel))
    b = np.zeros((side, side))
    for i, (p, rest) in enumerate(zip(points, others, strict=True)):
        a[:, i] = [p**k for k in range(tile)]
        g[i] = np.asarray([p**k for k in range(kernel)]) / np.prod([p - q for q in rest])
        b[i, : side - 1] = polynomial.polyfromroots(rest)
    a[-1, -1] = g[-1, -1] = 1.0
    b[-1] = polynomial.polyfromroots(points)
    halves = np.round(2 * b)  # most entries are whole or half: rounding must not make terms of zeros
    return a, g, np.where(np.abs(2 * b - halves) < 1e-9, halves / 2, b)


def weights(w: Array, tile: int, stride: int) -> Array:
    """[K, C, kernel, kernel] -> G g G^T as [side^2, C, K], in float64 and rounded once."""
    g = matrices(tile, w.shape[-1], stride)[1]
    both, flat = np.kron(g, g), w.transpose(2, 3, 1, 0).reshape(g.shape[1] ** 2, -1)
    turned = np.empty((len(both), flat.shape[1]), w.dtype)
    for at in range(0, flat.shape[1], CHUNK):  # what is float64 stays in the cache
        turned[:, at : at + CHUNK] = both @ flat[:, at : at + CHUNK].astype(np.float64)
    return turned.reshape(-1, w.shape[1], w.shape[0])


@dataclass(frozen=True)
class Tiling:
    """`rows` x `columns` tiles cover each image's outputs, height x width a phase; patches are `side` x `side`, `step`
    apart in the input."""

    tile: int
    kernel: int
    images: int
    height: int
    width: int
    stride: int = 1

    @property
    def rows(self) -> int:
        return -(-self.height // self.tile)

    @property
    def columns(self) -> int:
        return -(-self.width // self.tile)

    @property
    def side(self) -> int:
        return self.step + self.kernel - self.stride

    @property
    def step(self) -> int:
        """Positions of the input from patch to patch."""
        return self.tile * self.stride

    @property
    def matrices(self) -> tuple[Array, Array, Array]:
        return matrices(self.tile, self.kernel, self.stride)

    @property
    def tiles(self) -> int:
        return self.images * self.rows * self.columns

    def place(self, tiles: Positions) -> tuple[Positions, Positions, Positions]:
        """(image, row, column) of tiles by number."""
        image, row, column = np.unravel_index(tiles, (self.images, self.rows, self.columns))
        return image, row, column


def tiling_of(p: Primitive) -> Tiling:
    """The tiling of either transform."""
    return _after(p.inputs[0].shape, dict(p.attrs)) if p.op == "WinogradInput" else _whole(dict(p.attrs))


def _after(x: Shape, attrs: dict[str, Any]) -> Tiling:
    (top, left, bottom, right), kernel, stride = attrs["pads"], attrs["kernel"], attrs["stride"]
    height, width = ((n - kernel) // stride + 1 for n in (x[1] + top + bottom, x[2] + left + right))
    return Tiling(attrs["tile"], kernel, x[0], height, width, stride)


def _whole(attrs: dict[str, Any]) -> Tiling:
    (n, height, width, _), phases, (rows, columns) = attrs["shape"], attrs["phases"], attrs["skipped"]
    height, width = -(-(height + rows) // phases), -(-(width + columns) // phases)
    return Tiling(attrs["tile"], attrs["kernel"], n, height, width, attrs["stride"])


# The input's side ------------------------------------------------------------------------------------------------


def _input_infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    x, tiling = inputs[0], _after(inputs[0].shape, attrs)
    return x.dtype, (tiling.side**2, tiling.tiles, x.shape[3])


def _input(p: Primitive, region: Region, pull: Pull) -> Array:
    tiling, (points, tiles, channels) = tiling_of(p), region
    b = tiling.matrices[2]
    patches = _patches(p, tiling, tiles, channels, pull)
    b = b.astype(patches.dtype)
    turned = np.einsum("jw,piwc->ijpc", b, np.einsum("ih,phwc->piwc", b, patches))
    return turned.reshape(tiling.side**2, len(tiles), len(channels))[points]


def _patches(p: Primitive, tiling: Tiling, tiles: Positions, channels: Positions, pull: Pull) -> Array:
    """[tile, side, side, channel]: what each tile reads, zeros where that is padding."""
    x, reach = p.inputs[0].shape, np.arange(tiling.side)
    image, row, column = tiling.place(tiles)
    h = row[:, None] * tiling.step - p.attr("pads")[0] + reach
    w = column[:, None] * tiling.step - p.attr("pads")[1] + reach
    near_h, near_w = np.clip(h, 0, x[1] - 1), np.clip(w, 0, x[2] - 1)
    have = tuple(np.unique(a) for a in (image, near_h, near_w))
    part = pull(0, (*have, channels))
    n, i, j = (np.searchsorted(known, wanted) for known, wanted in zip(have, (image, near_h, near_w), strict=True))
    inside = (h == near_h)[:, :, None] & (w == near_w)[:, None, :]
    return np.where(inside[..., None], part[n[:, None, None], i[:, :, None], j[:, None, :]], np.zeros((), part.dtype))


def _input_write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    """A convolution from one channel to side^2, each image and channel for itself."""
    x, tiling = p.inputs[0].shape, tiling_of(p)
    top, left = p.attr("pads")[:2]
    covered = [n * tiling.step + tiling.kernel - tiling.stride for n in (tiling.rows, tiling.columns)]
    behind = [max(n - known, 0) for n, known in zip(covered, (top + x[1], left + x[2]), strict=True)]
    flat = write_reshape(emit, emit.node("Transpose", names, perm=(0, 3, 1, 2)), (x[0] * x[3], 1, x[1], x[2]))
    kernels = emit.const(_kernels(tiling.matrices[2], p))
    y = emit.node("Conv", [flat, kernels], strides=(tiling.step,) * 2, pads=(top, left, *behind))
    y = write_reshape(emit, y, (x[0], x[3], tiling.side**2, tiling.rows * tiling.columns))
    y = emit.node("Transpose", [y], perm=(2, 0, 3, 1))
    write_reshape(emit, y, p.output.shape, p.output.name)


def _kernels(rows: Array, p: Primitive) -> Array:
    """[points^2, 1, h, w]: the outer products of the matrix's rows."""
    outer = np.einsum("ih,jw->ijhw", rows, rows)
    return outer.reshape(-1, 1, *outer.shape[2:]).astype(p.output.dtype)


add(Op("WinogradInput", Category.LINEAR, _input_infer, _input, _input_write))


# The output's side -----------------------------------------------------------------------------------------------


def _output_infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    return inputs[0].dtype, tuple(attrs["shape"])


def _output(p: Primitive, region: Region, pull: Pull) -> Array:
    tiling, phases, (images, *places, channels) = tiling_of(p), p.attr("phases"), region
    h, w = (place + skipped for place, skipped in zip(places, p.attr("skipped"), strict=True))
    span = tiling.tile * phases
    number = (images[:, None] * tiling.rows + np.unique(h // span))[:, :, None] * tiling.columns + np.unique(w // span)
    every = (np.arange(phases**2)[:, None] * p.output.shape[3] + channels).reshape(-1)
    m = pull(0, (np.arange(tiling.side**2), number.reshape(-1), every))
    a = tiling.matrices[0].astype(m.dtype)
    m = m.reshape(tiling.side, tiling.side, *number.shape, phases, phases, len(channels))
    y = np.einsum("wj,hjnrcpqk->nrhpcwqk", a, np.einsum("hi,ijnrcpqk->hjnrcpqk", a, m))
    y = y.reshape(len(images), number.shape[1] * span, number.shape[2] * span, len(channels))
    return y[:, _within(h, span)][:, :, _within(w, span)]


def _within(positions: Positions, span: int) -> Positions:
    """Where `positions` lie among the tiles, each `span` long, that hold one of them."""
    return np.searchsorted(np.unique(positions // span), positions // span) * span + positions % span


def _output_write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    """A transposed convolution from side^2 channels to one, and a transposition that interleaves the phases."""
    tiling, phases, (n, height, width, k) = tiling_of(p), p.attr("phases"), p.output.shape
    rows, columns = tiling.rows * tiling.tile, tiling.columns * tiling.tile
    m = write_reshape(emit, names[0], (tiling.side**2, n, tiling.rows * tiling.columns, phases**2 * k))
    m = emit.node("Transpose", [m], perm=(1, 3, 0, 2))
    m = write_reshape(emit, m, (n * phases**2 * k, tiling.side**2, tiling.rows, tiling.columns))
    kernels = emit.const(_kernels(tiling.matrices[0].T, p))
    y = emit.node("ConvTranspose", [m, kernels], strides=(tiling.tile,) * 2)
    y = write_reshape(emit, y, (n, phases, phases, k, rows, columns))
    y = emit.node("Transpose", [y], perm=(0, 4, 1, 5, 2, 3))
    y = write_reshape(emit, y, (n, rows * phases, columns * phases, k))
    starts = np.asarray(p.attr("skipped"), np.int64)
    ends, axes = starts + (height, width), np.asarray((1, 2), np.int64)
    emit.node("Slice", [y, emit.const(starts), emit.const(ends), emit.const(axes)], p.output.name)


add(Op("WinogradOutput", Category.LINEAR, _output_infer, _output, _output_write))
