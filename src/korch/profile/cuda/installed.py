"""The GPUs of this machine, as their driver describes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from korch.backends.cuda.driver import Driver, driver
from korch.devices import DEVICES, LAUNCH, Device
from korch.errors import Error
from korch.machine import Machine

ATTRIBUTES = {"shared": 97, "l2": 38, "clock": 13, "memory_clock": 36, "bus": 37}
"""Numbers of the driver's interface: clocks in kHz, the bus in bits."""
LANES, CACHED = 256, 64
"""Float32 operations a clock and bytes of the cache a clock that no multiprocessor exceeds."""
TENSOR = {"tf32": 2048, "fp16": 4096, "bf16": 4096}
"""Operations a clock of a multiprocessor's tensor cores: an H100's."""


@dataclass(frozen=True)
class Installed:
    """GPU number `index` of this process; `l2` and `memory` in bytes, `clock` in Hz, `bandwidth` of its memory in bytes
    a second. `uuid`: what all processes call it."""

    index: int
    name: str
    capability: int
    multiprocessors: int
    shared: int
    l2: int
    clock: float
    bandwidth: float
    driver: str
    memory: int = 0
    uuid: str = ""

    def like(self, other: Installed) -> bool:
        """Whether kernels cost the same on both."""
        return replace(self, index=other.index, uuid=other.uuid) == other

    def device(self) -> Device:
        """Its description, with rates that it does not exceed."""
        for d in DEVICES.values():
            if d.name in self.name.upper().replace("-", " ").split() and d.capability == self.capability:
                own = {"multiprocessors": self.multiprocessors, "shared": self.shared}
                return replace(d, machine=self._cached(d.machine), **own)
        return Device(self.name, self.capability, self.multiprocessors, self.shared, self._machine())

    def _cached(self, described: Machine) -> Machine:
        """The described rates, with the cache that the driver reports."""
        (_, rate), *others = described.bandwidths
        return replace(described, bandwidths=((self.l2, rate), *others)) if self.l2 else described

    def _machine(self) -> Machine:
        turns = self.multiprocessors * self.clock
        bandwidths = ((self.l2, CACHED * turns), (1 << 62, self.bandwidth))
        peaks = tuple((precision, rate * turns) for precision, rate in TENSOR.items())
        return Machine(self.multiprocessors, LANES * turns, bandwidths, LAUNCH, self.name, peaks=peaks)


@cache
def installed() -> tuple[Installed, ...]:
    """All GPUs that this process may use; none where there is no driver."""
    try:
        found = driver()
        return tuple(_gpu(found, ordinal) for ordinal in range(found.count()))
    except Error:
        return ()


def _gpu(found: Driver, ordinal: int) -> Installed:
    a = {key: found.attribute(number, ordinal) for key, number in ATTRIBUTES.items()}
    bandwidth = 2e3 * a["memory_clock"] * a["bus"] / 8
    name, capability, multiprocessors = found.name(ordinal), found.capability(ordinal), found.multiprocessors(ordinal)
    return Installed(
        ordinal,
        name,
        capability,
        multiprocessors,
        a["shared"],
        a["l2"],
        1e3 * a["clock"],
        bandwidth,
        _version(found),
        found.memory(ordinal),
        found.uuid(ordinal),
    )


def _version(found: Driver) -> str:
    """The driver's own version where the system tells it, else that of the interface it offers."""
    file = Path("/sys/module/nvidia/version")
    return file.read_text().strip() if file.is_file() else str(found.version())
