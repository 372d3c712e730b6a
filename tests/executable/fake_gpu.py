"""A GPU that only looks like one: as much of PyTorch and of the driver as programs use, on memory of the host.

What is captured runs when the graph is replayed, in an order drawn anew that keeps to the graph's edges and to nothing
else. Kernels are computed by the reference.
"""

from __future__ import annotations

import contextlib
import ctypes
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from korch.backends.contract import Kernel
from korch.backends.cuda.buffers import buffers_of
from korch.backends.cuda.triton.compile import CompiledLaunch
from korch.errors import Error
from korch.executable.cuda import link, requirements, resident

from .device_plans import reference

DRAW = random.Random(0)


class Tensor:
    """As much of a tensor as programs use."""

    def __init__(self, array: np.ndarray, gpu: FakeGpu) -> None:
        self.array, self._gpu = array, gpu

    @property
    def dtype(self) -> str:
        return f"torch.{self.array.dtype.name}"

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    def __getitem__(self, part: slice) -> Tensor:
        return Tensor(self.array[part], self._gpu)

    def view(self, dtype: str) -> Tensor:
        return Tensor(self.array.view(dtype), self._gpu)

    def reshape(self, shape: tuple[int, ...]) -> Tensor:
        return Tensor(self.array.reshape(shape), self._gpu)

    def numpy(self) -> np.ndarray:
        return self.array

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def clone(self) -> Tensor:
        return Tensor(self.array.copy(), self._gpu)

    def fill_(self, value: int) -> None:
        self._gpu.do(lambda: self.array.fill(value))

    def copy_(self, other: Tensor, non_blocking: bool = False) -> None:
        self._gpu.do(lambda: np.copyto(self.array, other.array))

    def __dlpack__(self) -> Any:
        return self


class Stream:
    """`frontier`: the nodes of the graph under capture that what comes next depends on; None outside of a capture."""

    cuda_stream = 7

    def __init__(self) -> None:
        self.frontier: set[int] | None = None

    def wait_event(self, event: Event) -> None:
        if event.frontier is not None:
            self.frontier = (self.frontier or set()) | event.frontier

    def wait_stream(self, stream: Stream) -> None:
        self.wait_event(stream.record_event())

    def record_event(self) -> Event:
        return Event(self.frontier)

    def synchronize(self) -> None: ...


class Event:
    """`now` in milliseconds: starting a graph takes `START`, each of its nodes one."""

    now, START = 0.0, 5.0

    def __init__(self, frontier: set[int] | None = None, enable_timing: bool = False) -> None:
        self.frontier = None if frontier is None else set(frontier)

    def record(self) -> None:
        self.time = Event.now

    def synchronize(self) -> None: ...

    def elapsed_time(self, later: Event) -> float:
        return later.time - self.time


class Graph:
    def __init__(self) -> None:
        self.nodes: list[tuple[set[int], Callable[[], None]]] = []

    def replay(self) -> None:
        Event.now += Event.START + len(self.nodes)
        done: set[int] = set()
        while len(done) < len(self.nodes):
            ready = [n for n, (before, _) in enumerate(self.nodes) if n not in done and before <= done]
            n = DRAW.choice(ready)
            self.nodes[n][1]()
            done.add(n)

    def before(self, nodes: set[int]) -> set[int]:
        return nodes.union(*(self.before(self.nodes[n][0]) for n in nodes))


