"""A GPU: memory and graphs are PyTorch's, functions are started through the driver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from korch.backends.contract import Kernel, Launch
from korch.backends.cuda.buffers import Buffer, buffers_of
from korch.backends.cuda.driver import driver, pointers
from korch.backends.cuda.triton.compile import CompiledLaunch
from korch.backends.precision import HALVES
from korch.errors import Error, line_of
from korch.ir.ops.table import Array, Region
from korch.profile.arena import GUARD_BYTE, Bytes
from korch.profile.cuda.board import BoardError, BoardLost, DeviceMemory, Run, Samples

GUARD = 256
"""Bytes behind each buffer that no kernel may touch."""

T = TypeVar("T")


@dataclass(frozen=True)
class Held:
    """`size` bytes of a tensor, its guards behind them."""

    whole: Any
    size: int

    @property
    def raw(self) -> Any:
        return self.whole[: self.size]


class TorchBoard:
    """GPU number `ordinal` with so many bytes of `cache`. All work is in one stream, as graphs want it."""

    def __init__(self, ordinal: int, cache: int) -> None:
        self.cache = cache
        self._torch: Any = import_module("torch")
        self._torch.set_grad_enabled(False)
        self._torch.cuda.set_device(ordinal)
        self._device = self._torch.device("cuda", ordinal)
        self._stream = self._torch.cuda.Stream()
        self._torch.cuda.set_stream(self._stream)
        self._torch.zeros(1, device=self._device)
        driver().activate(ordinal)
        self._loaded: dict[tuple[bytes, ...], list[tuple[Any, Any]]] = {}

    def memory(self, size: int) -> Held:
        whole = self._guarded(lambda: self._torch.empty(size + GUARD, dtype=self._torch.uint8, device=self._device))
        whole[size:].fill_(GUARD_BYTE)
        return Held(whole, size)

    def write(self, memory: Held, data: Bytes) -> None:
        if memory.size:
            memory.raw.copy_(self._torch.from_numpy(data))

    def read(self, memory: Held) -> Bytes:
        return self._guarded(lambda: memory.raw.cpu().numpy())

    def part(self, memory: Held, buffer: Buffer, region: Region) -> Array:
        def selected() -> Array:
            x = self._words(memory, buffer.width).reshape(buffer.shape)
            for axis, at in enumerate(region):
                if len(at) < x.shape[axis]:
                    x = x.index_select(axis, self._torch.from_numpy(at).to(self._device))
            return x.cpu().numpy()

        return self._guarded(selected).view("uint8" if buffer.dtype == "bool" else buffer.dtype)

    def fill(self, memory: Held, byte: int) -> None:
        memory.raw.fill_(byte)

    def holds(self, memory: Held, width: int, byte: int) -> bool:
        word = int.from_bytes(bytes([byte]) * width, "little", signed=True)
        return self._guarded(lambda: bool((self._words(memory, width) == word).any()))

    def same(self, memory: Held, other: Held) -> bool:
        return self._guarded(lambda: self._torch.equal(memory.raw, other.raw))

    def twin(self, memory: Held) -> Held:
        return Held(self._guarded(memory.whole.clone), memory.size)

    def intact(self, memory: Held) -> bool:
        return bool((memory.whole[memory.size :] == GUARD_BYTE).all())

    def bind(self, kernel: Kernel, binaries: Sequence[CompiledLaunch], buffers: Sequence[DeviceMemory]) -> Run:
        if kernel.call:
            return self._call(kernel, buffers)
        starts = [
            partial(
                driver().launch,
                function,
                launch.grid,
                binary.warps,
                binary.shared,
                self._stream.cuda_stream,
                pointers([buffers[i].whole.data_ptr() for i in launch.buffers] + _nulls(launch, binary)),
            )
            for launch, binary, function in zip(kernel.launches, binaries, self._functions(binaries), strict=True)
        ]

        def run() -> None:
            for start in starts:
                start()

        return run

    def finish(self, run: Run) -> None:
        self._guarded(run)
        self._guarded(self._torch.cuda.synchronize)

    def time(self, runs: Sequence[Run], samples: int) -> Samples:
        graph = self._guarded(lambda: self._captured(runs))
        return self._guarded(lambda: self._replayed(graph, samples))

    def product(self, precision: str, side: int) -> Run:
        dtype = getattr(self._torch, HALVES.get(precision, "float32"))
        a, b, c = (self._torch.ones((side, side), dtype=dtype, device=self._device) for _ in range(3))

        def run() -> None:
            self._torch.backends.cuda.matmul.fp32_precision = "tf32" if precision == "tf32" else "ieee"
            self._torch.mm(a, b, out=c)

        return run

    def copy(self, size: int) -> Run:
        source, target = self.memory(size), self.memory(size)
        words = [m.raw.view(self._torch.float32) for m in (source, target)]
        return lambda: self._torch.neg(words[0], out=words[1])

    def nothing(self) -> Run:
        x = self._torch.zeros(1, device=self._device)
        return lambda: x.neg_()

    def _words(self, memory: Held, width: int) -> Any:
        """Integers of `width` bytes, which every tensor's elements can be looked at as."""
        return memory.raw.view(getattr(self._torch, f"int{8 * width}"))

    def _call(self, kernel: Kernel, buffers: Sequence[DeviceMemory]) -> Run:
        from korch.backends.cuda.vendor.calls import CALLS

        assert kernel.call
        tensors = [
            m.raw.view(getattr(self._torch, b.dtype)).reshape(b.shape)
            for m, b in zip(buffers, buffers_of(kernel), strict=True)
        ]
        return partial(CALLS[kernel.call.function], self._torch, tensors, kernel.call.attrs)

    def _functions(self, binaries: Sequence[CompiledLaunch]) -> list[Any]:
        """Of the kernel at hand; those of the one before are unloaded."""
        key = tuple(b.cubin for b in binaries)
        if key not in self._loaded:
            for module, _ in (pair for pairs in self._loaded.values() for pair in pairs):
                driver().unload(module)
            self._loaded = {key: [self._guarded(partial(_loaded, b)) for b in binaries]}
        return [function for _, function in self._loaded[key]]

    def _captured(self, runs: Sequence[Run]) -> Any:
        graph = self._torch.cuda.CUDAGraph()
        graph.capture_begin(capture_error_mode="thread_local")
        try:
            for run in runs:
                run()
        finally:
            graph.capture_end()
        return graph

    def _replayed(self, graph: Any, samples: int) -> Samples:
        """After a replay that is not timed."""
        events = [self._torch.cuda.Event(enable_timing=True) for _ in range(samples + 1)]
        graph.replay()
        events[0].record()
        for event in events[1:]:
            graph.replay()
            event.record()
        self._torch.cuda.synchronize()
        return np.array([a.elapsed_time(b) / 1e3 for a, b in pairwise(events)])

    def _guarded(self, work: Callable[[], T]) -> T:
        """What `work` returns; BoardLost where the device answers nothing any more after it failed."""
        try:
            return work()
        except (RuntimeError, Error) as e:
            try:
                self._torch.cuda.synchronize()
                self._torch.cuda.empty_cache()
            except RuntimeError:
                raise BoardLost(line_of(e)) from e
            raise BoardError(line_of(e)) from e


def _loaded(binary: CompiledLaunch) -> tuple[Any, Any]:
    module = driver().load(binary.cubin)
    return module, driver().function(module, binary.symbol, binary.shared)


def _nulls(launch: Launch, binary: CompiledLaunch) -> list[int]:
    """What Triton adds to a function's parameters and kernels do not use."""
    return [0] * (binary.parameters - len(launch.buffers))
