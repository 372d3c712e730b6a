"""Launches that reduce rows, and map what follows: in one go where rows fit into registers, else chunk by chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from korch.backends.contract import Variant
from korch.backends.cuda.triton.blocks import BlockTrace
from korch.backends.cuda.triton.folding import accumulated, fold, fold_accumulated, indented, opened
from korch.backends.cuda.triton.program import TritonModule, heavy, store
from korch.backends.cuda.triton.rows import Rows, tile_of, within
from korch.backends.cuda.triton.tiles import Tile, TileAxis, power_down, power_up
from korch.backends.maps.index import Index
from korch.ir.tensor import Tensor

LONGEST = 16384
"""Elements of a row that are held at once."""


@dataclass(frozen=True)
class Form:
    """Blocks of `high` rows by chunks of `wide` elements; `looped` where several chunks make a row."""

    high: int
    wide: int
    warps: int
    looped: bool

    @property
    def variant(self) -> Variant:
        form = "loop r{}x{} w{}" if self.looped else "r{}x{} w{}"
        return Variant(form, numbers=(self.high, self.wide, self.warps))


def forms(rows: Rows, multiprocessors: int) -> list[Form]:
    """The forms worth trying, the likely best first."""
    found = _along(rows, multiprocessors) if rows.along else _across(rows, multiprocessors)
    return list(dict.fromkeys(found))


def _along(rows: Rows, multiprocessors: int) -> list[Form]:
    """Rows that lie in memory one after another."""
    wide = power_up(rows.longest)
    each = 2 * heavy([""] * rows.lines)
    found: list[Form] = []
    if wide <= LONGEST:
        for area in (128 * each, 512 * each):
            high = _fair(rows, max(area // wide, 1), 2 * multiprocessors)
            found.append(Form(high, wide, _warps(high * wide, each), looped=False))
    if wide > LONGEST // 4:
        chunk = min(wide, 512 * each)
        found.append(Form(1, chunk, _warps(chunk, each), looped=True))
    return found


def _across(rows: Rows, multiprocessors: int) -> list[Form]:
    """Rows of which neighbours lie side by side in memory: blocks of at least a few."""
    wide = power_up(rows.longest)
    each = 2 * heavy([""] * rows.lines)
    found: list[Form] = []
    for most in (32, 16):
        high = _fair(rows, most, multiprocessors, least=8)
        if high * wide <= LONGEST:
            found.append(Form(high, wide, _warps(high * wide, each), looped=False))
        else:
            chunk = max(min(wide, 256 * each // high), 1)
            found.append(Form(high, chunk, _warps(high * chunk, each), looped=True))
    return found


def _fair(rows: Rows, most: int, blocks: int, least: int = 1) -> int:
    """How many rows to take at a time, so that there are so many blocks."""
    high = min(power_down(most), power_up(rows.r.extent))
    while high > least and rows.r.extent < high * blocks:
        high //= 2
    return high


def _warps(area: int, each: int) -> int:
    return min(max(power_up(area // (32 * each)), 1), 16)


def write_rows(program: TritonModule, rows: Rows, form: Form) -> None:
    """Adds the launch that computes the targets of `rows`."""
    lengths = [s.length for s, _ in rows.stages] + [rows.inner] * (rows.inner > 1)
    blocks = {n: min(power_up(n), form.wide if form.looped else power_up(n)) for n in lengths}
    shown = program.reach(rows.targets)
    writer = RowsWriter(program, rows, tile_of(rows, form.high, blocks))
    body = writer.looped() if form.looped else writer.at_once()
    program.function(shown, writer.tile, body, form.warps)
    program.stored |= writer.stored


class RowsWriter:
    """The body of a function on blocks of rows."""

    def __init__(self, program: TritonModule, rows: Rows, tile: Tile) -> None:
        self.program, self.rows, self.tile = program, rows, tile
        self.axes = {a.var.extent: a for a in tile.whole}
        self.held: dict[Tensor, str] = {}
        self.stored: dict[Tensor, str] = {}
        self.outer = program.trace(tile, self.held, "s")

    def at_once(self) -> list[str]:
        """Whole rows: what a reduction and what follows it both need is computed once."""
        trace = self.program.trace(self.tile, self.held)
        for s, idx in self.rows.stages:
            v = s.value(trace, idx, Index.of(within(s.length)))
            self.held[s.p.output] = s.end(trace, fold(trace, self.tile, self.axes[s.length], s, v), idx)
        stores = self.stores(trace)
        starts = [line for axis in self.tile.whole for line in self.tile.positions(axis)]
        return [*starts, *trace.lines, *stores]

    def looped(self) -> list[str]:
        """One pass over the rows for all reductions that do not wait for another, and one for the targets."""
        lines: list[str] = []
        for number, group in enumerate(groups(self.program, self.rows)):
            lines += self.accumulating(group, f"v{number}_")
            for i in group:
                self.close(i)
            lines += self.taken()
        return lines + self._targets()

    def accumulating(self, group: Sequence[int], stem: str, share: int = 0) -> list[str]:
        """The loop of some stages, all of one length, over all of it or a chunk `c` of so many elements."""
        stages = [self.rows.stages[i] for i in group]
        axis = self.axes[stages[0][0].length]
        trace = self.program.trace(self.tile, self.held, stem)
        trace.dims |= {name: self.outer.dims[name] for name in self.held.values() if name in self.outer.dims}
        body: list[str] = []
        for i, (s, idx) in zip(group, stages, strict=True):
            v = s.value(trace, idx, Index.of(axis.var))
            body += accumulated(trace, self.tile, axis, s, i, v)
        before = [line for i, (s, _) in zip(group, stages, strict=True) for line in opened(self.tile, axis, s, i)]
        return [*before, *self._loop(axis, [*trace.lines, *body], share)]

    def _loop(self, axis: TileAxis, body: Sequence[str], share: int = 0) -> list[str]:
        first = f"c * {share} + start" if share else "start"
        head = f"for start in range(0, {share or axis.var.extent}, {axis.block}):"
        return [head, *indented([*self.tile.positions(axis, start=first), *body])]

    def close(self, number: int) -> None:
        """Folds the accumulators of a stage."""
        s, idx = self.rows.stages[number]
        folded = fold_accumulated(self.outer, self.tile, self.axes[s.length], s, number)
        self.held[s.p.output] = s.end(self.outer, folded, idx)

    def taken(self) -> list[str]:
        """The outer statements since the last time."""
        new = self.outer.lines[self._done :]
        self._done = len(self.outer.lines)
        return new

    _done = 0

    def _targets(self) -> list[str]:
        if self.rows.inner == 1:
            stores = self.stores(self.outer)
            return [*self.taken(), *stores]
        trace = self.program.trace(self.tile, self.held)
        trace.dims |= {name: self.outer.dims[name] for name in self.held.values() if name in self.outer.dims}
        stores = self.stores(trace)
        return self._loop(self.axes[self.rows.inner], [*trace.lines, *stores])

    def stores(self, trace: BlockTrace) -> list[str]:
        """The statements that write the targets."""
        values = {t: trace.value(t, self.rows.idx) for t in self.rows.targets}
        self.stored = {t: self.program.target(t) for t in values}
        return [store(trace, self.stored[t], self.rows.at, value) for t, value in values.items()]


def groups(program: TritonModule, rows: Rows) -> list[list[int]]:
    """The stages by number; together those that fold as many elements and do not wait for each other."""
    found: list[list[int]] = []
    for i, (s, _) in enumerate(rows.stages):
        below = {p.output for p in program.reach((s.p.output,))}
        last = found[-1] if found else []
        fits = all(rows.stages[j][0].length == s.length and rows.stages[j][0].p.output not in below for j in last)
        if last and fits:
            last.append(i)
        else:
            found.append([i])
    return found
