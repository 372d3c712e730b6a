"""The linear maps around a Winograd convolution's matrix product (Lavin & Gray 2016), channels-last.

A convolution with a `kernel` x `kernel` window computes tiles of `tile` x `tile` outputs, each from a patch of side =
tile * stride + kernel - stride. `WinogradInput` takes x [N, H, W, C] to [side^2, N * tiles, C]: every patch that a tile
reads, as B^T d B. The matrix product with the weights G g G^T follows, one a position. `WinogradOutput` takes its
result [side^2, N * tiles, K] to [N, H', W', K]: A^T m A.

A transposed convolution with stride s and an s * kernel window is s * s such convolutions of one input, one for each
*phase* of the output's rows and columns. They share input transform and product, so the result has s * s * K channels,
phases first, and `WinogradOutput` interleaves them: element (s * i + r, s * j + c) of all tiles side by side is element
(i, j) of phase r * s + c. The output begins `skipped` elements further.

Windows that reach `along` one axis only are transformed along that one: tiles, patches and kernels have one position
along the other. A signal [N, length, C] is an image of one row.

Of a volume [N, D, H, W, C] every frame is an image of its own. Where windows reach over several frames, the patches of
all of them stand side by side as channels, [side^2, N * D' * tiles, taps * C], so that the product adds up over frames
as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from korch.ir.ops.spans import Part, Span, clipped
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


Along = tuple[bool, bool]
"""Whether windows reach down the image, and along its rows."""
BOTH: Along = (True, True)
"""Also where older archives say nothing."""
STILL: tuple[Array, Array, Array] = (np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)))
"""The matrices along an axis on which nothing happens."""


class Frames(NamedTuple):
    """What windows see of the frames of a volume: `taps` of them, with zeros before the first and behind the last."""

    taps: int = 1
    stride: int = 1
    dilation: int = 1
    before: int = 0
    behind: int = 0

    def spanned(self, outputs: int) -> int:
        """Frames from the first to the last that so many neighbouring outputs see."""
        return (outputs - 1) * self.stride + (self.taps - 1) * self.dilation + 1

    def outputs(self, length: int) -> int:
        """Of so many frames."""
        return (length + self.before + self.behind - self.spanned(1)) // self.stride + 1


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


def weights(w: Array, tile: int, stride: int, along: Along = BOTH) -> Array:
    """[K, C, kernel, kernel] -> G g G^T as [side^2, C, K], in float64 and rounded once; of a signal [K, C, kernel]."""
    g = matrices(tile, max(w.shape[2:]), stride)[1]
    both = np.kron(*(g if moves else STILL[1] for moves in along))
    flat = np.moveaxis(w, (0, 1), (-1, -2)).reshape(both.shape[1], -1)
    turned = np.empty((len(both), flat.shape[1]), w.dtype)
    for at in range(0, flat.shape[1], CHUNK):  # what is float64 stays in the cache
        turned[:, at : at + CHUNK] = both @ flat[:, at : at + CHUNK].astype(np.float64)
    return turned.reshape(-1, w.shape[1], w.shape[0])


@dataclass(frozen=True)
class Tiling:
    """`counts` tiles, down and along each image, cover its outputs, height x width a phase; each makes `outputs` of a
    patch of `sides`, and patches are `steps` apart in the input."""

    tile: int
    kernel: int
    images: int
    height: int
    width: int
    stride: int = 1
    along: Along = BOTH

    @property
    def outputs(self) -> tuple[int, int]:
        return self._both(self.tile)

    @property
    def sides(self) -> tuple[int, int]:
        return self._both((self.tile - 1) * self.stride + self.kernel)

    @property
    def steps(self) -> tuple[int, int]:
        return self._both(self.tile * self.stride)

    def _both(self, length: int) -> tuple[int, int]:
        down, along = self.along
        return length if down else 1, length if along else 1

    @property
    def counts(self) -> tuple[int, int]:
        return -(-self.height // self.outputs[0]), -(-self.width // self.outputs[1])

    @property
    def points(self) -> int:
        """Positions of a patch, and so products of a tile."""
        return self.sides[0] * self.sides[1]

    @property
    def matrices(self) -> tuple[tuple[Array, Array, Array], tuple[Array, Array, Array]]:
        """(A^T, G, B^T) down, and along the image."""
        own = matrices(self.tile, self.kernel, self.stride)
        down, along = self.along
        return own if down else STILL, own if along else STILL

    @property
    def tiles(self) -> int:
        return self.images * self.counts[0] * self.counts[1]

    def place(self, tiles: Positions) -> tuple[Positions, Positions, Positions]:
        """(image, row, column) of tiles by number."""
        image, row, column = np.unravel_index(tiles, (self.images, *self.counts))
        return image, row, column


def tiling_of(p: Primitive) -> Tiling:
    """The tiling of either transform."""
    return _after(p.inputs[0].shape, dict(p.attrs)) if p.op == "WinogradInput" else _whole(dict(p.attrs))


def frames_of(p: Primitive) -> Frames:
    """What the patches of a `WinogradInput` see of frames: of images and signals one."""
    return Frames(*dict(p.attrs).get("frames", ()))


def as_image(shape: Shape) -> tuple[int, int, int, int]:
    """[N, height, width, C] of an image, of a signal as one, or of all frames of volumes."""
    n, depth, height, width, channels = _as_volume(shape)
    return n * depth, height, width, channels


def _as_volume(shape: Shape) -> tuple[int, int, int, int, int]:
    """[N, frames, height, width, C], of an image with one frame."""
    n, *lengths, channels = shape
    depth, height, width = (*[1] * (3 - len(lengths)), *lengths)
    return n, depth, height, width, channels


def _after(x: Shape, attrs: dict[str, Any]) -> Tiling:
    (top, left, bottom, right), kernel, stride = attrs["pads"], attrs["kernel"], attrs["stride"]
    if len(x) == 5:
        x = (x[0], Frames(*attrs["frames"]).outputs(x[1]), *x[2:])
    (images, high, wide, _), along = as_image(x), attrs.get("along", BOTH)
    padded = zip((high + top + bottom, wide + left + right), along, strict=True)
    height, width = ((n - kernel) // stride + 1 if moves else n for n, moves in padded)
    return Tiling(attrs["tile"], kernel, images, height, width, stride, along)


def _whole(attrs: dict[str, Any]) -> Tiling:
    (n, height, width, _), phases, (rows, columns) = as_image(attrs["shape"]), attrs["phases"], attrs["skipped"]
    height, width = -(-(height + rows) // phases), -(-(width + columns) // phases)
    return Tiling(attrs["tile"], attrs["kernel"], n, height, width, attrs["stride"], attrs.get("along", BOTH))


# The input's side ------------------------------------------------------------------------------------------------


def _input_infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    x, tiling, taps = inputs[0], _after(inputs[0].shape, attrs), Frames(*attrs.get("frames", ())).taps
    return x.dtype, (tiling.points, tiling.tiles, taps * x.shape[-1])


def _input(p: Primitive, region: Region, pull: Pull) -> Array:
    tiling, (points, tiles, channels), each = tiling_of(p), region, p.inputs[0].shape[-1]
    taps = [(tap, channels // each == tap) for tap in np.unique(channels // each)]
    some = [_patches(p, tiling, tiles, tap, channels[own] % each, pull) for tap, own in taps]
    patches = np.empty((len(tiles), *tiling.sides, len(channels)), some[0].dtype if some else p.output.dtype)
    for (_, own), part in zip(taps, some, strict=True):
        patches[..., own] = part
    down, along = (b.astype(patches.dtype) for _, _, b in tiling.matrices)
    turned = np.einsum("jw,piwc->ijpc", along, np.einsum("ih,phwc->piwc", down, patches))
    return turned.reshape(tiling.points, len(tiles), len(channels))[points]


def _patches(p: Primitive, tiling: Tiling, tiles: Positions, tap: int, channels: Positions, pull: Pull) -> Array:
    """[tile, side, side, channel]: what each tile reads of the frame under a tap, zeros where that is padding."""
    frames, (_, depth, high, wide, _) = frames_of(p), _as_volume(p.inputs[0].shape)
    image, *places = tiling.place(tiles)
    volume, frame = np.divmod(image, frames.outputs(depth))
    f = frame * frames.stride + tap * frames.dilation - frames.before
    each = zip(places, tiling.steps, p.attr("pads")[:2], tiling.sides, strict=True)
    h, w = (place[:, None] * step - pad + np.arange(side) for place, step, pad, side in each)
    near = [np.clip(at, 0, n - 1) for at, n in zip((f, h, w), (depth, high, wide), strict=True)]
    have = [np.unique(a) for a in (volume, *near)]
    part = pull(0, (have[0], *have[len(have) + 2 - p.inputs[0].rank :], channels))
    part = part.reshape(*map(len, have), len(channels))
    n, d, i, j = (np.searchsorted(known, at) for known, at in zip(have, (volume, *near), strict=True))
    inside = (f == near[0])[:, None, None] & (h == near[1])[:, :, None] & (w == near[2])[:, None, :]
    seen = part[n[:, None, None], d[:, None, None], i[:, :, None], j[:, None, :]]
    return np.where(inside[..., None], seen, np.zeros((), part.dtype))


def _input_write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    """Of images and signals at once; of volumes tap after tap, the frames under it as images."""
    shape = as_image(p.inputs[0].shape)
    if p.inputs[0].rank < 5:
        last = p.inputs[0].rank - 1
        turned = emit.node("Transpose", names, perm=(0, last, *range(1, last)))
        _write_images(p, shape, turned, emit, p.output.name)
        return
    frames, (n, depth, *image) = frames_of(p), p.inputs[0].shape
    around = np.asarray((0, frames.before, *[0] * 4, frames.behind, *[0] * 3), np.int64)
    padded, outputs = emit.node("Pad", [names[0], emit.const(around)]), frames.outputs(depth)
    parts: list[str] = []
    for tap in range(frames.taps):
        first = tap * frames.dilation
        bounds = (first, first + (outputs - 1) * frames.stride + 1, 1, frames.stride)
        seen = emit.node("Slice", [padded, *(emit.const(np.asarray([at], np.int64)) for at in bounds)])
        seen = write_reshape(emit, seen, (n * outputs, *image))
        turned = emit.node("Transpose", [seen], perm=(0, 3, 1, 2))
        parts.append(_write_images(p, (n * outputs, *image), turned, emit))
    emit.node("Concat", parts, p.output.name, axis=2)


def _write_images(p: Primitive, shape: Shape, turned: str, emit: Emit, output: str | None = None) -> str:
    """A convolution from one channel to as many as there are points, each image and channel for itself."""
    (n, height, width, channels), tiling = shape, tiling_of(p)
    pads = p.attr("pads")[:2]
    covered = [n * step + side - step for n, step, side in zip(tiling.counts, tiling.steps, tiling.sides, strict=True)]
    behind = [max(n - pad - known, 0) for n, pad, known in zip(covered, pads, (height, width), strict=True)]
    flat = write_reshape(emit, turned, (n * channels, 1, height, width))
    down, along = tiling.matrices
    kernels = emit.const(_kernels(down[2], along[2], p))
    y = emit.node("Conv", [flat, kernels], strides=tiling.steps, pads=(*pads, *behind))
    y = write_reshape(emit, y, (n, channels, tiling.points, tiling.counts[0] * tiling.counts[1]))
    y = emit.node("Transpose", [y], perm=(2, 0, 3, 1))
    return write_reshape(emit, y, (tiling.points, tiling.tiles, channels), output)


def _kernels(down: Array, along: Array, p: Primitive) -> Array:
    """[points, 1, h, w]: the outer products of the matrices' rows."""
    outer = np.einsum("ih,jw->ijhw", down, along)
    return outer.reshape(-1, 1, *outer.shape[2:]).astype(p.output.dtype)


