"""Devices as their data sheets describe them: what plans are made for where none is at hand."""

from __future__ import annotations

from dataclasses import dataclass

from korch.errors import Error
from korch.machine import Machine

LAUNCH = 1.5e-6
"""Seconds that a kernel of a CUDA graph takes at least, its dependence on the one before included."""


@dataclass(frozen=True)
class Device:
    """An NVIDIA GPU.

    `capability` is that of its instruction set (90 is sm_90); `multiprocessors` run blocks of threads side by side,
    each with at most `shared` bytes of fast memory a block. `machine` has its rates, float32 outside of the tensor
    cores as `peak_flops`.
    """

    name: str
    capability: int
    multiprocessors: int
    shared: int
    machine: Machine

    @property
    def arch(self) -> str:
        return f"sm_{self.capability}"


def _device(
    name: str,
    capability: int,
    multiprocessors: int,
    shared: int,
    teraflops: dict[str, float],
    l2: tuple[int, float],
    memory: float,
) -> Device:
    """Rates in 10^12 operations and bytes a second, `l2` with its bytes."""
    peaks = tuple((precision, rate * 1e12) for precision, rate in teraflops.items() if precision != "float32")
    bandwidths = ((l2[0], l2[1] * 1e12), (1 << 62, memory * 1e12))
    machine = Machine(multiprocessors, teraflops["float32"] * 1e12, bandwidths, LAUNCH, name, peaks=peaks)
    return Device(name, capability, multiprocessors, shared, machine)


DEVICES = {
    d.name: d
    for d in (
        _device(
            "A100", 80, 108, 163 << 10, {"float32": 19.5, "tf32": 156, "fp16": 312, "bf16": 312}, (40 << 20, 5.1), 2.04
        ),
        _device(
            "H100", 90, 132, 227 << 10, {"float32": 67, "tf32": 494, "fp16": 989, "bf16": 989}, (50 << 20, 5.7), 3.35
        ),
        _device(
            "H200", 90, 132, 227 << 10, {"float32": 67, "tf32": 494, "fp16": 989, "bf16": 989}, (50 << 20, 5.7), 4.8
        ),
    )
}
"""SXM boards: NVIDIA's data sheets of the A100 80GB, the H100 and the H200, dense rates; the second-level caches as
micro-benchmarks read them."""


def device_named(name: str) -> Device:
    """The device called `name`, in any case; Error says which there are."""
    found = DEVICES.get(name.upper())
    if not found:
        raise Error(f"no device is called {name!r}; descriptions: {', '.join(DEVICES)}")
    return found
