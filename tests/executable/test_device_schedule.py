"""What may run side by side on a device never touches the same bytes, unless to read them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from korch.executable.cuda.layout import DeviceLayout, Slot
from korch.executable.cuda.schedule import DEVICE_ALIGNMENT, LANES, StepSchedule, ancestors, dependencies, schedule
from korch.executable.memory import Room, plan_memory
from korch.executable.plan import Plan
from korch.ir import Builder

from .device_plans import device_plan, random_plan

SEEDS = range(120)


def happens_before(found: StepSchedule) -> list[set[int]]:
    """For each step what is done when it starts, by nothing but the order of lanes and the waits."""
    done: list[set[int]] = []
    last: dict[int, int] = {}
    for k, n in enumerate(found.lanes.lane):
        direct = {*found.lanes.waits[k], *([last[n]] if n in last else [])} if n >= 0 else set()
        done.append(direct.union(*(done[i] for i in direct)))
        if n >= 0:
            last[n] = k
    return done


def touched(plan: Plan, layout: DeviceLayout, k: int) -> tuple[list[Slot], list[Slot]]:
    """What step `k` reads and what it writes."""
    slots, leaves = layout.steps[k], len(plan.steps[k].reads)
    prepared = len(plan.steps[k].kernel.prepared)
    reads = [*slots[:leaves], *slots[leaves + 1 : leaves + 1 + prepared]]
    return reads, [s for s in slots if s not in reads]


def overlap(a: Slot, b: Slot) -> bool:
    return a.room is b.room and a.start < b.end and b.start < a.end


def assert_apart(plan: Plan, found: StepSchedule) -> None:
    layout, before = DeviceLayout(plan, found.memory), happens_before(found)
    for i, j in combinations([k for k, s in enumerate(plan.steps) if not s.idle], 2):
        if i in before[j]:
            continue
        assert j not in before[i]
        (reads, writes), (others, changed) = touched(plan, layout, i), touched(plan, layout, j)
        for a, b in [*((w, x) for w in writes for x in (*others, *changed)), *((r, c) for r in reads for c in changed)]:
            assert not overlap(a, b), (i, j, a, b)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("spacious", [0, 1 << 30])
def test_steps_that_may_run_at_once_never_write_what_the_other_touches(seed: int, spacious: int) -> None:
    plan = random_plan(seed)
    found = schedule(plan, spacious)
    assert_apart(plan, found)
    before, needed = happens_before(found), ancestors(dependencies(plan))
    for k in range(len(plan.steps)):
        assert not [i for i in range(k) if needed[k] >> i & 1 and i not in before[k]]


@pytest.mark.parametrize("seed", SEEDS)
def test_tensors_alive_at_once_have_bytes_of_their_own(seed: int) -> None:
    """In the plan's own order, whatever the layout: what is read is what was written."""
    plan = random_plan(seed)
    layout = DeviceLayout(plan, schedule(plan).memory)
    written: dict[tuple[Room, int], int] = {}
    maker = {s.writes: k for k, s in enumerate(plan.steps)}
    for k, step in enumerate(plan.steps):
        for t, slot in zip(step.reads, layout.steps[k], strict=False):
            if slot.room is Room.ARENA and not plan.steps[maker[t]].idle:
                assert all(written[slot.room, b] == maker[t] for b in range(slot.start, slot.end))
        for slot in touched(plan, layout, k)[1] if not step.idle else ():
            written |= {(slot.room, b): k for b in range(slot.start, slot.end)}


@pytest.mark.parametrize("seed", range(20))
def test_waits_are_those_that_nothing_else_implies(seed: int) -> None:
    found = schedule(random_plan(seed))
    lanes = found.lanes
    for k, waits in enumerate(lanes.waits):
        tail = max((i for i in range(k) if lanes.lane[i] == lanes.lane[k]), default=None)
        for w in waits:
            others = [i for i in (*waits, tail) if i is not None and i != w]
            assert all(i != w and not lanes.ordered[i] >> w & 1 for i in others)


def two_branches(length: int = 4) -> Plan:
    b = Builder()
    x = b.input("x", "float32", (64,))
    left, right = x, x
    for _ in range(length):
        left, right = b.op("Relu", left), b.op("Neg", right)
    return device_plan(b.graph([("y", left + right)]))


def test_branches_run_side_by_side_in_lanes_of_their_own() -> None:
    plan = two_branches()
    found = schedule(plan)
    assert found.parallel and found.lanes.count == 2
    assert sum(map(len, found.lanes.waits)) == 1
    assert found.memory.arena_bytes == 4 * DEVICE_ALIGNMENT
    assert {n for n in found.lanes.lane if n >= 0} == {0, 1}


def test_where_memory_is_short_steps_wait_for_those_whose_bytes_they_take() -> None:
    plan = two_branches()
    found = schedule(plan, spacious=3 * DEVICE_ALIGNMENT)
    assert not found.parallel
    assert found.memory == plan_memory(plan, DEVICE_ALIGNMENT)
    assert found.memory.arena_bytes == 3 * DEVICE_ALIGNMENT
    assert found.lanes.count == 1


def test_there_are_only_so_many_lanes() -> None:
    b = Builder()
    x = b.input("x", "float32", (8,))
    y = [b.op("Relu", b.constant(np.full(8, i, np.float32), name=f"w{i}") + x) for i in range(3 * LANES)]
    plan = device_plan(b.graph([(f"y{i}", v) for i, v in enumerate(y)]))
    found = schedule(plan)
    assert found.lanes.count == LANES
    assert_apart(plan, found)


def test_idle_steps_have_no_lane_and_no_edge() -> None:
    b = Builder()
    x = b.input("x", "float32", (4, 6))
    flat = b.op("Reshape", b.op("Relu", x), shape=(24,))
    plan = device_plan(b.graph([("y", b.op("Neg", flat))]))
    found = schedule(plan)
    assert found.lanes.lane == (0, -1, 0) and found.edges == (0, 0, 1)


def test_a_plan_without_steps_has_a_lane() -> None:
    b = Builder()
    found = schedule(device_plan(b.graph([("c", b.constant(np.ones(3, np.float32)))])))
    assert found.lanes.count == 1 and not found.lanes.lane
