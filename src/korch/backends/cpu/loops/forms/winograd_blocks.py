"""A convolution by Winograd's algorithm as one kernel: both transforms and the products of a block of tiles at a time.

Between the transforms lie 2.25 times what is read and what is made, of large images and volumes more than caches hold.
Of a block it stays in a core's own. A block is some tiles of one place in the plane through some frames of a volume: a
frame is transformed once for all windows that see it, and the windows of neighbouring frames are rows that overlap.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from korch.backends.cpu.c import Code, Function, Statements, Table
from korch.backends.cpu.c.tree import init_function
from korch.backends.cpu.loops import epilogue, sums, tile, winograd
from korch.backends.cpu.loops.caches import L2
from korch.backends.cpu.loops.epilogue import simd, thread_number
from korch.backends.cpu.loops.form import KernelForm
from korch.backends.cpu.loops.refusals import tensors_refusal
from korch.backends.cpu.loops.sums import Runs
from korch.backends.cpu.loops.tile import Group
from korch.backends.cpu.loops.turns import Loop, shared_out
from korch.backends.cpu.loops.writer import LINE, SMALL
from korch.backends.cpu.packed import FREE_PACKED, packed
from korch.ir.cone import Cone
from korch.ir.macs import total
from korch.ir.ops.winograd import Frames, Tiling, as_image, frames_of, tiling_of
from korch.ir.primitive import Primitive

ROOM = L2 * 3 // 4
"""Bytes of a block between the transforms."""
MOST = 64
"""Tiles, and frames, of a block: more would not be worth trying."""
INTO, BACK = 0.4, 0.3
"""Turns of a core that transforms take for a number between them."""
LOADED = 4
"""Rows, multiplied by constants, for which these take as long to come from a cache."""


@dataclass(frozen=True)
class Blocks:
    """The whole convolution, and of how many `tiles` and output frames, `deep`, a block is."""

    tiling: Tiling
    frames: Frames
    depth: int
    """Frames of a volume that is read."""
    channels: int
    made: int
    tiles: int
    deep: int

    @property
    def outputs(self) -> int:
        """Frames of a volume that is made."""
        return self.frames.outputs(self.depth)

    @property
    def volumes(self) -> int:
        return self.tiling.images // self.outputs

    @property
    def each(self) -> int:
        """Tiles of a frame."""
        rows, columns = self.tiling.counts
        return rows * columns

    @property
    def rows(self) -> int:
        """Rows of a product."""
        return self.tiles * self.deep

    @property
    def seen(self) -> int:
        """Frames that a block reads."""
        return self.frames.spanned(self.deep)

    @property
    def steps(self) -> int:
        return self.frames.taps * self.channels

    @property
    def columns(self) -> tuple[Group, ...]:
        return tile.groups(self.made)

    @property
    def room(self) -> int:
        """Columns with those that fill vectors up."""
        return sum(g.width for g in self.columns)

    @property
    def operand(self) -> int:
        """Floats from one point of what is multiplied to the next."""
        return _spread(self.seen * self.tiles * self.channels)

    @property
    def result(self) -> int:
        """Floats from one point of the products to the next."""
        return _spread(self.rows * self.room)

    @property
    def floats(self) -> int:
        """Between the transforms."""
        return self.tiling.points * (self.operand + self.result)

    @property
    def turns(self) -> tuple[int, int, int]:
        """Volumes, blocks along their frames, and blocks of a frame's tiles."""
        return self.volumes, -(-self.outputs // self.deep), -(-self.each // self.tiles)

    def cost(self, threads: int) -> float:
        """Turns of a core for the slowest thread, a point."""
        multiplied = self.steps * self.room / (2 * tile.registers().lanes) * (self.rows + LOADED)
        transformed = INTO * self.seen * self.tiles * self.channels + BACK * self.rows * self.made
        volumes, parts, blocks = self.turns
        return -(-volumes * parts * blocks // threads) * (multiplied + transformed)


def _spread(floats: int) -> int:
    """So many and a few more, in an odd number of lines: points that lie a power of two apart share sets of a
    cache."""
    return (-(-floats // LINE) | 1) * LINE


class WinogradForm:
    """Both transforms of a convolution with the products between them, and its epilogue."""

    priority = 20
    counts_elements = False

    def matches(self, cone: Cone) -> bool:
        """Whether the cone is such a convolution, with what follows it."""
        return [p.op for p in cone.primitives[:3]] == ["WinogradInput", "MatMul", "WinogradOutput"]

    def refusal(self, cone: Cone) -> str:
        """Why it is not built; empty if it is."""
        first, product, last, *rest = cone.primitives
        if first.output not in product.inputs[:1] or product.output not in last.inputs:
            return "a convolution by transforms stands alone"
        w = product.inputs[1]
        if not w.const or w.value is not None or last.attr("phases") > 1:
            return "computed weights, or a transposed convolution"
        if tiling_of(first).images == 1 and last.output.rank == 4:
            return "strips of one image keep what is between the transforms"
        return epilogue.refusal(last, rest) or tensors_refusal(cone)

    def generate(self, cone: Cone, threads: int) -> Code:
        """C for the whole convolution and its epilogue."""
        first, _, last, *_ = cone.primitives
        threads = threads if total(cone.linear) > SMALL else 1
        blocks, text = blocks_of(cone, threads), epilogue.begun(cone, first.inputs[0])
        points, streamed = blocks.tiling.points, epilogue.streams(cone)
        text.add(
            f"float *const between = (float *)workspace + {thread_number(threads)} * INT64_C({blocks.floats});",
            f"float *const products = between + {points * blocks.operand};",
        )
        loops = [Loop(name, n) for name, n in zip(("volume", "part", "block"), blocks.turns, strict=True)]
        with shared_out(text, loops, threads, total(cone.linear)):
            text.add(
                f"const int begin = KORCH_MIN(part * {blocks.deep}, {blocks.outputs - blocks.deep});",
                f"const int tile0 = KORCH_MIN(block * {blocks.tiles}, {blocks.each - blocks.tiles});",
            )
            _into(text, first, blocks)
            functions = _products(text, blocks)
            _back(text, cone, last, blocks, streamed)
        declarations = [
            _packing(blocks, cone.leaves.index(cone.primitives[1].inputs[1])),
            FREE_PACKED,
            *winograd.patch_functions(first, blocks.operand),
            *functions,
        ]
        return epilogue.code(cone, text, threads, streamed, declarations, 4 * blocks.floats * threads)


def blocks_of(cone: Cone, threads: int) -> Blocks:
    """The cheapest blocks that a core's cache holds; the smallest where it holds none."""
    options = sorted(_options(cone), key=lambda b: b.floats)
    near = [b for b in options if 4 * b.floats <= ROOM]
    return min(near or options[:1], key=lambda b: b.cost(threads))


def _options(cone: Cone) -> Iterator[Blocks]:
    first, product, *_ = cone.primitives
    tiling, frames, depth = tiling_of(first), frames_of(first), winograd.depth_of(first)
    rows, columns = tiling.counts
    for tiles in range(1, min(rows * columns, MOST) + 1):
        for deep in range(1, min(frames.outputs(depth), MOST) + 1):
            yield Blocks(tiling, frames, depth, first.inputs[0].shape[-1], product.output.shape[-1], tiles, deep)


@contextmanager
def _tiles(text: Statements, blocks: Blocks, frames: int) -> Generator[None]:
    """The loops over a block's tiles in so many frames."""
    columns = blocks.tiling.counts[1]
    with (
        text.block(f"for (int d = 0; d < {frames}; ++d)"),
        text.block(f"for (int t = 0; t < {blocks.tiles}; ++t)"),
    ):
        text.add(f"const int row = (tile0 + t) / {columns}, column = (tile0 + t) % {columns};")
        yield


def _into(text: Statements, p: Primitive, blocks: Blocks) -> None:
    """The patches of the block, point by point; in each frame by frame."""
    frames = blocks.frames
    with _tiles(text, blocks, blocks.seen):
        text.add(
            f"const int frame = begin * {frames.stride} - {frames.before} + d;",
            f"float *const v = between + (d * {blocks.tiles} + t) * {blocks.channels};",
        )
        winograd.add_patch(text, p)


def _products(text: Statements, blocks: Blocks) -> list[Function]:
    """The products of every point, group of columns by group; gives the functions that it calls."""
    frames, channels = blocks.frames, blocks.channels
    together = blocks.deep if frames.stride == 1 else 1  # frames whose rows are alike far apart
    inner = _run(channels)
    runs, functions = Runs(channels // inner, inner, inner, 1), dict[str, Function]()
    with text.block(f"for (int point = 0; point < {blocks.tiling.points}; ++point)"):
        for number, at, group in sums.alike(blocks.columns):
            with _groups(text, number):
                text.add(
                    f"const int column = {at} + group * {group.width};",
                    f"const float *b = (const float *)state + (point * {blocks.room} + column) * {blocks.steps};",
                )
                with text.block(f"for (int d = 0; d < {blocks.deep // together}; ++d)"):
                    for low, end, height in tile.runs(blocks.tiles * together, len(group.lanes)):
                        name = f"tile{height}_{'_'.join(map(str, group.lanes))}"
                        functions[name] = sums.function(name, height, channels, runs, group)
                        with text.block(f"for (int r = {low}; r < {end}; r += {height})"):
                            _add_tile(text, blocks, together, group)
                            sums.add(text, name, runs, group)
    return list(functions.values())


def _add_tile(text: Statements, blocks: Blocks, together: int, group: Group) -> None:
    """Declares the operand, result and windows of a tile from row r on; rows count through `together` frames."""
    frames, channels = blocks.frames, blocks.channels
    text.add(
        f"const float *const own = between + point * {blocks.operand} "
        f"+ (d * {frames.stride * blocks.tiles} + r) * {channels};",
        f"float *const y = products + point * {blocks.result} + {blocks.rows} * column "
        f"+ (d * {blocks.tiles * together} + r) * {group.width};",
        f"enum {{ first = 0, last = {frames.taps}, plane = 0 }};",
        f"enum {{ line = {frames.dilation * blocks.tiles * channels} }};",
    )


def _groups(text: Statements, number: int) -> AbstractContextManager[None]:
    """The loop over so many groups of columns that are alike."""
    return text.block(f"for (int group = 0; group < {number}; ++group)")


def _run(channels: int) -> int:
    """So many of the channels are added up in one go."""
    return next(n for n in range(min(channels, tile.LONGEST), 0, -1) if channels % n == 0)


def _back(text: Statements, cone: Cone, p: Primitive, blocks: Blocks, streamed: bool) -> None:
    """The block's outputs, with their epilogue."""
    tiling, (_, height, width, _) = blocks.tiling, as_image(p.output.shape)
    high, wide = tiling.outputs
    with _tiles(text, blocks, blocks.deep):
        text.add(
            f"const int image = volume * {blocks.outputs} + begin + d;",
            f"const int top = row * {high}, left = column * {wide};",
        )
        for number, at, group in sums.alike(blocks.columns):
            with _groups(text, number):
                text.add(
                    f"enum {{ count = {group.columns} }};",
                    f"const int c0 = {group.first} + group * {group.width};",
                    f"const float *restrict m = products + {blocks.rows} * ({at} + group * {group.width}) "
                    f"+ (d * {blocks.tiles} + t) * {group.width};",
                    f"float to[{high * wide * group.width}] __attribute__((aligned(64)));",
                )
                simd(text, winograd.back_sandwich(p, blocks.result, lambda i, j, g=group: (i * wide + j) * g.width))
                with (
                    text.block(f"for (int h = top; h < KORCH_MIN(top + {high}, {height}); ++h)"),
                    text.block(f"for (int w = left; w < KORCH_MIN(left + {wide}, {width}); ++w)"),
                ):
                    text.add(f"const float *restrict z = to + ((h - top) * {wide} + w - left) * {group.width};")
                    epilogue.store(text, cone, p, streamed, of=group.columns)


def _packing(blocks: Blocks, leaf: int) -> Function:
    """State: [points, steps, made] point by point, in each group by group of columns, each step by step."""
    groups = ", ".join(f"{{{g.first}, {g.columns}, {g.width}}}" for g in blocks.columns)
    size = 4 * blocks.tiling.points * blocks.steps * blocks.room
    text = Statements()
    text.add(
        f"const float *w = in[{leaf}];",
        f"float *to = *state = korch_aligned({size});",
        "if (!to) return 1;",
        Table("int", "groups", (groups,), "[][3]"),
        f"for (int point = 0; point < {blocks.tiling.points}; ++point)",
        f"  for (int g = 0; g < {len(blocks.columns)}; ++g)",
        f"    for (int k = 0; k < {blocks.steps}; ++k)",
    )
    with text.block("      for (int n = 0; n < groups[g][2]; ++n)"):
        text.add(
            f"const int64_t at = (int64_t)(point * {blocks.steps} + k) * {blocks.made} + groups[g][0] + n;",
            "*to++ = n < groups[g][1] ? w[at] : 0.0f;",
        )
    text.add(packed(size))
    return init_function(text.body)


FORM: KernelForm = WinogradForm()
