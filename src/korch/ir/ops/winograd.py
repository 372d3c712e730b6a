"""The linear maps around a Winograd convolution's matrix product (Lavin & Gray 2016), channels-last.

A 3x3 convolution with stride 1 computes tiles of `tile` x `tile` outputs. `WinogradInput` takes x [N, H, W, C] to
[(tile + 2)^2, N * tiles, C]: every patch that a tile reads, as B^T d B. The matrix product with the weights G g G^T
follows, one a position. `WinogradOutput` takes its result [(tile + 2)^2, N * tiles, K] to [N, H', W', K]: A^T m A.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.polynomial import polynomial

from korch.ir.ops.table import Array, Category, Emit, Op, Pull, Region, Shape, add
from korch.ir.ops.windows import Positions
from korch.ir.tensor import Tensor

if TYPE_CHECKING:
    from korch.ir.primitive import Primitive

KERNEL = 3
CHUNK = 8192
_ROOT = 2.0**-0.5
POINTS: dict[int, tuple[float, ...]] = {2: (0.0, 1.0, -1.0), 4: (0.0, _ROOT, -_ROOT, 2 * _ROOT, -2 * _ROOT)}
"""Interpolation points besides infinity. For tiles of 4 the integers 0, 1, -1, 2, -2 err twice as much (measured)."""


@cache
def matrices(tile: int) -> tuple[Array, Array, Array]:
    """(A^T, G, B^T) of F(tile, 3): y = A^T [(G g) * (B^T d)]."""
    return cook_toom(tile, POINTS[tile])


def cook_toom(tile: int, points: tuple[float, ...]) -> tuple[Array, Array, Array]:
    """The matrices by Cook's and Toom's interpolation at `points` and infinity."""
    side = tile + KERNEL - 1
    others = [[q for q in points if q != p] for p in points]
    a = np.zeros((tile, side))
    g = np.zeros((side, KERNEL))
    b = np.zeros((side, side))
    for i, (p, rest) in enumerate(zip(points, others, strict=True)):
        a[:, i] = [p**k for k in range(tile)]
        g[i] = np.asarray([p**k for k in range(KERNEL)]) / np.prod([p - q for q in rest])
        b[i, : side - 1] = polynomial.polyfromroots(rest)
    a[-1, -1] = g[-1, -1] = 1.0
    b[-1] = polynomial.polyfromroots(points)
    return a, g, b


def weights(w: Array, tile: int) -> Array:
    """[K, C, 3, 3] -> G g G^T as [(tile + 2)^2, C, K], in float64 and rounded once."""
    g = matrices(tile)[1]
    both, flat = np.kron(g, g), w.transpose(2, 3, 1, 0).reshape(KERNEL**2, -1)
    turned = np.empty((len(both), flat.shape[1]), w.dtype)
    for at in range(0, flat.shape[1], CHUNK):  # what is float64 stays in the cache
        turned[:, at : at + CHUNK] = both @ flat[:, at : at + CHUNK].astype(np.float64)
    return turned.reshape(-1, w.shape[1], w.shape[0])


@dataclass(frozen=True)
class Tiling:
    """`rows` x `columns` tiles cover each image's output of height x width; patches are `side` x `side`."""

    tile: int
    images: int
    height: int
    width: int

    @property
    def rows(self) -> int:
        return -(-self.height // self.tile)

    @property
    def columns(self) -> int:
        return -(-self.width // self.tile)

    @property
    def side(self) -> int:
        return self.tile + KERNEL - 1

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
    top, left, bottom, right = attrs["pads"]
    return Tiling(attrs["tile"], x[0], x[1] + top + bottom - KERNEL + 1, x[2] + left + right - KERNEL + 1)


def _whole(attrs: dict[str, Any]) -> Tiling:
    n, height, width, _ = attrs["shape"]
    return Tiling(attrs["tile"], n, height, width)


# The input's side ------------------------------------------------------------------------------------------------


def _input_infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    x, tiling = inputs[0], _after(inputs[0].shape, attrs)
    return x.dtype, (tiling.side**2, tiling.tiles, x.shape[3])


def _input(p: Primitive, region: Region, pull: Pull) -> Array:
    tiling, (points, tiles, channels) = tiling_of(p), region
    b = matrices(tiling.tile)[2]
    patches = _patches(p, tiling, tiles, channels, pull)
    b = b.astype(patches.dtype)
    turned = np.einsum("jw,piwc->ijpc", b, np.einsum("ih,phwc->piwc", b, patches))
    return turned.reshape(tiling.side**2, len(tiles), len(channels))[points]


def _patches(p: Primitive, tiling: Tiling, tiles: Positions, channels: Positions, pull: Pull) -> Array:
    """[tile, side, side, channel]: what each tile reads, zeros where that is padding."""
    x, reach = p.inputs[0].shape, np.arange(tiling.side)
    image, row, column = tiling.place(tiles)
    h = row[:, None] * tiling.tile - p.attr("pads")[0] + reach
    w = column[:, None] * tiling.tile - p.attr("pads")[1] + reach
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
    covered = [n * tiling.tile + KERNEL - 1 for n in (tiling.rows, tiling.columns)]
    behind = (covered[0] - x[1] - top, covered[1] - x[2] - left)
    flat = _reshape(emit, emit.node("Transpose", names, perm=(0, 3, 1, 2)), (x[0] * x[3], 1, x[1], x[2]))
    y = emit.node("Conv", [flat, emit.const(_kernels(matrices(tiling.tile)[2], p))], strides=(tiling.tile,) * 2,
                  pads=(top, left, *behind))  # fmt: skip
    y = _reshape(emit, y, (x[0], x[3], tiling.side**2, tiling.rows * tiling.columns))
    y = emit.node("Transpose", [y], perm=(2, 0, 3, 1))
    _reshape(emit, y, p.output.shape, p.output.name)


def _kernels(rows: Array, p: Primitive) -> Array:
    """[points^2, 1, h, w]: the outer products of the matrix's rows."""
    outer = np.einsum("ih,jw->ijhw", rows, rows)
    return outer.reshape(-1, 1, *outer.shape[2:]).astype(p.output.dtype)


def _reshape(emit: Emit, name: str, shape: Shape, output: str | None = None) -> str:
    return emit.node("Reshape", [name, emit.const(np.asarray(shape, np.int64))], output)


add(Op("WinogradInput", Category.LINEAR, _input_infer, _input, _input_write))


# The output's side -----------------------------------------------------------------------------------------------


def _output_infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    return inputs[0].dtype, tuple(attrs["shape"])


def _output(p: Primitive, region: Region, pull: Pull) -> Array:
    tiling, (images, h, w, channels) = tiling_of(p), region
    number = (images[:, None] * tiling.rows + np.unique(h // tiling.tile))[:, :, None] * tiling.columns
    number = number + np.unique(w // tiling.tile)
    m = pull(0, (np.arange(tiling.side**2), number.reshape(-1), channels))
    a = matrices(tiling.tile)[0].astype(m.dtype)
    m = m.reshape(tiling.side, tiling.side, *number.shape, len(channels))
    y = np.einsum("wj,hjnrck->nrhcwk", a, np.einsum("hi,ijnrck->hjnrck", a, m))
    y = y.reshape(len(images), number.shape[1] * tiling.tile, number.shape[2] * tiling.tile, len(channels))
    return y[:, _within(h, tiling.tile)][:, :, _within(w, tiling.tile)]


def _within(positions: Positions, tile: int) -> Positions:
    """Where `positions` lie among the tiles that hold one of them."""
    return np.searchsorted(np.unique(positions // tile), positions // tile) * tile + positions % tile


def _output_write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    """A transposed convolution from side^2 channels to one."""
    tiling, (n, height, width, k) = tiling_of(p), p.output.shape
    m = _reshape(emit, names[0], (tiling.side**2, n, tiling.rows * tiling.columns, k))
    m = emit.node("Transpose", [m], perm=(1, 3, 0, 2))
    m = _reshape(emit, m, (n * k, tiling.side**2, tiling.rows, tiling.columns))
    kernels = emit.const(_kernels(matrices(tiling.tile)[0].T, p))
    y = emit.node("ConvTranspose", [m, kernels], strides=(tiling.tile,) * 2)
    ends, axes = np.asarray((height, width), np.int64), np.asarray((2, 3), np.int64)
    y = emit.node("Slice", [y, emit.const(np.zeros(2, np.int64)), emit.const(ends), emit.const(axes)])
    y = _reshape(emit, y, (n, k, height, width))
    emit.node("Transpose", [y], p.output.name, perm=(0, 2, 3, 1))


add(Op("WinogradOutput", Category.LINEAR, _output_infer, _output, _output_write))
