"""Winograd's transforms as C: a tile at a time, vectors along the channels, everything behind the output's fused."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from itertools import chain, pairwise
from math import ceil, isinf
from operator import le

from korch.backends.cpu.c import Code, Function, Linkage, Statement, Statements, Table, own
from korch.backends.cpu.c.tree import Declaration
from korch.backends.cpu.loops import epilogue
from korch.backends.cpu.loops.caches import L1, L2, WAYS, lines_in_a_set
from korch.backends.cpu.loops.epilogue import simd, thread_number
from korch.backends.cpu.loops.matrices import Lines, sandwich, sandwich_in_passes
from korch.backends.cpu.loops.tile import registers
from korch.backends.cpu.loops.turns import TRANSFORM, Loop, shared_out
from korch.backends.cpu.loops.writer import LINE
from korch.ir.cone import Cone
from korch.ir.ops.winograd import as_image, frames_of, tiling_of
from korch.ir.primitive import Primitive
from korch.system.processor import streams_ahead

STREAMS = 0.75 * streams_ahead()
"""Places that a core reads or writes by turns; the rest of what its cache looks ahead for are rows of the image. (Two
threads of a Cascade Lake. Into 36 places of 56x56x128 229 us, into twice 18 of them 128; out of them 315 and 250, of
52x52x256 961 and 647. Where the result stays in the second level, as in strips, a tile of 12 channels 119 and 98 ns.)
"""
TOGETHER = 8 * LINE
"""Floats that one of 36 places gets at a time. Places are often whole pages apart, and then share one set of the
first-level cache: lines that are stored by turns to more of them than it has room for wait for each other. (Into
F(4, 3), two threads of a Zen 5, one, two, four, eight vectors at a time: 56x56x128 63, 55, 36, 37 us, a strip of 28
tiles of 512 channels 71, 67, 47, 29. With vectors of 8, one to 16: 151, 86, 59, 41, 44 and 196, 124, 111, 72, 31.)"""
PIECE = 8 << 10
"""Bytes that each place has until its part is done, so that the next finds what it reads in the cache."""
KEPT = 128 << 10
"""Bytes of half sums that wait for the other half."""
OF_PIECE = "for (int tile = begin; tile < end; ++tile)"
"""The loop over the tiles of a piece."""
Place = Callable[[object, object], str]
"""C for the address of a number by its row and column, numbers or C."""

# The input's side ------------------------------------------------------------------------------------------------


def into(cone: Cone, p: Primitive, threads: int) -> Code:
    """C for the input's transform alone."""
    frames, channels, parts = frames_of(p), p.inputs[0].shape[-1], _parts(p)
    outputs, several = frames.outputs(depth_of(p)), len(parts) > 1
    text = epilogue.begun(cone, p.inputs[0])
    tiles = _tiles_by_parts(text, p, threads, len(parts)) if several else _tiles(text, p, threads)
    with tiles, text.block(f"for (int tap = 0; tap < {frames.taps}; ++tap)"):
        text.add(
            f"const int volume = image / {outputs};",
            f"const int frame = image % {outputs} * {frames.stride} - {frames.before} + tap * {frames.dilation};",
            f"float *const v = out + (tile * {frames.taps} + tap) * {channels};",
        )
        add_patch(text, p, "part" if several else "0")
    return epilogue.code(cone, text, threads, declarations=patch_functions(p, _place_stride(p), parts))


def _parts(p: Primitive) -> list[range]:
    """Rows of the result whose places are written together. (In two passes each row is by itself.)"""
    high, wide = tiling_of(p).sides
    count = 1 if _vectors(p, _place_stride(p)) else max(ceil(high * wide / STREAMS), 1)
    ends = [round(high * i / count) for i in range(count + 1)]
    return [range(a, b) for a, b in pairwise(ends)]


def _place_stride(p: Primitive) -> int:
    """Floats from one place of the result to the next."""
    return tiling_of(p).tiles * p.output.shape[-1]


