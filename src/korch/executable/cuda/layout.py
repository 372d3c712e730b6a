"""Which bytes each step of a device plan works on, whoever holds them: a GPU, or arrays of the host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from korch.backends.contract import Kernel, Prepared
from korch.backends.cuda.buffers import Buffer, buffers_of, prepared_array
from korch.executable.cuda.schedule import DEVICE_ALIGNMENT
from korch.executable.memory import Location, MemoryPlan, Room, aligned, owners
from korch.executable.plan import Plan, Step
from korch.ir.ops.table import Array
from korch.ir.tensor import Tensor


@dataclass(frozen=True, slots=True)
class Slot:
    """A buffer at `start` in the memory of its room."""

    room: Room
    start: int
    buffer: Buffer

    @property
    def end(self) -> int:
        return self.start + self.buffer.nbytes


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant that a kernel reads besides its leaves: number `which` of what it has prepared, from these leaves."""

    kernel: Kernel
    which: int
    leaves: tuple[Tensor, ...]

    @property
    def buffer(self) -> Buffer:
        made = self.kernel.prepared[self.which]
        return Buffer(made.dtype, made.shape)

    def value(self, constants: Mapping[str, Array]) -> Array:
        """Computed from the plan's constants."""
        leaves = [constants.get(t.name, _NOTHING) for t in self.leaves]
        return prepared_array(self.kernel.prepared[self.which], leaves)


_NOTHING = np.empty(0, np.uint8)
Key = tuple[Prepared, str]


class DeviceLayout:
    """Addresses of the buffers of every step, of inputs, outputs and constants of `plan`; `sizes` of all rooms.

    A buffer that no launch of a kernel reads (a weight that was packed) is empty there.
    """

    def __init__(self, plan: Plan, memory: MemoryPlan) -> None:
        self._plan, self._memory = plan, memory
        self._owner = owners(plan)
        self._read = {self._owner[t] for t in (*(t for s in plan.steps for t in _read(s)), *plan.graph.outputs)}
        made = _prepared(plan.steps)
        self.prepared = tuple(made.values())
        self._number = {key: n for n, key in enumerate(made)}
        self._starts, self.sizes = _packed(
            {
                Room.WEIGHTS: [t.nbytes if t in self._read else 0 for t in plan.constants],
                Room.INPUT: [t.nbytes for t in plan.graph.inputs],
                Room.OUTPUT: [t.nbytes for t in plan.graph.outputs],
                Room.PREPARED: [c.buffer.nbytes for c in self.prepared],
            }
        )
        self.sizes[Room.ARENA] = memory.arena_bytes

    @cached_property
    def steps(self) -> tuple[tuple[Slot, ...], ...]:
        """The buffers of each step, numbered as its kernel numbers them; none where it is idle."""
        return tuple(() if s.idle else tuple(self._buffers(k, s)) for k, s in enumerate(self._plan.steps))

    @cached_property
    def inputs(self) -> tuple[Slot, ...]:
        return tuple(self._of(Location(Room.INPUT, k), _buffer(t)) for k, t in enumerate(self._plan.graph.inputs))

    @cached_property
    def outputs(self) -> tuple[Slot, ...]:
        return tuple(self._of(Location(Room.OUTPUT, k), _buffer(t)) for k, t in enumerate(self._plan.graph.outputs))

    @cached_property
    def copies(self) -> tuple[tuple[Slot, Slot], ...]:
        """Bytes moved at the end of a run, from and to."""
        return tuple((self._at(c.tensor), self.outputs[c.output]) for c in self._memory.copies)

    def constants(self) -> Iterable[tuple[Slot, Callable[[], Array]]]:
        """Every constant that is read, with what makes its value."""
        values = self._plan.graph.constants
        for k, t in enumerate(self._plan.constants):
            if t in self._read:
                yield self._of(Location(Room.WEIGHTS, k), _buffer(t)), lambda t=t: np.asarray(values[t.name], t.dtype)
        for n, c in enumerate(self.prepared):
            yield self._of(Location(Room.PREPARED, n), c.buffer), lambda c=c: c.value(values)

    @property
    def total(self) -> int:
        """Bytes of all rooms."""
        return sum(self.sizes.values())

    def _buffers(self, number: int, step: Step) -> Iterable[Slot]:
        k = step.kernel
        yield from map(self._at, (*step.reads, step.writes))
        for which in range(len(k.prepared)):
            yield self._of(Location(Room.PREPARED, self._number[_key(step, which)]), Constant(k, which, ()).buffer)
        if k.workspace:
            yield Slot(Room.ARENA, self._memory.workspaces[number], buffers_of(k)[-1])

    def _at(self, t: Tensor) -> Slot:
        if self._owner[t].const and self._owner[t] not in self._read:
            return Slot(Room.WEIGHTS, 0, Buffer(t.dtype, (0,)))
        return self._of(self._memory.places[t], _buffer(t))

    def _of(self, place: Location, buffer: Buffer) -> Slot:
        at = place.at if place.room is Room.ARENA else self._starts[place.room][place.at]
        return Slot(place.room, at, buffer)


def _buffer(t: Tensor) -> Buffer:
    return Buffer(t.dtype, t.shape)


def _read(step: Step) -> Iterable[Tensor]:
    """The leaves whose bytes the step's kernel reads; a library's function may read all of them."""
    if step.idle:
        return ()
    if step.kernel.call:
        return step.reads
    numbers = {i for launch in step.kernel.launches for i in launch.buffers}
    return [t for i, t in enumerate(step.reads) if i in numbers]


def _prepared(steps: Iterable[Step]) -> dict[Key, Constant]:
    """The constants of all steps besides their leaves, equal ones once."""
    return {
        _key(s, n): Constant(s.kernel, n, s.reads) for s in steps if not s.idle for n in range(len(s.kernel.prepared))
    }


def _key(step: Step, which: int) -> Key:
    made = step.kernel.prepared[which]
    return made, "" if made.leaf is None else step.reads[made.leaf].name


def _packed(sizes: Mapping[Room, Sequence[int]]) -> tuple[dict[Room, list[int]], dict[Room, int]]:
    """Where the parts of each room start, one after the other, and where it ends."""
    starts: dict[Room, list[int]] = {}
    ends: dict[Room, int] = {}
    for room, parts in sizes.items():
        at, starts[room] = 0, []
        for size in parts:
            starts[room].append(at)
            at += aligned(size, DEVICE_ALIGNMENT)
        ends[room] = at
    return starts, ends
