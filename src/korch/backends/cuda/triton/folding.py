"""How a tile folds what runs within its rows: all of it at once, or chunk by chunk into accumulators."""

from __future__ import annotations

from collections.abc import Sequence

from korch.backends.cuda.triton.blocks import BlockTrace
from korch.backends.cuda.triton.elementwise import TYPES
from korch.backends.cuda.triton.stages import FAR, ReductionStage
from korch.backends.cuda.triton.tiles import Tile, TileAxis

INDENT = "    "


def held_name(trace: BlockTrace, tile: Tile, expression: str, dtype: str) -> str:
    """A new name for one value a row."""
    name = trace.name(expression, dtype)
    trace.dims[name] = trace.dims_of(expression) - {len(tile.shape) - 1}
    return name


def fold(trace: BlockTrace, tile: Tile, axis: TileAxis, s: ReductionStage, v: str) -> str:
    """The fold of the values `v` along `axis`, one for each row."""
    if s.picks:
        best = _folded(trace, tile, s.fold, filled(trace, tile, axis, s, v), s.dtype)
        return _picked(trace, tile, s, best, v, axis.var.name, axis.mask if axis.masked else "", axis)
    return _folded(trace, tile, s.fold, filled(trace, tile, axis, s, v), s.dtype)


def fold_accumulated(trace: BlockTrace, tile: Tile, axis: TileAxis, s: ReductionStage, number: int) -> str:
    """The fold of a stage's accumulators."""
    names = accumulators(s, number)
    for name in names:
        trace.dims[name] = frozenset(range(len(tile.shape)))
    best = _folded(trace, tile, s.fold, names[0], s.dtype)
    return _picked(trace, tile, s, best, names[0], names[1], "", axis) if s.picks else best


def _folded(trace: BlockTrace, tile: Tile, function: str, values: str, dtype: str) -> str:
    return held_name(trace, tile, f"{function}({values}, {_last(tile)}, {len(tile.shape) > 1})", dtype)


def _picked(
    trace: BlockTrace, tile: Tile, s: ReductionStage, best: str, v: str, at: str, mask: str, axis: TileAxis
) -> str:
    """The first or the last of the positions `at` where the best value is; NaN is best of all."""
    hit = f"({v} == {best})" + (f" | ({v} != {v})" if s.p.inputs[0].is_float else "")
    hit = f"({hit}) & {mask}" if mask else hit
    values = trace.name(f"tl.where({hit}, {at}, {unset(s)})", "int32")
    values = _wide(trace, tile, axis, values, "int32")
    function = "folds.largest" if _last_one(s) else "folds.smallest"
    return trace.name(f"tl.cast({_folded(trace, tile, function, values, 'int32')}, tl.int64)", "int64")


def filled(trace: BlockTrace, tile: Tile, axis: TileAxis, s: ReductionStage, v: str) -> str:
    """The values `v` in a whole block along `axis`, neutral ones past its end."""
    if axis.masked:
        v = trace.name(f"tl.where({axis.mask}, {v}, {s.neutral})", s.dtype)
    return _wide(trace, tile, axis, v, s.dtype)


def _wide(trace: BlockTrace, tile: Tile, axis: TileAxis, v: str, dtype: str) -> str:
    if trace.dims.get(v) == frozenset(range(len(tile.shape))):
        return v
    shape = tile.shape_along(axis)
    return f"tl.broadcast_to({v}, {shape})" if v in trace.dims else f"tl.full({shape}, {v}, {TYPES[dtype]})"


def accumulators(s: ReductionStage, number: int) -> list[str]:
    """The names of what a stage's chunks are folded into."""
    return [f"best{number}", f"at{number}"] if s.picks else [f"acc{number}"]


def opened(tile: Tile, axis: TileAxis, s: ReductionStage, number: int) -> list[str]:
    """The statements before the loop."""
    shape = tile.shape_along(axis)
    names = accumulators(s, number)
    lines = [f"{names[0]} = tl.full({shape}, {s.neutral}, {TYPES[s.dtype]})"]
    return [*lines, f"{names[1]} = tl.full({shape}, {unset(s)}, tl.int32)"] if s.picks else lines


def accumulated(trace: BlockTrace, tile: Tile, axis: TileAxis, s: ReductionStage, number: int, v: str) -> list[str]:
    """The statements in the loop that fold the values `v` of a chunk."""
    names = accumulators(s, number)
    if not s.picks:
        values = filled(trace, tile, axis, s, v)
        return [f"{names[0]} = {s.meet(names[0], values)}"]
    best, at = names
    v = _wide(trace, tile, axis, v, s.dtype)
    better = f"({v} {'<' if s.low else '>'}{'=' * _last_one(s)} {best}) | ({at} == {unset(s)})"
    if s.p.inputs[0].is_float:
        better += f" | ({v} != {v})" if _last_one(s) else f" | (({v} != {v}) & ({best} == {best}))"
    if axis.masked:
        better = f"({better}) & {axis.mask}"
    lines = [f"better{number} = {better}", f"{at} = tl.where(better{number}, {axis.var.name}, {at})"]
    return [*lines, f"{best} = tl.where(better{number}, {v}, {best})"]


def unset(s: ReductionStage) -> int:
    """A position that is never chosen while there is another."""
    return -1 if _last_one(s) else FAR


def _last_one(s: ReductionStage) -> bool:
    return s.picks and bool(s.p.attr("select_last_index"))


def _last(tile: Tile) -> int:
    return len(tile.shape) - 1


def indented(lines: Sequence[str]) -> list[str]:
    return [INDENT + line for line in lines]
