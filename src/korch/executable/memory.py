"""Where every tensor of a plan lives: one arena planned from lifetimes, the caller's buffers, or the weights.

The packing is the offset calculation that TensorFlow Lite and TVM use (Pisarchyk and Lee, "Efficient Memory
Management for Deep Neural Net Inference", 2020): largest block first, each into the smallest gap that fits. Where
threads share kernels, their caches decide, and blocks share slots (`centre_blocks`).
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
    PREPARED = 4
    """Constants of device kernels besides their leaves: no room of model.c."""


@dataclass(frozen=True, slots=True)
class Location:
    """A tensor's memory. `at`: a byte offset in the arena, or which constant (of the plan), input or output it is."""

    room: Room
    at: int


@dataclass(frozen=True, slots=True)
class Copy:
    """Bytes moved at the end of a run into output number `output`, from where `tensor` lives."""

    tensor: Tensor
    output: int


@dataclass(frozen=True, slots=True)
class LiveRange:
    """Bytes that must not move or be shared from step `first` to step `last`, both included."""

    size: int
    first: int
    last: int

    def meets(self, other: LiveRange) -> bool:
        return self.first <= other.last and other.first <= self.last


Meets = Callable[[int, int], bool]
"""Whether the blocks with these numbers may share no byte."""


@dataclass(frozen=True, slots=True)
class Tenant:
    """Bytes of the arena: those of `tensor` and its aliases, or the workspace of a step. `steps` use it, the first
    writes it."""

    size: int
    steps: tuple[int, ...]
    tensor: Tensor | None = None

    @property
    def block(self) -> LiveRange:
        return LiveRange(self.size, self.steps[0], self.steps[-1])


Conflicts = Callable[[Sequence[Tenant]], Meets]


@dataclass(frozen=True)
class MemoryPlan:
    """`places` of all tensors; the arena offset of each step's workspace (0 where it has none); the final copies.

    `lower_bound` is the most bytes that are alive at once: no arena is smaller.
    """

    places: Mapping[Tensor, Location]
    workspaces: tuple[int, ...]
    copies: tuple[Copy, ...]
    arena_bytes: int
    lower_bound: int


def plan_memory(plan: Plan, alignment: int = ALIGNMENT, conflicts: Conflicts | None = None) -> MemoryPlan:
    """Lays out all tensors of `plan`. Inputs and weights are never written; the caller gives the output buffers.

    `conflicts` says which tenants may share no byte: by default those in use at the same step. Without it, tenants
    of a plan for several threads of a processor share slots.
    """
    owner = owners(plan)
    outside = _outside(plan, owner)
    copies = tuple(
        Copy(t, k) for k, t in enumerate(plan.graph.outputs) if t.size and outside[owner[t]] != Location(Room.OUTPUT, k)
    )
    inside = tenants(plan, alignment)
    blocks = [t.block for t in inside]
    slots = plan.target == "cpu" and plan.threads > 1 and not conflicts
    offsets = centre_blocks(blocks) if slots else pack_blocks(blocks, conflicts(inside) if conflicts else None)
    places = outside | {t.tensor: Location(Room.ARENA, at) for t, at in zip(inside, offsets, strict=True) if t.tensor}
    workspaces = {t.steps[0]: at for t, at in zip(inside, offsets, strict=True) if not t.tensor}
    return MemoryPlan(
        {t: places.get(o, Location(Room.ARENA, 0)) for t, o in owner.items()},
        tuple(workspaces.get(k, 0) for k in range(len(plan.steps))),
        copies,
        max((at + b.size for at, b in zip(offsets, blocks, strict=True)), default=0),
        live_bytes(blocks),
    )


def tenants(plan: Plan, alignment: int = ALIGNMENT) -> list[Tenant]:
    """The tenants of the arena: tensors with the steps that write and read them or their aliases, then workspaces."""
    owner = owners(plan)
    outside = _outside(plan, owner)
    users: dict[Tensor, list[int]] = defaultdict(list)
    for number, step in enumerate(plan.steps):
        for t in dict.fromkeys(owner[t] for t in (*step.reads, step.writes)) if not step.idle else ():
            users[t].append(number)
    made = [Tenant(aligned(t.nbytes, alignment), tuple(u), t) for t, u in users.items() if t.size and t not in outside]
    rooms = [
        Tenant(aligned(s.kernel.workspace, alignment), (k,))
        for k, s in enumerate(plan.steps)
        if s.kernel.workspace and not s.idle
    ]
    return [*made, *rooms]


def owners(plan: Plan) -> dict[Tensor, Tensor]:
    """Each tensor with the one whose bytes it is: itself, or what its chain of aliases starts from."""
    owner = {t: t for t in (*plan.graph.inputs, *plan.constants)}
    for step in plan.steps:
        owner[step.writes] = owner[step.reads[0]] if step.kernel.alias else step.writes
    return owner


