"""A program on a device: its memory there, the functions of its kernels, and the graph of a run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from importlib import import_module
from typing import Any

import numpy as np

from korch.backends.cuda.driver import driver, pointers
from korch.errors import BackendError, Error, line_of
from korch.executable.cuda.graph import DeviceWork, captured, in_lanes, warmed
from korch.executable.cuda.layout import DeviceLayout, Slot
from korch.executable.cuda.link import DeviceLinked
from korch.executable.cuda.requirements import ORDINAL
from korch.executable.memory import Room
from korch.executable.plan import Plan, Step
from korch.ir.ops.table import Array

CHUNK = 64 << 20
"""Bytes of a constant that are brought to the device at once."""
POISON = 0xFF
"""Of the arena's bytes before the first run: floats that no kernel has written are NaN."""


class Resident:
    """All that a program holds on the device. Not safe for use by several threads at once."""

    def __init__(self, plan: Plan, linked: DeviceLinked, layout: DeviceLayout) -> None:
        """Error says in one line what fails: no memory, a kernel that the device refuses."""
        self._torch = torch = pytorch()
        self._plan, self._linked, self.layout = plan, linked, layout
        self._modules: dict[bytes, Any] = {}
        try:
            with torch.cuda.device(ORDINAL):
                self._rooms = {room: self._empty(size) for room, size in layout.sizes.items()}
                self._rooms[Room.ARENA].fill_(POISON)
                driver().activate(ORDINAL)
                self._fill(layout.constants())
                self._work = [self._work_of(k, s) for k, s in enumerate(plan.steps)]
                self._others = [torch.cuda.Stream() for _ in range(linked.schedule.lanes.count - 1)]
                warmed(torch, self._whole)
                self.graph: Any = captured(torch, self._whole)
        except RuntimeError as e:  # what PyTorch raises, of many lines
            raise Error(f"the program does not start on the device: {line_of(e)}") from e

    def view(self, slot: Slot) -> Any:
        """The tensor of a buffer."""
        raw = self._rooms[slot.room][slot.start : slot.end]
        return raw.view(getattr(self._torch, slot.buffer.dtype)).reshape(slot.buffer.shape)

    def room(self, room: Room) -> Any:
        """All bytes of a room."""
        return self._rooms[room]

    def replay(self) -> None:
        """Starts a run in the current stream, on what the input buffers hold."""
        self.graph.replay()

    @cached_property
    def prefix_graphs(self) -> Mapping[int, Any]:
        """For each step that runs, a graph of the program that ends with it: in the order of the plan, what one takes
        more than the one before it is the step's own time, with the caches as its neighbours leave them."""
        pool = self._torch.cuda.graph_pool_handle()
        return {
            k: captured(self._torch, partial(self._first, k + 1), pool)
            for k, step in enumerate(self._plan.steps)
            if not step.idle
        }

    @cached_property
    def second_start(self) -> Any:
        """A graph of the first step that runs, twice: of the graph of it alone a part is the graph's own start."""
        work = next(w for w, step in zip(self._work, self._plan.steps, strict=True) if not step.idle)
        return captured(self._torch, partial(_twice, work), self._torch.cuda.graph_pool_handle())

    def close(self) -> None:
        """Gives back the graphs, the memory and the functions."""
        self._torch.cuda.synchronize(ORDINAL)
        self.graph = None
        for name in ("prefix_graphs", "second_start"):
            self.__dict__.pop(name, None)
        self._work, self._rooms = [], {}
        driver().activate(ORDINAL)
        for module in self._modules.values():
            driver().unload(module)
        self._modules = {}

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # half-made, or when the interpreter ends
            self.close()

    def _empty(self, size: int) -> Any:
        return self._torch.zeros(size, dtype=self._torch.uint8, device=DEVICE)

    def _fill(self, constants: Iterable[tuple[Slot, Callable[[], Array]]]) -> None:
        for slot, value in constants:
            x = np.ascontiguousarray(value()).reshape(-1).view(np.uint8)
            target = self._rooms[slot.room][slot.start : slot.end]
            for at in range(0, len(x), CHUNK):
                part = np.array(x[at : at + CHUNK])  # a copy: files are mapped read-only
                target[at : at + len(part)].copy_(self._torch.from_numpy(part))

    def _whole(self) -> None:
        """Starts every step, and what outputs are copies of at the end."""
        in_lanes(self._torch, self._linked.schedule.lanes, self._work, self._others)
        for source, target in self.layout.copies:
            self.view(target).copy_(self.view(source).reshape(target.buffer.shape))

    def _first(self, count: int) -> None:
        """Starts the first steps."""
        in_lanes(self._torch, self._linked.schedule.lanes.first(count), self._work, self._others)

    def _work_of(self, number: int, step: Step) -> DeviceWork:
        slots = self.layout.steps[number]
        if step.idle:
            return _nothing
        if step.kernel.call:
            return partial(_call(step.kernel.call.function), self._torch, self._views(slots), step.kernel.call.attrs)
        return partial(self._launch, self._launches(number, step, slots))

    def _views(self, slots: Sequence[Slot]) -> list[Any]:
        return [self.view(slot) for slot in slots]

    def _launches(self, number: int, step: Step, slots: Sequence[Slot]) -> list[tuple[Any, ...]]:
        """The arguments of the driver for each of a step's functions, without the stream."""
        rows: list[tuple[Any, ...]] = []
        for launch, binary in zip(step.kernel.launches, self._linked.binaries[number], strict=True):
            given = [self._address(slots[i]) for i in launch.buffers]
            unused = [0] * (binary.parameters - len(given))
            function = driver().function(self._module(binary.cubin), binary.symbol, binary.shared)
            rows.append((function, launch.grid, binary.warps, binary.shared, pointers([*given, *unused])))
        return rows

    def _address(self, slot: Slot) -> int:
        return self._rooms[slot.room].data_ptr() + slot.start

    def _module(self, cubin: bytes) -> Any:
        if cubin not in self._modules:
            try:
                self._modules[cubin] = driver().load(cubin)
            except Error as e:
                raise Error(
                    f"the device does not take a kernel that was compiled elsewhere: {e}; run `korch optimize` "
                    f"again on this machine"
                ) from None
        return self._modules[cubin]

    def _launch(self, rows: Sequence[tuple[Any, ...]]) -> None:
        stream = self._torch.cuda.current_stream().cuda_stream
        for function, grid, warps, shared, parameters in rows:
            driver().launch(function, grid, warps, shared, stream, parameters)


DEVICE = f"cuda:{ORDINAL}"


def pytorch() -> Any:
    """PyTorch, with a device; BackendError where it is missing or has none."""
    try:
        torch = import_module("torch")
    except ImportError:
        raise BackendError("programs for a GPU run in memory of PyTorch, which is missing: pip install torch") from None
    if not torch.cuda.is_available():
        raise BackendError(f"PyTorch {torch.__version__} finds no NVIDIA GPU here")
    return torch


def _call(name: str) -> Callable[..., None]:
    """A function of a vendor's library; BackendError where this Korch has none of that name."""
    from korch.backends.cuda.vendor.calls import CALLS  # here: not all plans need it

    if name not in CALLS:
        raise BackendError(f"the plan calls {name!r}, which this Korch does not know: run `korch optimize` again")
    return CALLS[name]


def _nothing() -> None:
    return


def _twice(work: DeviceWork) -> None:
    work()
    work()