def _input_reads(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    """Whole rows of tiles of one image."""
    tiling, x = tiling_of(p), p.inputs[0].shape
    columns = tiling.counts[1]
    if span.axis != 1 or len(x) != 4 or tiling.images != 1 or span.begin % columns or span.end % columns:
        return None
    rows = Span(1, span.begin // columns, span.end // columns)
    top, left, _, right = attrs["pads"]
    read, before, behind = clipped(rows, tiling.steps[0], top, tiling.sides[0], x[1])
    return Part((read,), attrs | {"pads": (before, left, behind, right)}) if read.length > 0 else None


add(
    Op(
        "WinogradInput",
        Category.LINEAR,
        _input_infer,
        _input,
        _input_write,
        reads=_input_reads,
        transforms=True,
        sparse=True,
        fan_in=lambda p: tiling_of(p).points,
    )
)


# The output's side -----------------------------------------------------------------------------------------------


def _output_infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    return inputs[0].dtype, tuple(attrs["shape"])


def _output(p: Primitive, region: Region, pull: Pull) -> Array:
    phases: int = p.attr("phases")
    tiling, channels = tiling_of(p), region[-1]
    volumes, *places = (region[0], *[np.zeros(1, np.int64)] * (5 - len(region)), *region[1:-1])
    images = (volumes[:, None] * _as_volume(p.output.shape)[1] + places.pop(0)).reshape(-1)
    h, w = (place + skipped for place, skipped in zip(places, p.attr("skipped"), strict=True))
    (rows, columns), (high, wide) = tiling.counts, (n * phases for n in tiling.outputs)
    number = (images[:, None] * rows + np.unique(h // high))[:, :, None] * columns + np.unique(w // wide)
    every = (np.arange(phases**2)[:, None] * p.output.shape[-1] + channels).reshape(-1)
    m = pull(0, (np.arange(tiling.points), number.reshape(-1), every))
    down, along = (a.astype(m.dtype) for a, _, _ in tiling.matrices)
    m = m.reshape(*tiling.sides, *number.shape, phases, phases, len(channels))
    y = np.einsum("wj,hjnrcpqk->nrhpcwqk", along, np.einsum("hi,ijnrcpqk->hjnrcpqk", down, m))
    y = y.reshape(len(images), number.shape[1] * high, number.shape[2] * wide, len(channels))
    return y[:, _within(h, high)][:, :, _within(w, wide)].reshape([len(at) for at in region])


def _within(positions: Positions, span: int) -> Positions:
    """Where `positions` lie among the tiles, each `span` long, that hold one of them."""
    return np.searchsorted(np.unique(positions // span), positions // span) * span + positions % span


def _output_write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    """A transposed convolution from the points to one channel, and a transposition that interleaves the phases."""
    tiling, phases, (n, height, width, k) = tiling_of(p), p.attr("phases"), as_image(p.output.shape)
    rows, columns = (count * each for count, each in zip(tiling.counts, tiling.outputs, strict=True))
    m = write_reshape(emit, names[0], (tiling.points, n, tiling.counts[0] * tiling.counts[1], phases**2 * k))
    m = emit.node("Transpose", [m], perm=(1, 3, 0, 2))
    m = write_reshape(emit, m, (n * phases**2 * k, tiling.points, *tiling.counts))
    down, along = tiling.matrices
    kernels = emit.const(_kernels(down[0].T, along[0].T, p))
    y = emit.node("ConvTranspose", [m, kernels], strides=tiling.outputs)
    y = write_reshape(emit, y, (n, phases, phases, k, rows, columns))
    y = emit.node("Transpose", [y], perm=(0, 4, 1, 5, 2, 3))
    y = write_reshape(emit, y, (n, rows * phases, columns * phases, k))
    starts = np.asarray(p.attr("skipped"), np.int64)
    ends, axes = starts + (height, width), np.asarray((1, 2), np.int64)
    image = [y, emit.const(starts), emit.const(ends), emit.const(axes)]
    if p.output.rank == 4:
        emit.node("Slice", image, p.output.name)
    else:
        write_reshape(emit, emit.node("Slice", image), p.output.shape, p.output.name)


def _output_reads(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    """Rows that are whole tiles, or begin or end with the output."""
    if p.output.rank != 4:
        return None
    tiling, (_, height, width, channels), (above, left) = tiling_of(p), p.output.shape, attrs["skipped"]
    each, columns = tiling.outputs[0] * attrs["phases"], tiling.counts[1]
    begin, end = (0 if span.begin == 0 else span.begin + above), span.end + above
    if span.axis != 1 or tiling.images != 1 or begin % each or (end % each and span.end < height):
        return None
    read = Span(1, begin // each * columns, -(-end // each) * columns)
    cut = {"shape": (1, span.length, width, channels), "skipped": (0 if begin else above, left)}
    return Part((read,), attrs | cut)


add(
    Op(
        "WinogradOutput",
        Category.LINEAR,
        _output_infer,
        _output,
        _output_write,
        reads=_output_reads,
        granule=lambda p: tiling_of(p).outputs[0] * p.attr("phases"),
        lead=lambda p: p.attr("skipped")[0],
        transforms=True,
        transforms_back=True,
        sparse=True,
        fan_in=lambda p: tiling_of(p).points,
    )
)