def _outside(plan: Plan, owner: Mapping[Tensor, Tensor]) -> dict[Tensor, Location]:
    """The places of owners outside the arena. The first output of a group of aliases lends the group its buffer."""
    ends = [(owner[t], Location(Room.OUTPUT, k)) for k, t in enumerate(plan.graph.outputs)]
    places = dict(reversed(ends))
    places |= {t: Location(Room.INPUT, k) for k, t in enumerate(plan.graph.inputs)}
    return places | {t: Location(Room.WEIGHTS, k) for k, t in enumerate(plan.constants)}


def aligned(size: int, alignment: int = ALIGNMENT) -> int:
    """`size`, rounded up."""
    return -(-size // alignment) * alignment


def live_bytes(blocks: Sequence[LiveRange]) -> int:
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


ORDERS: tuple[Callable[[LiveRange], tuple[int, ...]], ...] = (
    lambda b: (-b.size, b.first),
    lambda b: (-b.size * (b.last - b.first + 1), b.first),
    lambda b: (b.first, -b.size),
    lambda b: (b.first - b.last, -b.size),
)


MANY = 2000
"""Blocks beyond which one order is tried: of 20,000 all would take minutes."""


def pack_blocks(blocks: Sequence[LiveRange], meets: Meets | None = None) -> tuple[int, ...]:
    """An offset for each block, no two that meet overlapping: the best of several greedy orders. O(n^2).

    Blocks whose spans meet must meet; `meets` may keep more apart.
    """
    relation: Meets = meets or (lambda i, j: blocks[i].meets(blocks[j]))
    bound, best, best_end = live_bytes(blocks), (0,) * len(blocks), -1
    for ceiling, order in product((0, bound), ORDERS) if len(blocks) <= MANY else ((0, ORDERS[0]),):
        offsets = _place(blocks, sorted(range(len(blocks)), key=lambda i: order(blocks[i])), ceiling, relation)
        end = max((at + b.size for at, b in zip(offsets, blocks, strict=True)), default=0)
        if best_end < 0 or end < best_end:
            best, best_end = offsets, end
        if best_end == bound:
            break
    return best


def centre_blocks(blocks: Sequence[LiveRange]) -> tuple[int, ...]:
    """An offset for each block: in the middle of the smallest slot of those that hold nothing at its steps.

    Threads share kernels by halves of what they store. A line that the other core has stored last comes from its cache,
    at a quarter of the rate and less where that is far away; with one middle for all, a thread's half lies where its
    halves lay before. (Of packed arenas' time, where such a line takes 200 ns: `segformer` 0.90, `candy` 0.93,
    `yolox_nano` 0.89, and 1.00 where it takes 40. The arenas are 16 to 50% larger.)
    """
    slots: list[list[int]] = []
    for i in sorted(range(len(blocks)), key=lambda i: (-blocks[i].size, blocks[i].first)):
        free = [slot for slot in slots if not any(blocks[i].meets(blocks[j]) for j in slot)]
        if free:
            free[-1].append(i)
        else:
            slots.append([i])
    offsets, begin = [0] * len(blocks), 0
    for slot in slots:
        size = blocks[slot[0]].size
        for i in slot:
            offsets[i] = begin + (size - blocks[i].size) // 2 // ALIGNMENT * ALIGNMENT
        begin += size
    return tuple(offsets)


def _place(blocks: Sequence[LiveRange], order: Sequence[int], ceiling: int, meets: Meets) -> tuple[int, ...]:
    """Each block in turn into the smallest gap among those that it meets, or after them.

    Space below `ceiling` counts as a gap with two sides, and a block goes to the side whose neighbour stays longer:
    the space that becomes free later is then in one piece (a chain takes no more than its two largest neighbours).
    """
    offsets = [0] * len(blocks)
    placed: list[int] = []  # by offset
    for i in order:
        taken = [(offsets[j], blocks[j]) for j in placed if meets(j, i)]
        offsets[i] = _best_fit(taken, blocks[i].size, ceiling)
        insort(placed, i, key=offsets.__getitem__)
    return tuple(offsets)


_EDGE = sys.maxsize  # the arena's own ends stay


def _best_fit(taken: Sequence[tuple[int, LiveRange]], size: int, ceiling: int) -> int:
    """Where `size` bytes go in the smallest gap between `taken`, which are sorted by offset."""
    end, stays = 0, _EDGE
    best, best_gap = -1, _EDGE
    for at, b in (*taken, (ceiling, LiveRange(0, 0, _EDGE))):
        gap = at - end
        if size <= gap < best_gap:
            best, best_gap = (end if not ceiling or stays >= b.last else at - size), gap
        if at + b.size > end:
            end, stays = at + b.size, b.last
    return best if best >= 0 else max((at + b.size for at, b in taken), default=0)
