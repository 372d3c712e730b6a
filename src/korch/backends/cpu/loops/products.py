"""Cones with one matrix product: which the loops take, what is stored before it, and the blocks that a thread computes.

A block is some rows by some columns of the product. What follows the product reads the block while it is in a cache;
what precedes it, and does more than move elements, is stored for a block at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

from korch.backends.cpu.loops import tile
from korch.backends.cpu.loops.binding import Config, Place, Schedule, Stage, is_product, is_reduction
from korch.backends.cpu.loops.block import LEAST, block_of, packs
from korch.backends.cpu.loops.caches import L2
from korch.backends.cpu.loops.schedule import settled
from korch.backends.cpu.loops.turns import helped
from korch.backends.cpu.loops.vector_epilogue import vector_epilogue_of
from korch.backends.cpu.loops.writer import LINE
from korch.backends.maps.index import Var
from korch.ir.cone import Cone
from korch.ir.ops.table import rearranges, selects
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.system.processor import computes_512_bits_at_once

NEAR = 1 << 16
"""Bytes of a block's result: it is read again at once."""
SPREAD = 1 << 17
"""Bytes over which a block's result may lie where others fill the rows between: those come while the lines are near.
(18 groups of 16 columns, 16384 rows: 2.9 instead of 5.8 ms on Granite Rapids.)"""
MOST_STORED = 1 << 18
"""Bytes of stored operands from which on they are stored for some steps at a time. (16 x 17 numbers, each of 16384
steps, in 12 heads: 1.5 instead of 1.95 ms.)"""
PIECE = min(64 if computes_512_bits_at_once() else 256, tile.LONGEST)
"""So many steps then. (On Granite Rapids those products take 1.15 ms by 64 steps, 1.59 by 128, 1.79 by 256.)"""
RAGGED = 1.03
"""By how much a block of columns must be cheaper to be packed in other groups than the widest: programs of a model for
several shapes hold a matrix once where all pack it alike. (An encoder of four layers: 33.6 MB, for 14 lengths 50.1; so
28.3 for one and for all.)"""
UNEVEN = 1.05
"""What threads take longer that have too few blocks to help each other: on shared processors one is always slower. (Two
threads on Zen 3, medians in turn: 3136 rows of 64 steps for 64 columns 122 -> 148 GFLOP/s by blocks enough, 197 of 768
for 768 143 -> 161, 196 of 512 for 1024 158 -> 168, of 1024 for 512 162 and 158; of thirteen shapes three were slower,
by 3% at most.)"""
CROSSING = 8
"""Steps that a line takes which another core has stored. (At 190 GB/s for both cores 6, at 75 GB/s 15.)"""
AFAR = 0.4
"""Steps that a number of the first operand takes where it comes from beyond a core's own caches: once, or for each
group of columns. (1444 rows of 1024 steps for 512 columns in blocks of 76 rows: 9.8 instead of 11.5 ms on Zen 3, with
half a megabyte of second-level cache; 16384 of 384 for 96 in blocks of 128 6.8, of 512 7.7.)"""
TRIED = 8
"""Blocks, the cheapest first, of which one must do."""
CLEARLY = 1.5
"""How many times cheaper blocks must be for which more is stored."""


def product_of(cone: Cone) -> Primitive | None:
    """The cone's matrix product, a pointwise convolution included, where it is its only linear primitive."""
    if len(cone.linear) != 1 or not is_product(cone.linear[0]):
        return None
    p = cone.linear[0]
    return p if p.spec.is_product or _is_pointwise(p) else None


