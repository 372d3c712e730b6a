"""What checking and timing ask of a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from korch.backends.contract import Kernel
from korch.backends.cuda.buffers import Buffer
from korch.backends.cuda.triton.compile import CompiledLaunch
from korch.errors import BackendError
from korch.ir.ops.table import Array, Region
from korch.profile.arena import Bytes

DeviceMemory = Any
"""Bytes on the board."""
Run = Callable[[], None]
"""Starts a kernel on its buffers."""
Samples = NDArray[np.float64]


class BoardError(BackendError):
    """The device refuses a kernel, or fails in it."""


class BoardLost(BoardError):
    """The device failed in a way after which this process cannot use it any more."""


class Board(Protocol):
    """Memory, launches and the clock of one device."""

    @property
    def cache(self) -> int:
        """Bytes of the cache that all multiprocessors share."""
        ...

    def memory(self, size: int) -> DeviceMemory:
        """New memory, aligned as in a program, with guards behind it."""
        ...

    def write(self, memory: DeviceMemory, data: Bytes) -> None: ...

    def read(self, memory: DeviceMemory) -> Bytes: ...

    def part(self, memory: DeviceMemory, buffer: Buffer, region: Region) -> Array:
        """What `region` of the tensor `buffer` holds, booleans as bytes."""
        ...

    def fill(self, memory: DeviceMemory, byte: int) -> None: ...

    def holds(self, memory: DeviceMemory, width: int, byte: int) -> bool:
        """Whether any of its elements of `width` bytes is nothing but `byte`."""
        ...

    def same(self, memory: DeviceMemory, other: DeviceMemory) -> bool:
        """Whether both hold the same bytes."""
        ...

    def twin(self, memory: DeviceMemory) -> DeviceMemory:
        """New memory with the same bytes."""
        ...

    def intact(self, memory: DeviceMemory) -> bool:
        """Whether nobody has written to the guards."""
        ...

    def bind(self, kernel: Kernel, binaries: Sequence[CompiledLaunch], buffers: Sequence[DeviceMemory]) -> Run:
        """The kernel on `buffers`, numbered as in `Launch.buffers`."""
        ...

    def finish(self, run: Run) -> None:
        """Runs and waits; BoardError where that fails."""
        ...

    def time(self, runs: Sequence[Run], samples: int) -> Samples:
        """Seconds that all of `runs` take one after another, as one graph; a sample is a replay."""
        ...

    def product(self, precision: str, side: int) -> Run:
        """The library's product of two square matrices."""
        ...

    def copy(self, size: int) -> Run:
        """A copy of so many bytes."""
        ...

    def nothing(self) -> Run:
        """The smallest kernel there is."""
        ...
