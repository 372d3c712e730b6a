"""Rows: which elements of a tensor need the same elements of the reductions before it.

Where every reduction is read at one place for a row, a block of threads computes it and all of the row without storing
anything in between.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from korch.backends.cuda.triton.blocks import BlockTrace
from korch.backends.cuda.triton.maps import NO_TILE, MustStore, settled, step
from korch.backends.cuda.triton.program import TritonModule
from korch.backends.cuda.triton.stages import ReductionStage, is_stage
from korch.backends.cuda.triton.tiles import Tile, TileAxis
from korch.backends.maps.index import Index, Var, unflat
from korch.backends.maps.trace import Indices
from korch.ir.tensor import Tensor


@dataclass(frozen=True)
class Rows:
    """`targets` (of one shape) by rows `r`, each of `inner` elements `k`; `at` is the position of an element.

    `stages` are the reductions on the way, in order, each with the indices that a row reads it at. `along`: whether
    memory is contiguous within rows; `lines`: how many statements the trace has.
    """

    targets: tuple[Tensor, ...]
    r: Var
    inner: int
    at: Index
    stages: tuple[tuple[ReductionStage, Indices], ...]
    along: bool
    lines: int

    @property
    def longest(self) -> int:
        """The most elements of a row, of the targets or of a reduction."""
        return max(self.inner, *(s.length for s, _ in self.stages))

    @property
    def idx(self) -> Indices:
        return unflat(self.at, self.targets[0].shape)


def within(length: int) -> Var:
    """The variable that runs along so many elements of a row."""
    return Var(f"k{length}", 0, length)


def rows_of(program: TritonModule, targets: Sequence[Tensor]) -> Rows:
    """The rows of `targets`; MustStore names a reduction that must be stored before."""
    stages = [ReductionStage(p) for p in program.reach(targets) if is_stage(p)]
    axes, (_, reads) = settled(targets[0].size, lambda at: _walk(program, targets, stages, at))
    shared = _row_axes(axes, stages, reads)
    outer = [v for v in axes if v in shared]
    r = Var("r", 0, math.prod(v.extent for v in outer))
    inner = math.prod(v.extent for v in axes if v not in shared)
    at = _position(axes, outer, r, inner)
    trace, reads = _walk(program, targets, stages, at)
    bound = tuple((s, reads[s.p.output]) for s in stages if s.p.output in reads)
    return Rows(tuple(targets), r, inner, at, bound, _along(trace, r), len(trace.lines))


def _walk(
    program: TritonModule, targets: Sequence[Tensor], stages: Sequence[ReductionStage], at: Index
) -> tuple[BlockTrace, dict[Tensor, Indices]]:
    """A trace of the targets at `at` and of all stages, and the one place where each of these is read."""
    held = {s.p.output: "held" for s in stages}
    trace = program.trace(NO_TILE, held)
    idx = unflat(at, targets[0].shape)
    for t in targets:
        trace.value(t, idx)
    reads: dict[Tensor, Indices] = {}
    for s in reversed(stages):
        t = s.p.output
        places = {i for other, i in trace.reads if other == t}
        if len(places) > 1 or any(e.fetched for i in places for e in i):
            raise MustStore(t)
        if places:
            reads[t] = places.pop()
            s.value(trace, reads[t], Index.of(within(s.length)))
    return trace, reads


def _row_axes(axes: Sequence[Var], stages: Sequence[ReductionStage], reads: dict[Tensor, Indices]) -> set[Var]:
    """The variables that all stages are read by; MustStore names a stage with others, or more rows than elements."""
    used = {s: {v for e in reads[s.p.output] for v in e.vars()} for s in stages if s.p.output in reads}
    for s, own in used.items():
        if not own.issubset(axes):
            raise MustStore(s.p.output)
    rows = set[Var]().union(*used.values())
    count = math.prod(v.extent for v in rows)
    for s, own in used.items():
        if own != rows or count > s.p.output.size:
            raise MustStore(s.p.output)
    return rows


def _position(axes: Sequence[Var], outer: Sequence[Var], r: Var, inner: int) -> Index:
    """The position of the element of row `r` and of what runs within rows."""
    rest = [v for v in axes if v not in outer]
    place = dict(
        zip(outer, unflat(Index.of(r) if r.extent > 1 else Index(), tuple(v.extent for v in outer)), strict=True)
    )
    k = Index.of(within(inner)) if inner > 1 else Index()
    place |= dict(zip(rest, unflat(k, tuple(v.extent for v in rest)), strict=True))
    total, stride = Index(), 1
    for v in reversed(axes):
        total = total + place[v] * stride
        stride *= v.extent
    return total


def _along(trace: BlockTrace, r: Var) -> bool:
    """Whether the most is read contiguously within rows, not from row to row."""
    across = sum(load.tensor.size for load in trace.loads if step(load.at, r) == 1)
    along = sum(load.tensor.size for load in trace.loads if any(step(load.at, v) == 1 for v in load.at.vars() - {r}))
    return along >= across


def tile_of(rows: Rows, high: int, blocks: dict[int, int]) -> Tile:
    """Blocks of `high` rows, with `blocks` of each length that runs within rows."""
    return Tile((TileAxis(rows.r, high),), tuple(TileAxis(within(n), block) for n, block in blocks.items()))
