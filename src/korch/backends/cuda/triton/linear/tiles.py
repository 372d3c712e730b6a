"""Which tiles are worth trying for a product: a model of a multiprocessor that prunes what it predicts to be slow.

A block of threads computes a tile of rows x columns, some steps at a time. The blocks run in waves over the
multiprocessors, as many side by side on each as its shared memory and registers hold. A turn of one multiprocessor
takes the longest of three: the arithmetic at the rate of the precision, what the tiles read of the second-level cache,
and a load's latency divided by the stages in flight; and what a lone block waits at its barriers. Where there are
fewer tiles than multiprocessors the steps are split; the partial sums then cost their way through the cache and a
second launch.

To choose tiles, the rates are those of an H100, whose ratios are what counts: only tiles of one precision are
compared. The model of costs (`korch.profile.roofline`) asks with the rates of its device.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from korch.backends.contract import Variant
from korch.backends.cuda.triton.linear.product import Size
from korch.backends.precision import THRICE
from korch.devices import LAUNCH

RATES = {"ieee": 0.5e12, "tf32x3": 1.2e12, "bf16x3": 2.0e12, "tf32": 3.7e12, "fp16": 7.5e12, "bf16": 7.5e12}
"""Operations a second of one multiprocessor."""
CACHE = 4.3e10
"""Bytes a second that one multiprocessor reads of the second-level cache."""
LATENCY, TURN, START = 0.7e-6, 0.1e-6, 1.0e-6
"""Seconds: of a load; in which a block only waits, each turn; until its first turn and after its last."""
SHARED, MOST_SHARED = 220 << 10, 160 << 10
"""Bytes of a multiprocessor's shared memory, and what one block may take."""
REGISTERS, OWN = 65536, 72
"""Of a multiprocessor; and what a thread needs beside its sums."""
SUMS = {"ieee": 64, "tf32x3": 64, "bf16x3": 64, "tf32": 128, "fp16": 128, "bf16": 128}
"""Sums that a thread may hold."""
SIDES, DEPTHS, WARPS, STAGES = (16, 32, 64, 128, 256), (16, 32, 64), (2, 4, 8), (3, 4, 5)
LEAST_DEPTH = {"bf16x3": 32, "fp16": 32, "bf16": 32}
"""The least depth of a tile, where that is more than the least of all: half of it fills one instruction."""
FEED = 32
"""A tile of n x n keeps the arithmetic busy for n / (n + 2 FEED) of the time: the rest waits for operands."""
WIDE, NARROWED = 64, 0.6
"""Rows from which on four warps multiply as one, and the rate of tensor cores without that."""
LEAST_SUMS = {2: 4, 4: 16, 8: 32}
"""Of a thread, by warps: smaller tiles are left to fewer."""
PAIR = 2048
"""The largest tile that is left to two warps."""
UNROLLED = 2048
"""Multiply-adds of a thread in one turn, where they are instructions of their own."""
KEPT, ALIKE = 3, 2
"""Tiles to try, and how many of them may have the same sides."""
PADDED = 1.2
"""How much more than the channels the steps of a tap may be, before taps and channels are one axis."""
MOST_PARTS = 64
"""Of the steps; the second launch adds them one after another."""


@dataclass(frozen=True)
class Multiprocessor:
    """`rates`: operations a second by precision; `cache`: bytes a second of the second-level cache."""

    rates: Mapping[str, float]
    cache: float


H100 = Multiprocessor(RATES, CACHE)


@dataclass(frozen=True, slots=True)
class ProductTile:
    """`rows` x `columns` of the result for a block, `depth` steps a turn, the turns in so many `parts`."""

    rows: int
    columns: int
    depth: int
    warps: int
    stages: int
    parts: int = 1

    def variant(self, precision: str) -> Variant:
        """Of the kernel whose products are in `precision`."""
        numbers = (self.rows, self.columns, self.depth, self.warps, self.stages, self.parts)
        return Variant("{}x{}x{} w{} s{} k{}", precision, numbers)

    def shared(self, precision: str, widths: tuple[int, int]) -> int:
        """Bytes of shared memory: of all stages, and of the halves that three products in parts are made of."""
        return (self.stages + (precision in THRICE)) * self.loaded(widths)

    def loaded(self, widths: tuple[int, int]) -> int:
        """Bytes of both factors that a turn reads; `widths`: bytes of an element of each."""
        return (self.rows * widths[0] + self.columns * widths[1]) * self.depth

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


