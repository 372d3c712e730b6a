"""An executable for a GPU: one CUDA graph, and buffers of its own for what goes in and comes out."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np

from korch.backends.cuda.triton.compile import Compiled
from korch.devices import Device
from korch.errors import InputError
from korch.executable.cuda.layout import DeviceLayout
from korch.executable.cuda.link import DeviceLinked, link_device
from korch.executable.cuda.requirements import ORDINAL
from korch.executable.cuda.resident import Resident, pytorch
from korch.executable.memory import Room
from korch.executable.plan import Plan
from korch.executable.ports import feeds_of, fitting_input, targets_of
from korch.executable.runtime import Executable, Profile, new_folder
from korch.ir.ops.table import Array, is_array
from korch.ir.tensor import Tensor, type_text
from korch.system.folders import discard


class DeviceExecutable(Executable):
    """A program on a GPU, which it is brought to by its first run: it can be made and stored where there is none."""

    linked: DeviceLinked

    def __init__(self, plan: Plan, linked: DeviceLinked) -> None:
        super().__init__(plan, linked)
        self._lock = Lock()
        self._resident: Resident | None = None
        self._kept: dict[Room, Any] = {}

    @staticmethod
    def link(  # pyright: ignore[reportIncompatibleMethodOverride]
        plan: Plan, device: Device, jobs: int = 0, made: Compiled | None = None
    ) -> DeviceExecutable:
        """Compiles what of `plan` is not `made` for `device` by `jobs` processes (0: one a processor); BackendError,
        ArchiveError or Error say in one line why not."""
        plan, folder = plan.on("cuda", device.name), new_folder()
        try:
            return DeviceExecutable(plan, link_device(plan, folder, device, jobs, made))
        except BaseException:
            discard(folder)
            raise

    def opened(self) -> DeviceExecutable:
        """Itself, on the device; Error or BackendError where there is none."""
        with self._on_device():
            return self

    @property
    def peak_bytes(self) -> int:
        """Bytes on the device: arena, weights, inputs and outputs. Allocations of libraries come on top."""
        return self._layout.total

    def run(self, feeds: Mapping[str, Any], outputs: Mapping[str, Array] | None = None) -> dict[str, Array]:
        """All outputs by name. Feeds are numpy arrays, or memory of any library that offers it by `__dlpack__`."""
        inputs = feeds_of(self.plan, feeds, _fitting)
        targets = targets_of(self.plan, outputs or {}, self._empty)
        with self._on_device() as resident:
            self._put(resident, inputs)
            resident.replay()
            host = self._pinned(Room.OUTPUT)
            host.copy_(resident.room(Room.OUTPUT), non_blocking=True)
            self._done.record()
            self._done.synchronize()
            for slot, target in zip(self._layout.outputs, targets, strict=True):
                raw = host[slot.start : slot.end].numpy()
                target[...] = raw.view(slot.buffer.dtype).reshape(slot.buffer.shape)
        return dict(zip(self.plan.graph.output_names, targets, strict=True))

    def run_device(self, feeds: Mapping[str, Any], borrow: bool = False) -> dict[str, Any]:
        """All outputs by name as tensors of PyTorch, in the order of its current stream and without waiting for it.

        `borrow`: the program's own buffers, which its next run overwrites, instead of copies.
        """
        inputs = feeds_of(self.plan, feeds, _fitting)
        with self._on_device() as resident:
            self._put(resident, inputs)
            resident.replay()
            own = [resident.view(slot) for slot in self._layout.outputs]
            made = own if borrow else [x.clone() for x in own]
            self._done.record()
        return dict(zip(self.plan.graph.output_names, made, strict=True))

    def replay(self) -> None:
        """Starts a run on what the inputs were last, in PyTorch's current stream and without waiting for it; the
        outputs are lent by `run_device`."""
        with self._on_device() as resident:
            resident.replay()
            self._done.record()

    def profile(self, feeds: Mapping[str, Any], runs: int = 20, blocks: int = 1) -> Profile:
        """Times on the device's clock. A step takes what the program up to it takes longer than the program up to the
        step before: nothing where it is hidden beside others. The total holds the start of the graph, and copies."""
        inputs = feeds_of(self.plan, feeds, _fitting)
        with self._on_device() as resident:
            self._put(resident, inputs)
            prefixes = resident.prefix_graphs
            graphs = [resident.graph, *([resident.second_start, *prefixes.values()] if prefixes else [])]
            whole, *ends = np.min([self._times(resident, graphs, runs) for _ in range(blocks)], axis=0)
            self._done.record()
        found = dict(zip(prefixes, _between(ends), strict=True))
        steps = tuple(found.get(k, 0.0) for k in range(len(self.plan.steps)))
        return Profile(steps, float(whole), runs * blocks, (0.0,) * len(steps))

    def close(self) -> None:
        with self._lock:
            if self._resident:
                self._resident.close()
            self._resident = None
            self._kept = {}
        super().close()

    @contextlib.contextmanager
    def _on_device(self) -> Generator[Resident]:
        """The program on the device, for this thread alone, after all that earlier runs have started."""
        with self._lock:
            self._check_open()
            self._resident = resident = self._resident or Resident(self.plan, self.linked, self._layout)
            torch = pytorch()
            with torch.no_grad(), torch.cuda.device(ORDINAL):
                torch.cuda.current_stream().wait_event(self._done)
                yield resident

    @cached_property
    def _done(self) -> Any:
        return pytorch().cuda.Event()

    @cached_property
    def _layout(self) -> DeviceLayout:
        return DeviceLayout(self.plan, self.linked.memory)

    def _pinned(self, room: Room) -> Any:
        """Memory of the host that the device copies from and to by itself, laid out as the room."""
        if room not in self._kept:
            torch = pytorch()
            self._kept[room] = torch.empty(self._layout.sizes[room], dtype=torch.uint8, pin_memory=True)
        return self._kept[room]

    def _empty(self, number: int) -> Array:
        t = self.plan.graph.outputs[number]
        return np.empty(t.shape, t.dtype)

    def _put(self, resident: Resident, inputs: Sequence[Any]) -> None:
        """Arrays of the host go over together; what is on a device is copied there."""
        slots = self._layout.inputs
        if any(isinstance(x, np.ndarray) for x in inputs):
            self._done.synchronize()  # an earlier copy may still read the memory
            host = self._pinned(Room.INPUT)
            for slot, x in zip(slots, inputs, strict=True):
                if is_array(x):
                    host[slot.start : slot.end].numpy().view(x.dtype).reshape(x.shape)[...] = x
            resident.room(Room.INPUT).copy_(host, non_blocking=True)
        for slot, x in zip(slots, inputs, strict=True):
            if not isinstance(x, np.ndarray):
                resident.view(slot).copy_(x)

    def _times(self, resident: Resident, graphs: Sequence[Any], runs: int) -> Array:
        """The median seconds of each graph over `runs` rounds, one after another, after a round that is not counted."""
        torch = pytorch()
        events = [[torch.cuda.Event(enable_timing=True) for _ in range(len(graphs) + 1)] for _ in range(runs)]
        for graph in graphs:
            graph.replay()
        for row in events:
            row[0].record()
            for graph, event in zip(graphs, row[1:], strict=True):
                graph.replay()
                event.record()
        torch.cuda.current_stream().synchronize()
        seconds = [[a.elapsed_time(b) / 1e3 for a, b in pairwise(row)] for row in events]
        return np.median(seconds, axis=0)


def _between(ends: Sequence[float]) -> list[float]:
    """Seconds of each step, from those of the first one twice and of the program up to each; ends never go back."""
    if not ends:
        return []
    twice, *prefixes = ends
    return [max(float(twice - prefixes[0]), 0.0), *map(float, np.diff(np.maximum.accumulate(prefixes)))]


def _fitting(t: Tensor, x: Any) -> Any:
    """The input `t` as a numpy array, or as a tensor of PyTorch."""
    if isinstance(x, np.ndarray) or not hasattr(x, "__dlpack__"):
        return fitting_input(t, x)
    torch = pytorch()
    given = x if isinstance(x, torch.Tensor) else torch.from_dlpack(x)
    dtype, shape = str(given.dtype).removeprefix("torch."), tuple(given.shape)
    if (dtype, shape) != (t.dtype, t.shape):
        raise InputError(f"input {t.name!r} must be {type_text(t.dtype, t.shape)}, found {type_text(dtype, shape)}")
    return given
