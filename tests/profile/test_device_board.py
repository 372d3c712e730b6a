"""A board on the memory of the host, with its own torch where that is there; all of it on a GPU, if there is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from korch.backends.contract import Kernel, Launch, Triton, Variant
from korch.backends.cuda.triton.compile import CompiledLaunch
from korch.backends.table import entry_of
from korch.profile.cuda import torch_board
from korch.profile.cuda.board import BoardError, BoardLost
from korch.profile.cuda.calibrate import machine
from korch.profile.cuda.installed import installed
from korch.profile.cuda.profiler import DeviceProfiler
from korch.profile.cuda.tasks import Measure
from korch.profile.cuda.timing import timed
from korch.profile.cuda.torch_board import GUARD, TorchBoard
from korch.profile.cuda.trial import KernelTrials
from korch.profile.database import Database
from korch.profile.results import Measurement

from .fake_board import product_cone, relu_cone

torch: Any = pytest.importorskip("torch")


class Graph:
    def capture_begin(self, capture_error_mode: str) -> None: ...

    def capture_end(self) -> None: ...

    def replay(self) -> None: ...


class Moment:
    now = 0.0

    def __init__(self, enable_timing: bool) -> None: ...

    def record(self) -> None:
        Moment.now += 2.5
        self.at = Moment.now

    def elapsed_time(self, later: Moment) -> float:
        return later.at - self.at


class FakeDriver:
    """Remembers what was loaded and started."""

    def __init__(self) -> None:
        self.loaded: list[bytes] = []
        self.started: list[tuple] = []

    def load(self, cubin: bytes) -> bytes:
        self.loaded.append(cubin)
        return cubin

    def unload(self, module: bytes) -> None:
        self.loaded.remove(module)

    def function(self, module: bytes, symbol: str, shared: int) -> str:
        return symbol

    def launch(self, *arguments: Any) -> None:
        self.started.append(arguments)


class HostBoard(TorchBoard):
    """The board as it would be on a GPU, with the host's memory."""

    def __init__(self) -> None:
        self.cache, self._torch, self._device = 1 << 20, torch, torch.device("cpu")
        self._stream, self._loaded = type("Stream", (), {"cuda_stream": 7}), {}


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    found = FakeDriver()
    monkeypatch.setattr(torch_board, "driver", lambda: found)
    for name, value in (
        ("synchronize", lambda: None),
        ("empty_cache", lambda: None),
        ("CUDAGraph", Graph),
        ("Event", Moment),
    ):
        monkeypatch.setattr(torch.cuda, name, value)
    return found


@pytest.mark.parametrize("size", [0, 3, 4096])
def test_memory_holds_what_is_written_and_has_guards(driver: FakeDriver, size: int):
    board, data = HostBoard(), np.arange(size).astype(np.uint8)
    memory = board.memory(size)
    board.write(memory, data)
    assert np.array_equal(board.read(memory), data) and board.intact(memory)
    twin = board.twin(memory)
    board.fill(memory, 255)
    assert np.array_equal(board.read(twin), data) and (board.read(memory) == 255).all() and board.intact(memory)
    memory.whole[size + GUARD - 1] = 0
    assert not board.intact(memory) and board.intact(twin)


def test_launches_get_addresses_and_nulls_and_old_functions_go(driver: FakeDriver):
    board = HostBoard()
    launches = (Launch("f", (3, 2, 1), (0, 2), 8), Launch("g", (1, 1, 1), (2,)))
    kernel = Kernel(relu_cone(), "by-hand", Variant(), Triton("f", launches))
    binaries = [CompiledLaunch("f", b"one", "f", 100, 8, 4), CompiledLaunch("g", b"two", "g", 0, 4, 1)]
    buffers = [board.memory(64) for _ in range(3)]
    board.finish(board.bind(kernel, binaries, buffers))
    first, second = driver.started
    assert first[:5] == ("f", (3, 2, 1), 8, 100, 7) and second[:5] == ("g", (1, 1, 1), 4, 0, 7)
    address = [b.whole.data_ptr() for b in buffers]
    assert [v or 0 for v in first[5].values] == [address[0], address[2], 0, 0] and list(second[5].values) == [
        address[2]
    ]
    board.bind(kernel, binaries, buffers)
    assert driver.loaded == [b"one", b"two"]
    board.bind(kernel, [CompiledLaunch("f", b"three", "f", 0, 4, 2)] * 2, buffers)
    assert driver.loaded == [b"three"] * 2


def test_calls_of_libraries_are_checked_like_all_kernels(driver: FakeDriver):
    """On the host they are plain torch, in the precision that they name."""
    vendor = entry_of("vendor").backend
    assert vendor
    trial = KernelTrials(HostBoard())
    kernels = [k for k in vendor.build(product_cone(), 132) if k.variant.precision in ("ieee", "tf32", "tf32x3")]
    assert kernels and all(isinstance(trial.answer(Measure(k)), Measurement) for k in kernels)


def test_seconds_are_between_two_events(driver: FakeDriver):
    assert HostBoard().time([lambda: None], 5).tolist() == [2.5e-3] * 5


def test_a_device_that_answers_is_not_lost(driver: FakeDriver, monkeypatch: pytest.MonkeyPatch):
    def fail() -> None:
        raise RuntimeError("CUDA error: an illegal memory access\nof many lines")

    board = HostBoard()
    with pytest.raises(BoardError, match=r"an illegal memory access$") as found:
        board.finish(fail)
    assert not isinstance(found.value, BoardLost)
    monkeypatch.setattr(torch.cuda, "synchronize", fail)
    with pytest.raises(BoardLost):
        board.finish(fail)


@pytest.mark.cuda
@pytest.mark.skipif(not installed(), reason="there is no GPU here")
def test_on_a_gpu_kernels_have_costs_and_the_device_has_rates(tmp_path: Path):
    board = installed()[0]
    vendor = entry_of("vendor").backend
    assert vendor
    with Database(tmp_path) as database, DeviceProfiler([board], database) as profiler:
        found = machine(profiler, board.device())
        assert found.moves and 0 < found.launch < 5e-6 and found.peak("tf32") > found.peak_flops
        kernels = vendor.build(product_cone(1024, 1024, 1024), board.multiprocessors)
        results = profiler.measure(kernels)
        assert all(isinstance(r, Measurement) for r in results), results
        assert min(r.seconds for r in results if isinstance(r, Measurement)) < 1e-4


@pytest.mark.cuda
@pytest.mark.skipif(not installed(), reason="there is no GPU here")
def test_on_a_gpu_a_graph_of_nothing_takes_a_launch_each():
    board = TorchBoard(0, installed()[0].l2)
    seconds, spread = timed(board, [board.nothing()])
    assert 2e-7 < seconds < 1e-5 and spread < 0.2
