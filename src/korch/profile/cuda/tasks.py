"""What the processes that compile and measure for a device are asked, and what they answer."""

from __future__ import annotations

from dataclasses import dataclass

from korch.backends.contract import Kernel
from korch.backends.cuda.triton.compile import CompiledLaunch


@dataclass(frozen=True)
class Compile:
    """Compile the launches of `kernel` for devices of `capability`."""

    kernel: Kernel
    capability: int


@dataclass(frozen=True)
class Measure:
    """Check and time `kernel`, whose launches are `binaries`."""

    kernel: Kernel
    binaries: tuple[CompiledLaunch, ...] = ()


@dataclass(frozen=True)
class MeasureRates:
    """Measure the device itself."""


@dataclass(frozen=True)
class MeasurePace:
    """Measure how fast the device is at the moment."""


@dataclass(frozen=True)
class BoardRates:
    """`peaks`: (precision, operations a second) of the library's products. `copies`: (bytes moved, seconds) of copying
    half as many bytes. `launch`: seconds of the smallest kernel in a graph."""

    peaks: tuple[tuple[str, float], ...]
    copies: tuple[tuple[int, float], ...]
    launch: float
