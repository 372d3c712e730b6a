"""The memory plan: nothing alive overlaps, nothing is larger than it must be, aliases share their bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from korch.executable.memory import (
    ALIGNMENT,
    LiveRange,
    Location,
    Room,
    centre_blocks,
    live_bytes,
    pack_blocks,
    plan_memory,
    tenants,
)
from korch.ir import Builder

from .small_plans import chain, plan_of, with_workspace

Pack = Callable[[list[LiveRange]], tuple[int, ...]]
SPANS = st.tuples(st.integers(0, 30), st.integers(0, 8))
BLOCK = st.builds(lambda n, s: LiveRange(n * ALIGNMENT, s[0], s[0] + s[1]), st.integers(1, 200), SPANS)
BLOCKS = st.lists(BLOCK, max_size=40)


@pytest.mark.parametrize("pack", [pack_blocks, centre_blocks])
@given(blocks=BLOCKS)
def test_blocks_alive_together_never_overlap(pack: Pack, blocks: list[LiveRange]) -> None:
    offsets = pack(blocks)
    for i, a in enumerate(blocks):
        assert offsets[i] % ALIGNMENT == 0
        for j, b in enumerate(blocks[:i]):
            apart = offsets[i] + a.size <= offsets[j] or offsets[j] + b.size <= offsets[i]
            assert apart or not a.meets(b)


@given(BLOCKS)
def test_blocks_of_one_slot_have_one_middle(blocks: list[LiveRange]) -> None:
    offsets = centre_blocks(blocks)
    end = max((at + b.size for at, b in zip(offsets, blocks, strict=True)), default=0)
    assert live_bytes(blocks) <= end <= sum(b.size for b in blocks)
    for i, a in enumerate(blocks):
        for j, b in enumerate(blocks[:i]):
            middle, other = 2 * offsets[i] + a.size, 2 * offsets[j] + b.size
            shared = offsets[i] < offsets[j] + b.size and offsets[j] < offsets[i] + a.size
            assert abs(middle - other) <= 2 * ALIGNMENT or not shared


def test_where_threads_share_kernels_their_halves_lie_together() -> None:
    shrinking = [LiveRange(n * ALIGNMENT, i, i + 1) for i, n in enumerate((8, 6, 4, 2))]
    assert [at // ALIGNMENT for at in centre_blocks(shrinking)] == [0, 8, 2, 10]
    for threads, packed in ((1, True), (2, False)):
        plan = replace(with_workspace(chain(6, (16, 16)), {3: 5000}), threads=threads)
        blocks = [t.block for t in tenants(plan)]
        offsets = pack_blocks(blocks) if packed else centre_blocks(blocks)
        assert plan_memory(plan).workspaces[3] == offsets[-1]


@given(BLOCKS)
def test_live_bytes_bound_the_arena(blocks: list[LiveRange]) -> None:
    end = max((at + b.size for at, b in zip(pack_blocks(blocks), blocks, strict=True)), default=0)
    assert live_bytes(blocks) <= end <= sum(b.size for b in blocks)


@given(st.lists(st.integers(1, 1000), min_size=2, max_size=40))
def test_chains_take_no_more_than_they_must(sizes: list[int]) -> None:
    blocks = [LiveRange(n * ALIGNMENT, i, i + 1) for i, n in enumerate(sizes)]
    end = max(at + b.size for at, b in zip(pack_blocks(blocks), blocks, strict=True))
    assert end == live_bytes(blocks)


def test_chain_plan_uses_two_buffers_and_the_callers_output() -> None:
    plan = chain(8, (16, 16))
    memory = plan_memory(plan)
    assert memory.arena_bytes == memory.lower_bound == 2 * 16 * 16 * 4
    assert memory.places[plan.graph.outputs[0]] == Location(Room.OUTPUT, 0)
    assert memory.places[plan.graph.inputs[0]] == Location(Room.INPUT, 0)
    assert not memory.copies


def test_workspaces_share_the_arena() -> None:
    plan = with_workspace(chain(6, (16, 16)), {0: 1000, 3: 5000, 5: 900})
    memory = plan_memory(plan)
    assert memory.arena_bytes == memory.lower_bound == 2 * 1024 + 5056
    assert all(at % ALIGNMENT == 0 for at in memory.workspaces)


def test_aliases_of_an_output_live_in_its_buffer() -> None:
    b = Builder()
    x = b.input("x", "float32", (4, 6))
    y = b.op("Relu", x)
    flat = b.op("Reshape", y, shape=(24,))
    z = b.op("Neg", flat)
    plan = plan_of(b.graph([("flat", flat), ("z", z)]))
    memory = plan_memory(plan)
    assert memory.places[y.tensor] == memory.places[flat.tensor] == Location(Room.OUTPUT, 0)
    assert memory.places[z.tensor] == Location(Room.OUTPUT, 1)
    assert not memory.arena_bytes and not memory.copies


def test_two_outputs_of_one_group_need_a_copy() -> None:
    b = Builder()
    y = b.op("Relu", b.input("x", "float32", (4, 6)))
    plan = plan_of(b.graph([("y", y), ("flat", b.op("Reshape", y, shape=(24,))), ("again", y)]))
    memory = plan_memory(plan)
    assert [c.output for c in memory.copies] == [1, 2]
    assert set(memory.places.values()) == {Location(Room.INPUT, 0), Location(Room.OUTPUT, 0)}


def test_an_alias_keeps_its_group_alive() -> None:
    b = Builder()
    x = b.input("x", "float32", (4, 16))
    y = b.op("Relu", x)
    flat = b.op("Reshape", y, shape=(64,))
    other = b.op("Neg", b.op("Neg", b.op("Reshape", x, shape=(64,))))
    plan = plan_of(b.graph([("z", flat + other)]))
    memory = plan_memory(plan)
    inside = {p.at for t, p in memory.places.items() if p.room is Room.ARENA}
    assert len(inside) == 3
    assert memory.places[y.tensor] == memory.places[flat.tensor]


@pytest.mark.parametrize("what", ["input", "constant"])
def test_outputs_that_nobody_computes_are_copied(what: str) -> None:
    b = Builder()
    x = b.input("x", "float32", (3,)) if what == "input" else b.constant(np.ones(3, np.float32))
    memory = plan_memory(plan_of(b.graph([("y", x)])))
    assert [c.output for c in memory.copies] == [0]


def test_zero_sized_tensors_take_nothing() -> None:
    b = Builder()
    y = b.op("Neg", b.op("Relu", b.input("x", "float32", (0, 5))))
    memory = plan_memory(plan_of(b.graph([("y", y)])))
    assert memory.arena_bytes == memory.lower_bound == 0
