"""The driver's functions through ctypes: what they are given, and what is said where they fail."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from korch.backends.cuda import driver as module
from korch.backends.cuda.driver import Driver, driver, pointers
from korch.errors import Error

VALUES = {16: 132, 75: 9, 76: 0}


class Function:
    """A function of the library: what it was last given, and what it answers."""

    def __init__(self, work: Any) -> None:
        self._work = work

    def __call__(self, *args: Any) -> int:
        return self._work(*(a._obj if hasattr(a, "_obj") else a for a in args)) or 0


class Library:
    """As libcuda, with one device; `failing` is what fails."""

    def __init__(self, failing: str = "") -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.failing = failing

    def __getattr__(self, name: str) -> Function:
        own = type(self).__dict__.get(f"_{name}")
        work = own.__get__(self) if own else lambda *args: self.calls.append((name, *args))
        function = Function((lambda *args: 100) if name == self.failing else work)
        setattr(self, name, function)
        return function

    def _cuDriverGetVersion(self, out: Any) -> None:
        out.value = 13000

    def _cuDeviceGetCount(self, out: Any) -> None:
        out.value = 1

    def _cuDeviceGetName(self, out: Any, size: int, device: int) -> None:
        out.value = b"NVIDIA H200"

    def _cuDeviceGetAttribute(self, out: Any, which: int, device: int) -> None:
        out.value = VALUES[which]

    def _cuDeviceTotalMem_v2(self, out: Any, device: int) -> None:
        out.value = 141 << 30

    def _cuDeviceGetUuid(self, out: Any, device: int) -> None:
        out[1] = b"\xff"

    def _cuModuleLoadData(self, out: Any, cubin: bytes) -> None:
        out.value = len(cubin)

    def _cuModuleGetFunction(self, out: Any, loaded: Any, symbol: bytes) -> None:
        out.value = loaded.value * 10

    def _cuGetErrorString(self, status: int, out: Any) -> None:
        out.value = b"no CUDA-capable device is detected"


def test_a_device_says_what_it_is() -> None:
    found = Driver(Library())
    assert (found.version(), found.count(), found.name(0)) == (13000, 1, "NVIDIA H200")
    assert (found.capability(0), found.multiprocessors(0), found.memory(0)) == (90, 132, 141 << 30)
    assert found.uuid(0) == "00ff" + "00" * 14


def test_functions_are_started_with_their_parameters() -> None:
    library = Library()
    found = Driver(library)
    found.activate(0)
    loaded = found.load(b"12345")
    small, large = found.function(loaded, "f", 1000), found.function(loaded, "g", 100_000)
    parameters = pointers([1 << 40, 0])
    found.launch(large, (5, 2, 1), 8, 100_000, 77, parameters)
    found.unload(loaded)
    names = [c[0] for c in library.calls]
    assert names == [
        "cuInit",
        "cuDeviceGet",
        "cuDevicePrimaryCtxRetain",
        "cuCtxSetCurrent",
        "cuFuncSetCacheConfig",
        "cuFuncSetAttribute",
        "cuLaunchKernel",
        "cuModuleUnload",
    ]
    assert library.calls[5][2:] == (8, 100_000) and small.value == 50
    assert library.calls[6][2:] == (5, 2, 1, 256, 1, 1, 100_000, 77, parameters.at, None)


def test_parameters_point_to_addresses() -> None:
    made = pointers([1 << 40, 0, 512])
    found = [ctypes.cast(p, ctypes.POINTER(ctypes.c_uint64))[0] for p in made.at]
    assert found == [1 << 40, 0, 512] and len(pointers([]).at) == 1


def test_errors_are_the_drivers_own() -> None:
    with pytest.raises(Error, match=r"cuInit: no CUDA-capable device is detected \(100\)"):
        Driver(Library("cuInit"))
    found = Driver(Library("cuModuleLoadData"))
    with pytest.raises(Error, match="cuModuleLoadData: no CUDA"):
        found.load(b"")


def test_without_a_driver_there_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    driver.cache_clear()
    monkeypatch.setattr(module, "PLACES", ("libnothing.so.77", "/nowhere/libnothing.so"))
    with pytest.raises(Error, match="there is no NVIDIA driver here"):
        driver()