def chosen(size: Size, multiprocessors: int, precision: str) -> tuple[ProductTile, ...]:
    """The tiles worth trying, the best by the model first."""
    found = {
        t: (seconds(t, size, multiprocessors, precision), -t.stages) for t in _tiles(size, multiprocessors, precision)
    }
    kept: list[ProductTile] = []
    for tile in sorted(found, key=lambda t: found[t]):
        like = [t for t in kept if (t.rows, t.columns) == (tile.rows, tile.columns)]
        if len(like) < ALIKE and all(replace(t, stages=tile.stages) != tile for t in like):
            kept.append(tile)
    return tuple(kept[:KEPT])


def seconds(tile: ProductTile, size: Size, multiprocessors: int, precision: str, rates: Multiprocessor = H100) -> float:
    """Seconds by the model, without the first launch."""
    together = _together(tile, precision, size.widths)
    waves, rest = divmod(tile.blocks(size), multiprocessors * together)
    turns = tile.turns(size) // tile.parts
    last = math.ceil(rest / multiprocessors)
    total = waves * _wave(tile, turns, together, precision, size.widths, rates)
    total += _wave(tile, turns, last, precision, size.widths, rates) if last else 0.0
    return total + _joining(tile, size, multiprocessors * rates.cache)


def _together(tile: ProductTile, precision: str, widths: tuple[int, int]) -> int:
    """Blocks that a multiprocessor runs side by side."""
    registers = 32 * tile.warps * (tile.sums + OWN)
    return max(1, min(SHARED // tile.shared(precision, widths), REGISTERS // registers, 8))


def _wave(
    tile: ProductTile, turns: int, side: int, precision: str, widths: tuple[int, int], rates: Multiprocessor
) -> float:
    """Seconds for one block on each multiprocessor, or for `side` blocks."""
    area, edge = tile.rows * tile.columns, tile.rows + tile.columns
    arithmetic = 2 * area * tile.depth / _rate(tile, precision, rates) * (area + FEED * edge) / area
    loaded = tile.loaded(widths) / rates.cache
    turn = max(side * arithmetic, side * loaded, LATENCY / (tile.stages - 1)) + TURN / side
    return START + turns * turn + side * 4 * area / rates.cache


def _rate(tile: ProductTile, precision: str, rates: Multiprocessor) -> float:
    wide = tile.rows >= WIDE and tile.warps % 4 == 0
    return rates.rates[precision] * (1.0 if wide or precision == "ieee" else NARROWED)


def _joining(tile: ProductTile, size: Size, cache: float) -> float:
    """Seconds of the second launch, and of partial sums on their way through the cache."""
    if tile.parts == 1:
        return 0.0
    moved = 8.0 * tile.parts * size.batch * size.rows * size.columns
    return LAUNCH + START + moved / cache


def _tiles(size: Size, multiprocessors: int, precision: str) -> Iterator[ProductTile]:
    """Every tile that fits the device and is not mostly beyond the product."""
    rows, columns = _sides(size.rows), _sides(size.columns)
    least = LEAST_DEPTH.get(precision, DEPTHS[0])
    depths = [d for d in DEPTHS if least <= d < 2 * size.steps or d == least]
    for r, c, d, warps, stages in product(rows, columns, depths, WARPS, STAGES):
        tile = ProductTile(r, c, d, warps, stages)
        if tile.shared(precision, size.widths) <= MOST_SHARED and _busy(tile, precision):
            yield tile
            yield from _split(tile, size, multiprocessors)


def _busy(tile: ProductTile, precision: str) -> bool:
    """Whether each thread has enough sums, and not too many."""
    if tile.warps == 2 and tile.rows * tile.columns > PAIR:
        return False
    if precision == "ieee" and tile.sums * tile.depth > UNROLLED:
        return False
    return LEAST_SUMS[tile.warps] <= tile.sums <= SUMS[precision]


def _sides(length: int) -> list[int]:
    return [n for n in SIDES if n < 2 * length or n == SIDES[0]]


def _split(tile: ProductTile, size: Size, multiprocessors: int) -> Iterator[ProductTile]:
    """The tile with its turns in equal parts, as long as two of them fit on a multiprocessor."""
    turns, most = tile.turns(size), 2 * multiprocessors // tile.blocks(size)
    for parts in range(2, min(most, turns, MOST_PARTS) + 1):
        if turns % parts == 0:
            yield replace(tile, parts=parts)
