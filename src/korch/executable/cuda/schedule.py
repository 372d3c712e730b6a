"""The order of steps on a device, a memory plan under which independent steps may run at once, and their lanes.

A step depends on those that write what it reads. Bytes of the arena are shared only in an order that these edges
force, so that the layout adds none; where that takes too much memory, steps are laid out as they come one after
another, and whoever writes over what others read waits for them too.

Sets of steps are integers, one bit a step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from korch.executable.memory import Meets, MemoryPlan, Tenant, owners, plan_memory, tenants
from korch.executable.plan import Plan

DEVICE_ALIGNMENT = 256
"""Of every buffer on a device: what its own allocator gives."""
SPACIOUS = 4 << 30
"""Bytes that the arena may take so that independent steps run side by side."""
LANES = 16
"""Chains of steps side by side at most: a further chain waits for one of them."""


@dataclass(frozen=True)
class Lanes:
    """Steps in chains: `lane` of each step (-1: idle), and the steps in other lanes that it `waits` for besides the
    one before it in its own. `ordered` are all that these two put before it."""

    lane: tuple[int, ...]
    waits: tuple[tuple[int, ...], ...]
    ordered: tuple[int, ...]

    def first(self, count: int) -> Lanes:
        """Those of the first `count` steps."""
        return Lanes(self.lane[:count], self.waits[:count], self.ordered[:count])

    @property
    def count(self) -> int:
        """At least one."""
        return max((1, *(n + 1 for n in self.lane)))


@dataclass(frozen=True)
class StepSchedule:
    """`edges`: for each step the set of steps that must be done before it starts. `parallel`: the layout added none."""

    memory: MemoryPlan
    edges: tuple[int, ...]
    lanes: Lanes
    parallel: bool


def schedule(plan: Plan, spacious: int = SPACIOUS) -> StepSchedule:
    """Steps side by side where the arena takes no more than `spacious` bytes then, and as the plan has them else."""
    edges = dependencies(plan)
    before = ancestors(edges)
    memory = plan_memory(plan, DEVICE_ALIGNMENT, lambda inside: _conflicts(inside, before))
    parallel = memory.arena_bytes <= spacious
    if not parallel:
        memory = plan_memory(plan, DEVICE_ALIGNMENT)
        edges = _with_reuse(edges, tenants(plan, DEVICE_ALIGNMENT), memory)
    busy = [not s.idle for s in plan.steps]
    return StepSchedule(memory, tuple(edges), _lanes(edges, busy), parallel)


def dependencies(plan: Plan) -> list[int]:
    """For each step the steps that write what it reads, aliases resolved; idle ones have none and are none."""
    owner = owners(plan)
    maker = {s.writes: k for k, s in enumerate(plan.steps) if not s.idle}
    made = [{maker[owner[t]] for t in s.reads if owner[t] in maker} if not s.idle else set[int]() for s in plan.steps]
    return [sum(1 << k for k in steps) for steps in made]


def ancestors(edges: Sequence[int]) -> list[int]:
    """For each step all its predecessors; edges lead forward."""
    result: list[int] = []
    for direct in edges:
        result.append(_closed(direct, result))
    return result


def _closed(steps: int, before: Sequence[int]) -> int:
    """The steps with all their predecessors."""
    whole = steps
    for k in members(steps):
        whole |= before[k]
    return whole


def members(steps: int) -> Iterator[int]:
    """The steps of a set, the last first."""
    while steps:
        k = steps.bit_length() - 1
        yield k
        steps ^= 1 << k


def _conflicts(inside: Sequence[Tenant], before: Sequence[int]) -> Meets:
    """Two tenants may share bytes where all users of the one precede the step that writes the other."""
    users = [_users(t) for t in inside]
    past = [before[t.steps[0]] for t in inside]
    rows = [
        sum(1 << j for j, u in enumerate(users) if u & ~past[i] and users[i] & ~past[j]) for i in range(len(inside))
    ]
    return lambda i, j: bool(rows[i] >> j & 1)


def _users(tenant: Tenant) -> int:
    return sum(1 << k for k in tenant.steps)


def _with_reuse(edges: Sequence[int], inside: Sequence[Tenant], memory: MemoryPlan) -> list[int]:
    """Edges also from all that use bytes to whoever writes other ones over them."""
    result = list(edges)
    spans = [(_at(t, memory), t) for t in inside]
    for at, late in spans:
        for start, early in spans:
            if early.steps[-1] < late.steps[0] and start < at + late.size and at < start + early.size:
                result[late.steps[0]] |= _users(early)
    return result


def _at(tenant: Tenant, memory: MemoryPlan) -> int:
    return memory.places[tenant.tensor].at if tenant.tensor else memory.workspaces[tenant.steps[0]]


def _lanes(edges: Sequence[int], busy: Sequence[bool]) -> Lanes:
    """Each step goes on in the lane of a step that it depends on where it is the first to do so."""
    lane, ordered = [-1] * len(edges), [0] * len(edges)
    waits: list[tuple[int, ...]] = [()] * len(edges)
    tails: list[int] = []
    for k, direct in enumerate(edges):
        if not busy[k]:
            continue
        n = _lane_for(direct, _closed(direct, ordered), tails)
        tail = tails[n] if n < len(tails) else None
        done = 0 if tail is None else ordered[tail] | 1 << tail
        waits[k], ordered[k] = _waits(direct, done, ordered)
        lane[k] = n
        tails[n : n + 1] = [k]
    return Lanes(tuple(lane), tuple(waits), tuple(ordered))


def _lane_for(direct: int, before: int, tails: Sequence[int]) -> int:
    """Whose last step is depended on, the latest; else is done by then; else a new one, or the one idle for longest."""
    going = [n for n, tail in enumerate(tails) if direct >> tail & 1] or [
        n for n, tail in enumerate(tails) if before >> tail & 1
    ]
    if going:
        return max(going, key=tails.__getitem__)
    return len(tails) if len(tails) < LANES else min(range(len(tails)), key=tails.__getitem__)


def _waits(direct: int, done: int, ordered: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """The steps to wait for besides what is `done`, none of which another one implies; and all that is done then."""
    waits: list[int] = []
    for k in members(direct):
        if not done >> k & 1:
            waits.append(k)
            done |= ordered[k] | 1 << k
    return tuple(waits), done
