"""Reductions of few long rows, shared out: chunks give partial results, which are folded in an order that is fixed."""

from __future__ import annotations

from korch.backends.cuda.triton.folding import fold, fold_accumulated
from korch.backends.cuda.triton.program import TritonModule, store
from korch.backends.cuda.triton.reductions import RowsWriter, groups
from korch.backends.cuda.triton.rows import Rows, within
from korch.backends.cuda.triton.tiles import Tile, TileAxis, power_up
from korch.backends.maps.index import Index, Var
from korch.ir.tensor import Tensor

ArrayNames = dict[Tensor, str]

CHUNK = 2048
"""Elements that a block of threads folds at a time."""
MOST = 1024
"""Chunks of a row: as many partial results are folded by one block of threads."""
LARGE = 1 << 16
"""Elements from which on sharing out may be worth two more launches."""


def chunks_of(program: TritonModule, rows: Rows, multiprocessors: int) -> int:
    """Into how many chunks to cut the rows; 1 where there are enough rows, or little in them."""
    length = rows.stages[0][0].length
    if rows.inner != 1 or len(groups(program, rows)) > 1 or any(s.picks for s, _ in rows.stages):
        return 1
    if rows.r.extent * length < LARGE:
        return 1
    blocks = -(-rows.r.extent // _high(rows))
    return max(min(2 * multiprocessors // blocks, -(-length // _wide(rows)), MOST), 1)


def _high(rows: Rows) -> int:
    return 1 if rows.along else min(power_up(rows.r.extent), 32)


def _wide(rows: Rows) -> int:
    return min(CHUNK // _high(rows), power_up(rows.stages[0][0].length))


def write_split(program: TritonModule, rows: Rows, chunks: int) -> None:
    """Adds the launches that fold every chunk, and then what the chunks gave; stores the targets."""
    length, wide = rows.stages[0][0].length, _wide(rows)
    share = -(-length // (chunks * wide)) * wide
    c = Var("c", 0, -(-length // share))
    at = Index.of(c) * rows.r.extent + (Index.of(rows.r) if rows.r.extent > 1 else Index())
    shown = program.reach(rows.targets)
    partial = {s.p.output: program.place(s.dtype, c.extent * rows.r.extent) for s, _ in rows.stages}
    along = TileAxis(within(length), wide, open=c.extent * share != length)
    tile = Tile((TileAxis(rows.r, _high(rows)), TileAxis(c)), (along,))
    program.function(shown, tile, _chunk(program, rows, tile, partial, at, share), 4)
    tile = Tile((TileAxis(rows.r, min(_high(rows), 8)),), (TileAxis(c, power_up(c.extent)),))
    stored = {t: program.target(t) for t in rows.targets}
    program.function(shown, tile, _together(program, rows, tile, partial, at, stored), 4)
    program.stored |= stored


def _chunk(program: TritonModule, rows: Rows, tile: Tile, partial: ArrayNames, at: Index, share: int) -> list[str]:
    """One chunk of some rows."""
    writer = RowsWriter(program, rows, tile)
    lines = writer.accumulating(range(len(rows.stages)), "v", share)
    for i, (s, _) in enumerate(rows.stages):
        folded = fold_accumulated(writer.outer, tile, tile.whole[0], s, i)
        writer.outer.lines.append(store(writer.outer, partial[s.p.output], at, folded))
    return [*lines, *writer.outer.lines]


def _together(
    program: TritonModule, rows: Rows, tile: Tile, partial: ArrayNames, at: Index, stored: ArrayNames
) -> list[str]:
    """What all chunks of some rows gave."""
    held: ArrayNames = {}
    trace = program.trace(tile, held)
    for s, idx in rows.stages:
        language = trace.language
        text = f"tl.load({partial[s.p.output]} + ({language.index(at)}){language.masked(at)})"
        folded = fold(trace, tile, tile.whole[0], s, trace.name(text, s.dtype))
        held[s.p.output] = s.end(trace, folded, idx)
    stores = [store(trace, array, rows.at, trace.value(t, rows.idx)) for t, array in stored.items()]
    return [*tile.positions(tile.whole[0]), *trace.lines, *stores]
