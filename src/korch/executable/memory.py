"""Where every tensor of a plan lives: one arena planned from lifetimes, the caller's buffers, or the weights.

The packing is the offset calculation that TensorFlow Lite and TVM use (Pisarchyk and Lee, "Efficient Memory
Management for Deep Neural Net Inference", 2020): largest block first, each into the smallest gap that fits.
"""

from __future__ import annotations

import sys
from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import product

from korch.executable.plan import Plan
from korch.ir.tensor import Tensor

ALIGNMENT = 64
INPUT_ALIGNMENT = 16
"""Of the caller's inputs, which are only read: what numpy gives. Others are copied first."""


class Room(IntEnum):
    """Whose memory a tensor lives in; the values are those of `korch_room` in model.c."""

    ARENA = 0
    WEIGHTS = 1
    INPUT = 2
    OUTPUT = 3


@dataclass(frozen=True, slots=True)
class Place:
    """A tensor's memory. `at`: a byte offset in the arena, or which constant (of the plan), input or output it is."""

    room: Room
    at: int


@dataclass(frozen=True, slots=True)
class Copy:
    """Bytes moved at the end of a run into output number `output`, from where `tensor` lives."""

    tensor: Tensor
    output: int


@dataclass(frozen=True, slots=True)
class Block:
    """Bytes that must not move or be shared from step `first` to step `last`, both included."""

    size: int
    first: int
    last: int

    def meets(self, other: Block) -> bool:
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class MemoryPlan:
    """`places` of all tensors; the arena offset of each step's workspace (0 where it has none); the final copies.

    `lower_bound` is the most bytes that are alive at once: no arena is smaller.
    """

    places: Mapping[Tensor, Place]
    workspaces: tuple[int, ...]
    copies: tuple[Copy, ...]
    arena_bytes: int
    lower_bound: int


def plan_memory(plan: Plan) -> MemoryPlan:
    """Lays out all tensors of `plan`. Inputs and weights are never written; the caller gives the output buffers."""
    owner = _owners(plan)
    places = _outside(plan, owner)
    copies = tuple(Copy(t, k) for k, t in enumerate(plan.graph.outputs)
                   if t.size and places[owner[t]] != Place(Room.OUTPUT, k))  # fmt: skip
    tenants = _lifetimes(plan, owner, places)
    rooms = [(k, Block(_aligned(s.kernel.workspace), k, k)) for k, s in enumerate(plan.steps)
             if s.kernel.workspace and not s.idle]  # fmt: skip
    blocks = [*tenants.values(), *(b for _, b in rooms)]
    offsets = pack_blocks(blocks)
    places |= {t: Place(Room.ARENA, at) for t, at in zip(tenants, offsets, strict=False)}
    workspaces = dict(zip((k for k, _ in rooms), offsets[len(tenants) :], strict=True))
    return MemoryPlan(
        {t: places.get(o, Place(Room.ARENA, 0)) for t, o in owner.items()},
        tuple(workspaces.get(k, 0) for k in range(len(plan.steps))), copies,
        max((at + b.size for at, b in zip(offsets, blocks, strict=True)), default=0), live_bytes(blocks),
    )  # fmt: skip


def _owners(plan: Plan) -> dict[Tensor, Tensor]:
    """Each tensor with the one whose bytes it is: itself, or what its chain of aliases starts from."""
    owner = {t: t for t in (*plan.graph.inputs, *plan.constants)}
    for step in plan.steps:
        owner |= {t: owner[step.reads[0]] if step.kernel.alias else t for t in step.outputs}
    return owner


def _outside(plan: Plan, owner: Mapping[Tensor, Tensor]) -> dict[Tensor, Place]:
    """The places of owners outside the arena. The first output of a group of aliases lends the group its buffer."""
    ends = [(owner[t], Place(Room.OUTPUT, k)) for k, t in enumerate(plan.graph.outputs)]
    places = dict(reversed(ends))
    places |= {t: Place(Room.INPUT, k) for k, t in enumerate(plan.graph.inputs)}
    return places | {t: Place(Room.WEIGHTS, k) for k, t in enumerate(plan.constants)}


def _lifetimes(plan: Plan, owner: Mapping[Tensor, Tensor], outside: Mapping[Tensor, Place]) -> dict[Tensor, Block]:
    """The owners that live in the arena, from the step that writes them to the last that reads one of their aliases."""
    span: dict[Tensor, tuple[int, int]] = {}
    for number, step in enumerate(plan.steps):
        if step.idle:
            continue
        for t in {owner[t] for t in (*step.reads, *step.outputs)}:
            span[t] = (span.get(t, (number, 0))[0], number)
    return {t: Block(_aligned(t.nbytes), *s) for t, s in span.items() if t.size and t not in outside}


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def live_bytes(blocks: Sequence[Block]) -> int:
    """The most bytes alive at any step."""
    change: dict[int, int] = defaultdict(int)
    for b in blocks:
        change[b.first] += b.size
        change[b.last + 1] -= b.size
    alive = most = 0
    for step in sorted(change):
        alive += change[step]
        most = max(most, alive)
    return most


ORDERS: tuple[Callable[[Block], tuple[int, ...]], ...] = (
    lambda b: (-b.size, b.first),
    lambda b: (-b.size * (b.last - b.first + 1), b.first),
    lambda b: (b.first, -b.size),
    lambda b: (b.first - b.last, -b.size),
)


def pack_blocks(blocks: Sequence[Block]) -> tuple[int, ...]:
    """An offset for each block, no two that meet overlapping: the best of several greedy orders. O(n^2)."""
    bound, best, best_end = live_bytes(blocks), (0,) * len(blocks), -1
    for ceiling, order in product((0, bound), ORDERS):
        offsets = _place(blocks, sorted(range(len(blocks)), key=lambda i: order(blocks[i])), ceiling)
        end = max((at + b.size for at, b in zip(offsets, blocks, strict=True)), default=0)
        if best_end < 0 or end < best_end:
            best, best_end = offsets, end
        if best_end == bound:
            break
    return best


def _place(blocks: Sequence[Block], order: Sequence[int], ceiling: int) -> tuple[int, ...]:
    """Each block in turn into the smallest gap among those that it meets, or behind them.

    Space below `ceiling` counts as a gap with two sides, and a block goes to the side whose neighbour stays longer:
    the space that becomes free later is then in one piece (a chain takes no more than its two largest neighbours).
    """
    offsets = [0] * len(blocks)
    placed: list[int] = []  # by offset
    for i in order:
        taken = [(offsets[j], blocks[j]) for j in placed if blocks[j].meets(blocks[i])]
        offsets[i] = _best_fit(taken, blocks[i].size, ceiling)
        insort(placed, i, key=offsets.__getitem__)
    return tuple(offsets)


_EDGE = sys.maxsize  # the arena's own ends stay


def _best_fit(taken: Sequence[tuple[int, Block]], size: int, ceiling: int) -> int:
    """Where `size` bytes go in the smallest gap between `taken`, which are sorted by offset."""
    end, stays = 0, _EDGE
    best, best_gap = -1, _EDGE
    for at, b in (*taken, (ceiling, Block(0, 0, _EDGE))):
        gap = at - end
        if size <= gap < best_gap:
            best, best_gap = (end if not ceiling or stays >= b.last else at - size), gap
        if at + b.size > end:
            end, stays = at + b.size, b.last
    return best if best >= 0 else max((at + b.size for at, b in taken), default=0)
