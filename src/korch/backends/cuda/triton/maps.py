"""Launches that map, each element computed by itself: in blocks of the flat tensor, in rows, or in tiles where reads
and writes are contiguous along different axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from korch.backends.contract import Variant
from korch.backends.cuda.triton.blocks import BlockTrace
from korch.backends.cuda.triton.program import TritonModule, heavy, store
from korch.backends.cuda.triton.tiles import Tile, TileAxis, power_up
from korch.backends.maps.index import Atom, Clamp, Index, Mod, Var, flat, unflat
from korch.ir.tensor import Tensor

T = TypeVar("T")
NO_TILE = Tile(())
SHORT = 16
"""Elements of the contiguous axis below which rows are no better than the flat tensor."""
LARGE = 1 << 20


class MustStore(Exception):
    """A tensor that must be stored before others can be computed."""

    def __init__(self, tensor: Tensor) -> None:
        super().__init__(tensor.name)
        self.tensor = tensor


@dataclass(frozen=True)
class Mapping:
    """How a map is tiled: the tile, the position in the root that its variables stand for, and the launch's variant."""

    tile: Tile
    at: Index
    warps: int
    variant: Variant


def write_map(program: TritonModule, target: Tensor, how: Mapping) -> None:
    """Adds the launch that computes `target`."""
    trace, value = _traced(program, target, how.at, how.tile)
    array = program.target(target)
    body = [*trace.lines, store(trace, array, how.at, value)]
    program.function(program.reach((target,)), how.tile, body, how.warps)
    program.stored[target] = array


def _traced(program: TritonModule, target: Tensor, at: Index, tile: Tile = NO_TILE) -> tuple[BlockTrace, str]:
    trace = program.trace(tile, {})
    return trace, trace.value(target, unflat(at, target.shape))


def mappings(program: TritonModule, target: Tensor, multiprocessors: int) -> list[Mapping]:
    """The ways worth trying, the likely best first."""
    axes, (trace, _) = settled(target.size, lambda at: _traced(program, target, at))
    each = heavy(trace.lines)
    if across := _across(axes, trace):
        return [_tiled(axes, across, each, area) for area in (2048, 4096)]
    flat_ways = _flat(target.size, each, multiprocessors)
    if len(axes) < 2 or axes[-1].extent < SHORT:
        return flat_ways if target.size >= LARGE else flat_ways[:1]
    return [_rows(axes, each, multiprocessors), flat_ways[0]]


def settled(size: int, walk: Callable[[Index], tuple[BlockTrace, T]]) -> tuple[list[Var], tuple[BlockTrace, T]]:
    """Variables that together run over so many elements, as few as leave no division that more would resolve; and what
    the `walk` at their position gave."""
    extents = {"i": size}
    while True:
        axes = [Var(name, 0, n) for name, n in extents.items() if n > 1]
        found = walk(joined(axes))
        splits = {v: by for v, by in found[0].requests.splits.items() if v in extents}
        if not splits:
            return axes, found
        extents = parted(extents, splits)


def parted(extents: dict[str, int], splits: dict[str, int]) -> dict[str, int]:
    """The variables with those of `splits` replaced by an outer and an inner one."""
    result: dict[str, int] = {}
    for name, n in extents.items():
        parts = {name + "a": n // splits[name], name + "b": splits[name]} if name in splits else {name: n}
        result |= parts
    return result


def joined(axes: Sequence[Var]) -> Index:
    """The position in row-major order of `axes`."""
    return flat(tuple(map(Index.of, axes)), tuple(v.extent for v in axes))


def _flat(size: int, each: int, multiprocessors: int) -> list[Mapping]:
    """Blocks of the flat tensor; small tensors in smaller ones, so that every multiprocessor has some."""
    fair = power_up(-(-size // (2 * multiprocessors)))
    blocks = dict.fromkeys(max(min(128 * n, fair), 32) for n in (each, max(each // 2, 1)))
    ways: list[Mapping] = []
    for block in blocks:
        warps = min(max(block // 128, 1), 4)
        i = Var("i", 0, size)
        grid = (TileAxis(i, block),) if size > 1 else ()
        ways.append(
            Mapping(Tile(grid), Index.of(i) if size > 1 else Index(), warps, Variant("b{} w{}", numbers=(block, warps)))
        )
    return ways


def _rows(axes: Sequence[Var], each: int, multiprocessors: int) -> Mapping:
    """Blocks of some rows by some of the contiguous axis: only rows are divided."""
    last, rows = axes[-1], Var("r", 0, math.prod(v.extent for v in axes[:-1]))
    area = min(128 * each, max(power_up(rows.extent * last.extent // (2 * multiprocessors)), 64))
    wide = min(power_up(last.extent), area)
    if last.extent % wide and last.extent > 4 * SHORT:
        wide = max(wide // 4, SHORT)  # less hangs over the end
    high = min(max(area // wide, 1), power_up(rows.extent))
    warps = min(max(high * wide // 128, 1), 4)
    tile = Tile((TileAxis(rows, high), TileAxis(last, wide)))
    return Mapping(tile, joined((rows, last)), warps, Variant("r{}x{} w{}", numbers=(high, wide, warps)))


def _tiled(axes: Sequence[Var], across: Var, each: int, area: int) -> Mapping:
    """Tiles of the axis along which memory is read by that along which it is written."""
    last = axes[-1]
    area = min(area, 512 * each)
    wide = min(power_up(last.extent), 64 if area > 2048 else 32)
    high = min(power_up(across.extent), max(area // wide, 1))
    wide = min(power_up(last.extent), max(area // high, 1))
    warps = min(max(high * wide // 512, 1), 8)
    grid = [TileAxis(v) for v in axes[:-1] if v != across] + [TileAxis(across, high), TileAxis(last, wide)]
    return Mapping(Tile(tuple(grid)), joined(axes), warps, Variant("t{}x{} w{}", numbers=(high, wide, warps)))


def _across(axes: Sequence[Var], trace: BlockTrace) -> Var | None:
    """The axis along which the reads are contiguous, where that is not the one along which the writes are."""
    if len(axes) < 2 or axes[-1].extent < 4:
        return None
    for load in trace.loads:
        if abs(step(load.at, axes[-1])) > 1:
            for v in axes[:-1]:
                if step(load.at, v) == 1 and v.extent >= 4:
                    return v
    return None


def step(e: Index, v: Var) -> int:
    """How far `e` moves with `v`, as far as that is the same everywhere but at ends; 0 where it is not."""
    return sum(k * _step(atom, v) for atom, k in e.terms)


def _step(atom: Atom, v: Var) -> int:
    match atom:
        case Var():
            return int(atom == v)
        case Clamp(of):
            return step(of, v)
        case Mod(of, by) if by >= SHORT:
            return step(of, v)
        case _:
            return 0
