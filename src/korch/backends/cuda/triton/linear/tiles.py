"""Which tiles are worth trying for a product: a model of a multiprocessor that prunes what it predicts to be slow.

A block of threads computes a tile of rows x columns, some steps at a time. The blocks run in waves over the
multiprocessors, as many side by side on each as its shared memory and registers hold. A turn of one multiprocessor
takes the longest of three: the arithmetic at the rate of the precision, what the tiles read of the second-level cache,
and a load's latency divided by the stages in flight. Where there are fewer tiles than multiprocessors the steps are
split; the partial sums then cost their way through the cache and a second launch.

The rates are those of an H100, whose ratios are what counts: only tiles of one precision are compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from korch.backends.cuda.triton.linear.product import Size

RATES = {"ieee": 0.5e12, "tf32x3": 1.2e12, "tf32": 3.7e12, "fp16": 7.5e12, "bf16": 7.5e12}
"""Operations a second of one multiprocessor."""
CACHE = 4.3e10
"""Bytes a second that one multiprocessor reads of the second-level cache."""
LATENCY, START, LAUNCH = 0.7e-6, 1.0e-6, 2.5e-6
"""Seconds: of a load; until a block's first turn and after its last; of another launch."""
SHARED, MOST_SHARED = 220 << 10, 160 << 10
"""Bytes of a multiprocessor's shared memory, and what one block may take."""
REGISTERS, OWN = 65536, 72
"""Of a multiprocessor; and what a thread needs beside its sums."""
SUMS = {"ieee": 64, "tf32x3": 64, "tf32": 128, "fp16": 128, "bf16": 128}
"""Sums that a thread may hold."""
SIDES, DEPTHS, WARPS, STAGES = (16, 32, 64, 128, 256), (16, 32, 64), (2, 4, 8), (2, 3, 4, 5)
FEED = 32
"""A tile of n x n keeps the arithmetic busy for n / (n + 2 FEED) of the time: the rest waits for operands."""
KEPT, ALIKE = 5, 2
"""Tiles to try, and how many of them may have the same sides."""
PADDED = 1.2
"""How much more than the channels the steps of a tap may be, before taps and channels are one axis."""
MOST_PARTS = 64
"""Of the steps; the second launch adds them one after another."""


@dataclass(frozen=True, slots=True)
class Tile:
    """`rows` x `columns` of the result for a block, `depth` steps a turn, the turns in so many `parts`."""

    rows: int
    columns: int
    depth: int
    warps: int
    stages: int
    parts: int = 1

    def __str__(self) -> str:
        return f"{self.rows}x{self.columns}x{self.depth} w{self.warps} s{self.stages} k{self.parts}"

    @property
    def shared(self) -> int:
        """Bytes of shared memory that the stages take."""
        return 4 * self.stages * (self.rows + self.columns) * self.depth

    @property
    def sums(self) -> int:
        return self.rows * self.columns // (32 * self.warps)

    def grid(self, size: Size) -> tuple[int, int]:
        """Tiles along the rows and the columns."""
        return math.ceil(size.rows / self.rows), math.ceil(size.columns / self.columns)

    def blocks(self, size: Size) -> int:
        return math.prod(self.grid(size)) * size.batch * self.parts

    def by_taps(self, size: Size) -> bool:
        """Whether each turn lies within one tap: its positions are then computed once for all of its channels."""
        return size.taps > 1 and math.ceil(size.inner / self.depth) * self.depth <= PADDED * size.inner

    def turns(self, size: Size) -> int:
        """Of all parts together."""
        if self.by_taps(size):
            return size.taps * math.ceil(size.inner / self.depth)
        return math.ceil(size.steps / self.depth)


def chosen(size: Size, multiprocessors: int, precision: str) -> tuple[Tile, ...]:
    """The tiles worth trying, the best by the model first."""
    ranked = sorted(_tiles(size, multiprocessors, precision), key=lambda t: seconds(t, size, multiprocessors, precision))
    kept: list[Tile] = []
    for tile in ranked:
        if sum((t.rows, t.columns) == (tile.rows, tile.columns) for t in kept) < ALIKE:
            kept.append(tile)
        if len(kept) == KEPT:
            break
    return tuple(kept)


def seconds(tile: Tile, size: Size, multiprocessors: int, precision: str) -> float:
    """What the model predicts."""
    together = _together(tile)
    waves, rest = divmod(tile.blocks(size), multiprocessors * together)
    turns = tile.turns(size) // tile.parts
    last = math.ceil(rest / multiprocessors)
    total = sum(n * _wave(tile, turns, side, precision) for n, side in ((waves, together), (min(last, 1), last)))
    return total + _joining(tile, size, multiprocessors)


def _together(tile: Tile) -> int:
    """Blocks that a multiprocessor runs side by side."""
    registers = 32 * tile.warps * (tile.sums + OWN)
    return max(1, min(SHARED // tile.shared, REGISTERS // registers, 8))


def _wave(tile: Tile, turns: int, side: int, precision: str) -> float:
    """Seconds for one block on each multiprocessor, or for `side` blocks."""
    area, edge = tile.rows * tile.columns, tile.rows + tile.columns
    arithmetic = 2 * area * tile.depth / RATES[precision] * (area + FEED * edge) / area
    loaded = 4 * edge * tile.depth / CACHE
    turn = max(side * arithmetic, side * loaded, LATENCY / (tile.stages - 1))
    return START + turns * turn + side * 4 * area / CACHE


def _joining(tile: Tile, size: Size, multiprocessors: int) -> float:
    """Seconds that partial sums take on their way through the cache."""
    if tile.parts == 1:
        return 0.0
    moved = 8.0 * tile.parts * size.batch * size.rows * size.columns
    return LAUNCH + moved / (CACHE * multiprocessors)


def _tiles(size: Size, multiprocessors: int, precision: str) -> Iterator[Tile]:
    """Every tile that fits the device and is not mostly beyond the product."""
    rows, columns = _sides(size.rows), _sides(size.columns)
    depths = [d for d in DEPTHS if d < 2 * size.steps or d == DEPTHS[0]]
    for r, c, d, warps, stages in product(rows, columns, depths, WARPS, STAGES):
        tile = Tile(r, c, d, warps, stages)
        if tile.shared <= MOST_SHARED and 4 <= tile.sums <= SUMS[precision]:
            yield tile
            yield from _split(tile, size, multiprocessors)


def _sides(length: int) -> list[int]:
    return [n for n in SIDES if n < 2 * length or n == SIDES[0]]


def _split(tile: Tile, size: Size, multiprocessors: int) -> Iterator[Tile]:
    """The tile with its turns in equal parts, as long as two of them fit on a multiprocessor."""
    turns, most = tile.turns(size), 2 * multiprocessors // tile.blocks(size)
    for parts in range(2, min(most, turns, MOST_PARTS) + 1):
        if turns % parts == 0:
            yield replace(tile, parts=parts)