@contextmanager
def _tiles_by_parts(text: Statements, p: Primitive, threads: int, parts: int) -> Generator[None]:
    """The loops over pieces of the tiles, over parts of the result, and over a piece's tiles."""
    with (
        _pieces(text, p, threads, max(PIECE // (4 * p.output.shape[-1]), 1)),
        text.block(f"for (int part = 0; part < {parts}; ++part)"),
        text.block(OF_PIECE),
    ):
        _place(text, p)
        yield


def depth_of(p: Primitive) -> int:
    """Frames of a volume; an image is one."""
    return p.inputs[0].shape[1] if p.inputs[0].rank == 5 else 1


def add_patch(text: Statements, p: Primitive, part: str = "0") -> None:
    """The statements that transform the patch at (row, column) of a `frame` of a `volume` into v, or a part of it; what
    of the patch lies beyond an edge is zero."""
    tiling, (_, height, width, channels), depth = tiling_of(p), as_image(p.inputs[0].shape), depth_of(p)
    (high, wide), (down, along) = tiling.sides, tiling.steps
    top, left = p.attr("pads")[:2]
    text.add(
        f"const int h = row * {down} - {top}, w = column * {along} - {left};",
        f"const float *const seen = x + (volume * {depth} + frame) * INT64_C({height * width * channels});",
        f"const int whole = h >= 0 && h + {high} <= {height} && w >= 0 && w + {wide} <= {width};",
    )
    with text.block(f"if (whole && frame >= 0 && frame < {depth})"):
        text.add(f"{own('patch')}(seen + (h * {width} + w) * {channels}, {width * channels}, v, {part});")
    if _inside(p):
        return
    with text.block("else"):
        text.add(f"const float *at[{high * wide}];")
        with text.block(f"for (int i = 0; i < {high * wide}; ++i)"):
            text.add(
                f"const int y = h + i / {wide}, z = w + i % {wide};",
                f"const int seen_there = frame >= 0 && frame < {depth} "
                f"&& y >= 0 && y < {height} && z >= 0 && z < {width};",
                f"at[i] = seen_there ? seen + (y * {width} + z) * {channels} : {own('zeros')};",
            )
        text.add(f"{own('edge')}(at, v, {part});")


def _inside(p: Primitive) -> bool:
    """Whether no patch reaches over an edge."""
    tiling, (_, height, width, _) = tiling_of(p), as_image(p.inputs[0].shape)
    ends = ((n - 1) * step + side for n, step, side in zip(tiling.counts, tiling.steps, tiling.sides, strict=True))
    return p.inputs[0].rank == 4 and not any(p.attr("pads")[:2]) and all(map(le, ends, (height, width)))


def patch_functions(p: Primitive, step: int, parts: Sequence[range] = ()) -> list[Declaration]:
    """The functions B^T d B for one patch, rows `row` floats apart, and for one whose places lie where `at` says;
    positions of the result are `step` floats apart. Of several `parts`, rows of the result, they make the one with the
    number `part`. (Copies of what reaches over an edge took longer than to transform it.)"""
    channels, wide = p.inputs[0].shape[-1], tiling_of(p).sides[1]

    def function(name: str, patch: str, place: Place) -> Function:
        body = _patch_body(p, step, parts, place)
        return Function(name, f"{patch}, float *restrict v, int part", body, linkage=Linkage.INLINE)

    whole = function("patch", "const float *restrict d, int row", lambda i, j: f"d + {i} * row + {j} * {channels}")
    if _inside(p):
        return [whole]
    edge = function("edge", "const float *const *restrict at", lambda i, j: f"at[{i} * {wide} + {j}]")
    return [whole, Table("float", "zeros", ("0",), f"[{channels}]"), edge]


def _patch_body(p: Primitive, step: int, parts: Sequence[range], place: Place) -> tuple[Statement, ...]:
    """The body of one of these, `place` giving the address of row i and column j of the patch."""
    tiling, channels = tiling_of(p), p.inputs[0].shape[-1]
    (_, _, down), (_, _, along) = tiling.matrices
    side = tiling.sides[1]
    text = Statements()
    text.add("int from = 0;", "(void)part;")
    vectors = _vectors(p, step)
    for lanes in vectors:
        most = max(min(TOGETHER, L1 * 2 // 3 // (4 * side * side)) // lanes, 1)
        with text.block(f"for (int parts; from + {lanes} <= {channels}; from += parts * {lanes})"):
            text.add(
                f"parts = KORCH_MIN({most}, ({channels} - from) / {lanes});",
                *sandwich_in_passes(
                    along,
                    lanes,
                    most,
                    lambda i, j: f"{place(i, j)} + from",
                    lambda i, j: f"v + ({i} * {side} + {j}) * {step} + from",
                ),
            )
    if vectors and channels % vectors[-1] == 0:
        return text.body
    for number, rows in enumerate(parts or [range(len(down))]):
        lines = Lines()
        names = sandwich(lines, down[rows.start : rows.stop], along, lambda i, j: f"({place(i, j)})[c]")
        stores = [f"v[{i * step} + c] = {name};" for i, name in enumerate(chain(*names), rows.start * side)]
        with text.block(f"if (part == {number})"):
            text.add("#pragma omp simd")
            with text.block(f"for (int c = from; c < {channels}; ++c)"):
                text.add(*lines.lines, *stores)
    return text.body


def _vectors(p: Primitive, step: int) -> list[int]:
    """Vectors that are transformed in two passes, the longest first: all columns of a patch, by way of the first-level
    cache, then row by row, to few places at a time, which are `step` floats apart. Where registers are few, as
    compilers keep little of 36 numbers in those; else where places crowd in a set of the cache (others take as long in
    one pass, 16 numbers in 32 registers 50 us instead of 90). None where cores look ahead for few streams, and parts of
    the result are made one after another."""
    tiling, channels, found = tiling_of(p), p.inputs[0].shape[-1], list[int]()
    crowded = isinf(STREAMS) and lines_in_a_set(tiling.points, step) > WAYS
    lanes = registers().lanes if all(tiling.along) and (registers().few or crowded) else 0
    while lanes >= 4:
        if channels >= lanes:
            found.append(lanes)
            channels %= lanes
        lanes //= 2
    return found


# The output's side -----------------------------------------------------------------------------------------------


def back(cone: Cone, p: Primitive, threads: int) -> Code:
    """C for the output's transform and its epilogue."""
    tiling, (high, wide), (_, height, width, channels) = tiling_of(p), _span(p), as_image(p.output.shape)
    (top, left), every = p.attr("skipped"), p.attr("phases") ** 2 * channels
    source, step = f"x + tile * {every} + c0", tiling.tiles * every
    text, most, streamed = epilogue.begun(cone, p.inputs[0]), _kept(p), epilogue.streams(cone)
    tiles = _tiles_by_halves(text, p, threads, most, source, step) if most else _tiles(text, p, threads)
    with tiles:
        text.add(f"const int top = row * {high} - {top}, left = column * {wide} - {left};")
        with epilogue.blocks(text, "c0", channels) as block:
            text.add(f"float y[{high * wide * block}] __attribute__((aligned(64)));")
            if _short(p):
                place = _phases_at_once(text, p, source, step)
            else:
                place = _phases(text, p, source, step, "y", block, _halves(p)[1] if most else None)
            with (
                text.block(f"for (int h = KORCH_MAX(top, 0); h < KORCH_MIN(top + {high}, {height}); ++h)"),
                text.block(f"for (int w = KORCH_MAX(left, 0); w < KORCH_MIN(left + {wide}, {width}); ++w)"),
            ):
                text.add("const int i = h - top, j = w - left;", f"const float *restrict z = y + ({place}) * {block};")
                epilogue.store(text, cone, p, streamed, of=channels)
    return epilogue.code(cone, text, threads, streamed, workspace=4 * most * high * wide * channels * threads)


def _kept(p: Primitive) -> int:
    """Tiles of which half of the places are read first, where they are too many to read by turns and come from beyond a
    core's own caches; else 0."""
    rows, columns = _span(p)
    if tiling_of(p).points <= STREAMS or p.inputs[0].nbytes <= L2 or _short(p):
        return 0
    return max(KEPT // (4 * rows * columns * p.output.shape[-1]), 1)


def _halves(p: Primitive) -> tuple[range, range]:
    """Rows of places."""
    high = tiling_of(p).sides[0]
    return range(high // 2), range(high // 2, high)


@contextmanager
def _tiles_by_halves(
    text: Statements, p: Primitive, threads: int, most: int, source: str, step: int
) -> Generator[None]:
    """The loops over pieces of at most so many tiles, and over a piece's tiles. Before the second, the sums over the
    first half of the places, of every tile of the piece, are `kept`."""
    (high, wide), channels = _span(p), p.output.shape[-1]
    each = high * wide * channels
    with _pieces(text, p, threads, most):
        text.add(f"float *const kept = (float *)workspace + {thread_number(threads)} * INT64_C({most * each});")
        with text.block(OF_PIECE), epilogue.blocks(text, "c0", channels):
            _phases(text, p, source, step, f"kept + (tile - begin) * {each} + c0", channels, _halves(p)[0])
        with text.block(OF_PIECE):
            _place(text, p)
            yield


def _span(p: Primitive) -> tuple[int, int]:
    """Rows and columns of the output that a tile makes with all its phases."""
    rows, columns = tiling_of(p).outputs
    return rows * p.attr("phases"), columns * p.attr("phases")


def _short(p: Primitive) -> bool:
    """Whether a phase's channels do not fill the vectors that those of all phases fill."""
    return p.attr("phases") > 1 and p.output.shape[-1] < LINE


def _phases(
    text: Statements, p: Primitive, first: str, step: int, result: str, stride: int, half: range | None = None
) -> str:
    """A^T m A for every phase, to `result` with its places `stride` floats apart; positions of m are `step` floats
    apart. Of its rows all, or a `half`: what is kept of the first is added to the second. Gives the place in the
    result, in C, of row i and column j of what the tile makes."""
    phases, (high, span), channels = p.attr("phases"), _span(p), p.output.shape[-1]
    second = half is not None and half.start > 0

    def more(i: int, j: int) -> str:
        return f" + more[{(i * span + j) * phases * channels} + c]" if second else ""

    with text.block(f"for (int phase = 0; phase < {phases * phases}; ++phase)"):
        text.add(
            f"const float *restrict m = {first} + phase * {channels};",
            f"const int at = phase / {phases} * {span} + phase % {phases};",
            f"float *restrict to = {result} + at * {stride};",
        )
        if second:
            start = f"kept + (tile - begin) * {high * span * channels} + c0"
            text.add(f"const float *restrict more = {start} + at * {channels};")
        simd(text, back_sandwich(p, step, lambda i, j: (i * span + j) * phases * stride, half, more))
    return f"i * {span} + j"


def _phases_at_once(text: Statements, p: Primitive, first: str, step: int) -> str:
    """The same for all phases side by side, as they are in m."""
    (_, tile), phases, every = tiling_of(p).outputs, p.attr("phases"), p.attr("phases") ** 2 * p.output.shape[-1]
    with text.block():
        text.add(f"const int count = {every};", f"const float *restrict m = {first};", "float *restrict to = y;")
        simd(text, back_sandwich(p, step, lambda i, j: (i * tile + j) * every))
    return f"((i / {phases} * {tile} + j / {phases}) * {phases} + i % {phases}) * {phases} + j % {phases}"


def back_sandwich(
    p: Primitive,
    step: int,
    place: Callable[[int, int], int],
    half: range | None = None,
    more: Callable[[int, int], str] = lambda i, j: "",
) -> list[str]:
    """A^T m A of one channel c, from m, whose positions are `step` floats apart, to the places from `to` on. `half`:
    the rows of m of which it is the sum; `more`: what is added, in C."""
    tiling, lines = tiling_of(p), Lines()
    (down, _, _), (along, _, _) = tiling.matrices
    rows = half or range(tiling.sides[0])
    names = sandwich(
        lines,
        down[:, rows.start : rows.stop],
        along,
        lambda i, j: f"m[{((rows.start + i) * tiling.sides[1] + j) * step} + c]",
    )
    return [
        *lines.lines,
        *(f"to[{place(i, j)} + c] = {name}{more(i, j)};" for i, row in enumerate(names) for j, name in enumerate(row)),
    ]


# Both ------------------------------------------------------------------------------------------------------------


@contextmanager
def _pieces(text: Statements, p: Primitive, threads: int, most: int) -> Generator[None]:
    """The loop over pieces of at most so many tiles, from `begin` to `end`."""
    tiles = tiling_of(p).tiles
    pieces = -(-tiles // (threads * most)) * threads
    with shared_out(text, (Loop("piece", pieces),), threads, TRANSFORM * p.output.size):
        text.add(
            f"const int begin = (int)(INT64_C({tiles}) * piece / {pieces});",
            f"const int end = (int)(INT64_C({tiles}) * (piece + 1) / {pieces});",
        )
        yield


@contextmanager
def _tiles(text: Statements, p: Primitive, threads: int) -> Generator[None]:
    """The loop over tiles, and where each lies."""
    with shared_out(text, (Loop("tile", tiling_of(p).tiles),), threads, TRANSFORM * p.output.size):
        _place(text, p)
        yield


def _place(text: Statements, p: Primitive) -> None:
    """Where a tile lies."""
    rows, columns = tiling_of(p).counts
    text.add(f"const int column = tile % {columns}, row = tile / {columns} % {rows};")
    text.add(f"const int image = tile / {rows * columns};")
