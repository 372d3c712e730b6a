"""The GPUs of this machine, as their driver describes them."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from korch.devices import DEVICES, LAUNCH, Device
from korch.machine import Machine

ATTRIBUTES = {"multiprocessors": 16, "major": 75, "minor": 76, "shared": 97, "l2": 38, "clock": 13, "memory_clock": 36,
              "bus": 37}  # fmt: skip
"""Numbers of the driver's interface: clocks in kHz, the bus in bits."""
NAME_LENGTH = 128
LIBRARIES = ("libcuda.so.1", "libcuda.so", "nvcuda.dll")
LANES, CACHED = 256, 64
"""Float32 operations a clock and bytes of the cache a clock that no multiprocessor exceeds."""
TENSOR = {"tf32": 2048, "fp16": 4096, "bf16": 4096}
"""Operations a clock of a multiprocessor's tensor cores: an H100's."""


@dataclass(frozen=True)
class Installed:
    """GPU number `index`; `l2` in bytes, `clock` in Hz, `bandwidth` of its memory in bytes a second."""

    index: int
    name: str
    capability: int
    multiprocessors: int
    shared: int
    l2: int
    clock: float
    bandwidth: float
    driver: str

    def like(self, other: Installed) -> bool:
        """Whether kernels cost the same on both."""
        return replace(self, index=other.index) == other

    def device(self) -> Device:
        """Its description, with rates that it does not exceed."""
        for d in DEVICES.values():
            if d.name in self.name.upper().replace("-", " ").split() and d.capability == self.capability:
                return replace(d, multiprocessors=self.multiprocessors, shared=self.shared)
        return Device(self.name, self.capability, self.multiprocessors, self.shared, self._machine())

    def _machine(self) -> Machine:
        turns = self.multiprocessors * self.clock
        bandwidths = ((self.l2, CACHED * turns), (1 << 62, self.bandwidth))
        peaks = tuple((precision, rate * turns) for precision, rate in TENSOR.items())
        return Machine(self.multiprocessors, LANES * turns, bandwidths, LAUNCH, self.name, peaks=peaks)


@cache
def installed() -> tuple[Installed, ...]:
    """All GPUs that this process may use; none where there is no driver."""
    library = _library()
    count = ctypes.c_int()
    if library is None or library.cuInit(0) or library.cuDeviceGetCount(ctypes.byref(count)):
        return ()
    return tuple(_gpu(library, index) for index in range(count.value))


def _library() -> Any:
    for name in LIBRARIES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def _gpu(library: Any, index: int) -> Installed:
    device, name = ctypes.c_int(), ctypes.create_string_buffer(NAME_LENGTH)
    library.cuDeviceGet(ctypes.byref(device), index)
    library.cuDeviceGetName(name, NAME_LENGTH, device)
    a = {key: _attribute(library, number, device) for key, number in ATTRIBUTES.items()}
    bandwidth = 2e3 * a["memory_clock"] * a["bus"] / 8
    return Installed(index, name.value.decode(), 10 * a["major"] + a["minor"], a["multiprocessors"], a["shared"],
                     a["l2"], 1e3 * a["clock"], bandwidth, _driver(library))  # fmt: skip


def _attribute(library: Any, number: int, device: ctypes.c_int) -> int:
    value = ctypes.c_int()
    library.cuDeviceGetAttribute(ctypes.byref(value), number, device)
    return value.value


def _driver(library: Any) -> str:
    """The driver's own version where the system tells it, else that of the interface it offers."""
    file = Path("/sys/module/nvidia/version")
    if file.is_file():
        return file.read_text().strip()
    version = ctypes.c_int()
    library.cuDriverGetVersion(ctypes.byref(version))
    return str(version.value)