class FakeGpu:
    """Also the driver. `kernels`: what is behind each binary; `refused`: binaries that it does not load."""

    def __init__(self) -> None:
        self.refused: set[bytes] = set()
        self.kernels: dict[bytes, Kernel] = {}
        self.main, self.capturing, self.loaded = Stream(), None, 0
        self.stream, self.sm, self.cuda = self.main, 90, 13000

    # The driver.
    def activate(self, ordinal: int) -> None: ...

    def version(self) -> int:
        return self.cuda

    def name(self, ordinal: int) -> str:
        return "NVIDIA H200"

    def capability(self, ordinal: int) -> int:
        return self.sm

    def load(self, cubin: bytes) -> bytes:
        assert self.capturing is None
        if cubin in self.refused:
            raise Error("the NVIDIA driver: cuModuleLoadData: device kernel image is invalid (200)")
        self.loaded += 1
        return cubin

    def unload(self, module: bytes) -> None:
        self.loaded -= 1

    def function(self, module: bytes, symbol: str, shared: int) -> Kernel:
        return self.kernels[module]

    def launch(self, kernel: Kernel, grid: Any, warps: int, shared: int, stream: int, parameters: Any) -> None:
        assert stream == Stream.cuda_stream and grid == (1, 1, 1) and warps == 4
        *given, none = parameters.values
        assert none is None
        self.do(
            lambda: reference(
                kernel,
                [
                    _at(a, b.nbytes).view(b.dtype).reshape(b.shape)
                    for a, b in zip(given, buffers_of(kernel), strict=True)
                ],
            )
        )

    # Capturing.
    def do(self, work: Callable[[], None]) -> None:
        if self.capturing is None:
            work()
            return
        assert self.stream.frontier is not None, "the stream takes no part in the capture"
        self.capturing.nodes.append((self.stream.frontier, work))
        self.stream.frontier = {len(self.capturing.nodes) - 1}

    @contextlib.contextmanager
    def using(self, stream: Stream) -> Iterator[None]:
        before, self.stream = self.stream, stream
        yield
        self.stream = before

    @contextlib.contextmanager
    def graph(self, graph: Graph, pool: object = None, capture_error_mode: str = "") -> Iterator[None]:
        self.capturing, stream = graph, Stream()
        stream.frontier = set()
        with self.using(stream):
            yield
        self.capturing = None
        assert graph.before(stream.frontier) == set(range(len(graph.nodes))), "unjoined work"


def _at(address: int | None, size: int) -> np.ndarray:
    if not size:
        return np.empty(0, np.uint8)
    return np.frombuffer((ctypes.c_uint8 * size).from_address(address or 0), np.uint8)


def torch_of(gpu: FakeGpu) -> Any:
    """The module."""

    def made(size: int, dtype: str, device: str = "", pin_memory: bool = False) -> Tensor:
        return Tensor(np.zeros(size, dtype), gpu)

    torch: Any = ModuleType("torch")
    torch.__version__, torch.version = "2.11.0+cu130", SimpleNamespace(cuda="13.0")
    torch.backends = SimpleNamespace(cudnn=SimpleNamespace(version=lambda: 91300))
    torch.zeros, torch.empty, torch.Tensor, torch.uint8 = made, made, Tensor, "uint8"
    torch.from_numpy = lambda x: Tensor(x, gpu)
    torch.from_dlpack = lambda x: Tensor(np.from_dlpack(x), gpu)
    torch.no_grad = contextlib.nullcontext
    torch._C = SimpleNamespace()
    for name in ("float16", "float32", "int32", "int64", "bool"):
        setattr(torch, name, name)
    torch.cuda = SimpleNamespace(
        is_available=lambda: True,
        device=lambda n: contextlib.nullcontext(),
        synchronize=lambda n=0: None,
        Stream=Stream,
        Event=Event,
        CUDAGraph=Graph,
        graph=gpu.graph,
        stream=gpu.using,
        current_stream=lambda: gpu.stream,
        graph_pool_handle=lambda: 1,
    )
    return torch


def compiled(gpu: FakeGpu, kernels: Sequence[Kernel], capability: int, jobs: int) -> list[tuple[CompiledLaunch, ...]]:
    """Binaries that the fake driver knows."""
    made: list[tuple[CompiledLaunch, ...]] = []
    for kernel in kernels:
        cubin = f"{kernel.source} for {capability}".encode()
        gpu.kernels[cubin] = kernel
        made.append((CompiledLaunch("f", cubin, "f_0", 0, 4, len(buffers_of(kernel)) + 1),))
    return made


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> FakeGpu:
    """A GPU that looks like one in this process."""
    fake = FakeGpu()
    monkeypatch.setitem(sys.modules, "torch", torch_of(fake))
    calls: Any = ModuleType("korch.backends.cuda.vendor.calls")
    calls.CALLS = {
        "reference": lambda torch, tensors, attrs: fake.do(
            lambda: reference(dict(attrs)["kernel"](), [t.array for t in tensors])
        )
    }
    monkeypatch.setitem(sys.modules, calls.__name__, calls)
    monkeypatch.setattr(resident, "driver", lambda: fake)
    monkeypatch.setattr(requirements, "driver", lambda: fake)
    monkeypatch.setattr(requirements, "_installed", lambda name: "2.11")
    monkeypatch.setattr(link, "_compiled", lambda *args: compiled(fake, *args))
    return fake


def no_driver() -> Any:
    raise Error("there is no NVIDIA driver here (libcuda.so.1 is not found)")
