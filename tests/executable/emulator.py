"""Runs a device plan on memory of the host laid out as on the device, its steps in any order that the lanes allow.

A step that the schedule lets run too early, or bytes that two tensors share at one time, show as wrong values.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence

from korch.backends.contract import Kernel
from korch.backends.cuda.interpret import interpret
from korch.executable.buffers import aligned_empty
from korch.executable.cuda.layout import DeviceLayout, Slot
from korch.executable.cuda.schedule import Lanes, StepSchedule, schedule
from korch.executable.memory import Room
from korch.executable.plan import Plan
from korch.executable.ports import feeds_of, fitting_input
from korch.ir.ops.table import Array

POISON = 0xFF
"""The bytes of the arena before a run: NaN as floats."""
Run = Callable[[Kernel, Sequence[Array]], None]


class Emulator:
    """A plan on the host. `run` computes one kernel: by default as a GPU would, interpreted."""

    def __init__(self, plan: Plan, found: StepSchedule | None = None, run: Run = interpret) -> None:
        self.plan, self.schedule, self._run = plan, found or schedule(plan), run
        self.layout = DeviceLayout(plan, self.schedule.memory)
        self._rooms = {room: aligned_empty((size,), "uint8") for room, size in self.layout.sizes.items()}
        for slot, value in self.layout.constants():
            self._view(slot)[...] = value()

    def run(self, feeds: Mapping[str, Array], seed: int = 0) -> dict[str, Array]:
        """All outputs by name, the steps in an order that `seed` draws."""
        for slot, x in zip(self.layout.inputs, feeds_of(self.plan, feeds, fitting_input), strict=True):
            self._view(slot)[...] = x
        self._rooms[Room.ARENA][...] = POISON
        for k in any_order(self.schedule.lanes, random.Random(seed)):
            self._run(self.plan.steps[k].kernel, [self._view(slot) for slot in self.layout.steps[k]])
        for source, target in self.layout.copies:
            self._view(target)[...] = self._view(source).reshape(target.buffer.shape)
        return {n: self._view(s).copy() for n, s in zip(self.plan.graph.output_names, self.layout.outputs, strict=True)}

    def _view(self, slot: Slot) -> Array:
        return self._rooms[slot.room][slot.start : slot.end].view(slot.buffer.dtype).reshape(slot.buffer.shape)


def any_order(lanes: Lanes, draw: random.Random) -> Iterator[int]:
    """The steps in an order in which a device may start and end them."""
    left = [k for k, n in enumerate(lanes.lane) if n >= 0]
    done = 0
    while left:
        k = draw.choice([k for k in left if not lanes.ordered[k] & ~done])
        left.remove(k)
        done |= 1 << k
        yield k