def refusal(cone: Cone, place: Place | None = None) -> str:
    """Why the loops do not build a cone with a product; empty if they do."""
    p = product_of(cone)
    if p is None:
        return "not one product"
    if any(is_reduction(q) for q in cone.primitives):
        return f"{p.op} with a reduction"
    if p.output.dtype != "float32" or min(t.rank for t in p.inputs) < 2:
        return f"{p.op} of {p.output.dtype} or of a vector"
    groups = p.attr("group") if p.spec.is_convolution else 1
    rows, packed = p.output.size // p.output.shape[-1], cone.behind_views(p.inputs[1], rearranges).const
    if min(p.output.shape[-1] // groups, p.inputs[0].shape[-1] // groups, LEAST if packed else rows) < LEAST:
        return f"{p.op} with fewer than {LEAST} columns or steps, or rows where the second operand is computed"
    return "" if planned(cone, 1, place) else f"{p.op}: its operands do not lie as tiles need them"


@lru_cache(maxsize=1024)
def planned(cone: Cone, threads: int, place: Place | None = None) -> Schedule | None:
    """The cheapest blocks for so many threads, of what stores least where that is near the cheapest; None where tiles
    cannot compute the product."""
    fused = (True, False) if vector_epilogue_of(cone, cone.linear[0]) else (False,)
    best: tuple[float, Schedule] | None = None
    for kept, fuse in product(_kept(cone), fused):
        found = _cheapest(settled(cone, Config(kept=kept, fused=fuse, place=place)), threads)
        if found and (best is None or CLEARLY * found[0] < best[0]):
            best = found
    return _in_pieces(best[1]) if best else None


def _in_pieces(plan: Schedule) -> Schedule:
    """`plan` with both operands stored for some steps at a time, where all of them would leave the cache."""
    product, stored = plan.stages[-1], sum(s.stored * 4 for s in plan.stages[:-1])
    steps = product.reds[0].extent if product.multiplies else 0
    if steps <= PIECE or steps % PIECE or stored < MOST_STORED:
        return plan
    found = settled(plan.cone, replace(plan.config, piece=PIECE))
    block = block_of(found, found.stages[-1]) if found.pieces and found.independent else None
    return found if block and block.second else plan


def _cheapest(plan: Schedule, threads: int) -> tuple[float, Schedule] | None:
    """The first of the cheapest blocks that tiles can compute."""
    packed = packs(plan, _stage(plan))

    def cost(option: Option) -> tuple[float, int]:
        seconds, size = option.cost(threads)
        return seconds * (RAGGED if packed and option.ragged else 1.0), size

    for option in sorted(_options(plan, threads), key=cost)[:TRIED]:
        found = settled(plan.cone, option.config(plan.config))
        block = block_of(found, _stage(found)) if found.hoisted or option.divided else None
        if block and not (option.divided and block.others):
            return option.cost(threads)[0], found
    return None


def _is_pointwise(p: Primitive) -> bool:
    window = p.inputs[1].shape[2:]
    return bool(p.attr("channels_last")) and set(window) == {1} and not any(p.attr("pads"))


def _stage(plan: Schedule) -> Stage:
    return next(s for s in plan.stages if s.multiplies)


def _kept(cone: Cone) -> Iterator[frozenset[Tensor]]:
    """What is stored before the product, the least first: what is computed, and what is sliced from it; then operands
    whose elements lie wrong."""
    x, w = cone.linear[0].inputs
    computed = cone.behind_views(x, rearranges)
    second = {w} if cone.behind_views(w, rearranges) in cone.makers else set[Tensor]()
    sliced = set[Tensor]() if cone.behind_views(x, selects) in cone.leaves else {computed}
    ways = (sliced | second, {computed} | second, {computed, w}, {x, w})
    yield from dict.fromkeys(frozenset(way & set(cone.makers)) for way in ways)


# Blocks -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AxisPart:
    """How much of an axis a block takes: whole loops `whole`, and the innermost `by` turns of the loop `cut`."""

    length: int
    blocks: int
    whole: tuple[str, ...] = ()
    cut: tuple[str, int] | None = None


@dataclass(frozen=True)
class Option:
    """A block's rows and columns, and what surrounds them. `pitch`: floats from one row of the result to the next."""

    rows: AxisPart
    columns: AxisPart
    others: int
    steps: int
    stored: bool
    pitch: int
    divided: bool = False

    @property
    def fits(self) -> bool:
        narrow = self.columns.blocks == 1 or self.columns.length % LINE == 0
        near = 4 * self.rows.length * self.columns.length <= NEAR * (1 if self.stored else 4)
        shared = self.columns.length * self.columns.blocks < self.pitch
        near &= not shared or 4 * self.rows.length * self.pitch <= SPREAD
        return narrow and (near or self.rows.length <= LEAST)

    @property
    def ragged(self) -> bool:
        """Whether groups of columns are narrower than they might be."""
        most = tile.registers().abreast * tile.registers().lanes
        every = self.columns.length * self.columns.blocks
        return every % most == 0 and self.columns.length % most != 0

    def cost(self, threads: int) -> tuple[float, int]:
        """Steps of vectors that the slowest thread takes, as many loads for a tile at least, and what comes from the
        caches for them; then the smaller block."""
        blocks = self.rows.blocks * self.columns.blocks * self.others
        groups = tile.groups(self.columns.length)
        multiplied, loaded = 0.0, AFAR * self.rows.length * (len(groups) if self._spills else 1)
        for group in groups:
            for begin, end, rows in tile.runs(self.rows.length, len(group.lanes)):
                step = max(rows * group.cost, rows + len(group.lanes), tile.DEEP)
                multiplied += (end - begin) // rows * step
            loaded += 4 * group.cost + self.rows.length / 8
        turn = self.steps * (multiplied + loaded) + 200
        size = self.rows.length * self.columns.length
        even = threads == 1 or (not self.divided and helped(blocks, threads, blocks * size * self.steps))
        return -(-blocks // threads) * turn * (1 if even else UNEVEN) + self._crossing(threads), size

    @property
    def _spills(self) -> bool:
        """Whether a core's cache has no room for what every group of columns reads and for the result."""
        each = -(-self.steps // -(-self.steps // tile.LONGEST))
        return 4 * self.rows.length * (each + self.columns.length) > L2 // 2

    def _crossing(self, threads: int) -> float:
        """What lines take that another core has stored: who has some of the columns reads all rows, and stores into
        lines that have been stored by rows."""
        if threads == 1 or self.columns.blocks == 1 or self.others > 1:
            return 0.0
        rows, columns = self.rows.length * self.rows.blocks, self.columns.length * self.columns.blocks
        return CROSSING * (1 - 1 / threads) * rows * (self.steps + columns / threads) / LINE

    def config(self, config: Config) -> Config:
        """`config` with the block left to the stages."""
        cuts = [part.cut for part in (self.rows, self.columns) if part.cut]
        names = {*self.rows.whole, *self.columns.whole, *(f"{name}b" for name, _ in cuts)}
        grounded = config.grounded | names
        return replace(config, splits=(*config.splits, *cuts), grounded=grounded, divided=self.divided)


def _options(plan: Schedule, threads: int) -> Iterator[Option]:
    """Every block that is whole loops of the product and a part of one; and one a thread, by constants, of rows that
    have no such part for each, or of the columns of few rows."""
    s = _stage(plan)
    at, groups = s.axes[-1].vars(), s.source[-1].vars()
    own = [v for v in plan.hoisted if v in at]
    columns = [v for v in own if v not in groups]
    reach = [i.vars() for i in s.source[:-1]]
    rows = [v for v in plan.hoisted if v not in at and any(v in some for some in reach[_batch(s) :])]
    inner = s.tensor.shape[-1] // _turns(own)
    if inner * _turns(own) != s.tensor.shape[-1]:
        return
    others = _turns([v for v in plan.hoisted if v not in (*rows, *columns)])
    below = [v for v in s.loops if v not in at]
    pitch = _pitch(plan, s, [*rows, *below])
    for row in _parts(rows, _turns(below)):
        for column in _parts(columns, inner):
            option = Option(row, column, others, s.reds[0].extent, not s.root, pitch)
            if option.fits:
                yield option
            whole = row.blocks == column.blocks == others == 1
            if not whole or len(plan.stages) > 1 or not packs(plan, s):
                continue
            if row.length < LEAST:
                yield replace(option, columns=_share(column, threads), divided=True)
            elif row.length % threads and row.length >= LEAST * threads:
                divided = replace(option, rows=_share(row, threads), divided=True)
                if divided.fits:
                    yield divided


def _share(part: AxisPart, threads: int) -> AxisPart:
    return replace(part, length=-(-part.length // threads), blocks=threads)


def _pitch(plan: Schedule, s: Stage, rows: list[Var]) -> int:
    """Floats from one row of the root to the next; 0 for what is stored on the way to it."""
    return plan.destination(s).coefficient(rows[-1]) or 0 if s.root and rows else 0


def _batch(s: Stage) -> int:
    """Axes of the first operand that the second has, too."""
    return s.maker.inputs[0].rank - 2 if s.maker.spec.is_product and s.maker.inputs[1].rank > 2 else 0


def _parts(loops: list[Var], inner: int) -> Iterator[AxisPart]:
    """The innermost loops whole, then so many turns of the next."""
    total = _turns(loops)
    whole: tuple[str, ...] = ()
    yield AxisPart(inner, total)
    for v in reversed(loops):
        for by in range(2, v.extent):
            if v.extent % by == 0:
                yield AxisPart(inner * by, total // by, whole, (v.name, by))
        inner, total, whole = inner * v.extent, total // v.extent, (*whole, v.name)
        yield AxisPart(inner, total, whole)


def _turns(loops: list[Var]) -> int:
    return math.prod(v.extent for v in loops)
