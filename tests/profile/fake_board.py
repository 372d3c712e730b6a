"""A device that is only memory of the host, and kernels for it that are Python functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from korch.backends.contract import Kernel, Launch, Triton, Variant
from korch.backends.cuda.buffers import Buffer, buffers_of
from korch.ir import Builder, Cone
from korch.profile.cuda.board import BoardError, Run, Samples

GUARD = 64
Function = Callable[..., None]
KERNELS: dict[str, Function] = {}
"""What a kernel does to its buffers, by its source."""


def kernel(function: Function) -> Function:
    KERNELS[function.__name__] = function
    return function


@dataclass
class FakeBoard:
    """`seconds` of a run, what each replay adds to it, and all graphs that were timed."""

    cache: int = 1 << 20
    seconds: float = 10e-6
    noise: Callable[[int], Samples] = lambda samples: np.zeros(samples)
    graphs: list[int] = field(default_factory=list)
    binds: list[list[int]] = field(default_factory=list)

    def memory(self, size: int) -> np.ndarray:
        return np.concatenate([np.zeros(size, np.uint8), np.full(GUARD, 0xA5, np.uint8)])

    def write(self, memory: np.ndarray, data: np.ndarray) -> None:
        memory[: memory.size - GUARD] = data

    def read(self, memory: np.ndarray) -> np.ndarray:
        return memory[: memory.size - GUARD].copy()

    def part(self, memory: np.ndarray, buffer: Buffer, region: tuple[np.ndarray, ...]) -> np.ndarray:
        dtype = "uint8" if buffer.dtype == "bool" else buffer.dtype
        x = self.read(memory).view(dtype).reshape(buffer.shape)
        return x[np.ix_(*region)] if x.ndim else x

    def holds(self, memory: np.ndarray, width: int, byte: int) -> bool:
        return bool((self.read(memory).reshape(-1, width) == byte).all(axis=1).any())

    def same(self, memory: np.ndarray, other: np.ndarray) -> bool:
        return np.array_equal(self.read(memory), self.read(other))

    def fill(self, memory: np.ndarray, byte: int) -> None:
        memory[: memory.size - GUARD] = byte

    def twin(self, memory: np.ndarray) -> np.ndarray:
        return memory.copy()

    def intact(self, memory: np.ndarray) -> bool:
        return bool((memory[memory.size - GUARD :] == 0xA5).all())

    def bind(self, kernel: Kernel, binaries: Sequence[Any], buffers: Sequence[np.ndarray]) -> Run:
        self.binds.append([id(b) for b in buffers])
        views = [
            m[: m.size - GUARD].view(b.dtype).reshape(b.shape) for m, b in zip(buffers, buffers_of(kernel), strict=True)
        ]
        return lambda: KERNELS[kernel.source](*views)

    def finish(self, run: Run) -> None:
        try:
            run()
        except ZeroDivisionError as e:
            raise BoardError("an illegal instruction was encountered") from e

    def time(self, runs: Sequence[Run], samples: int) -> Samples:
        self.graphs.append(len(runs))
        for run in dict.fromkeys(runs):
            run()
        return len(runs) * self.seconds * (1 + self.noise(samples))

    def product(self, precision: str, side: int) -> Run:
        return lambda: None

    def copy(self, size: int) -> Run:
        return lambda: None

    def nothing(self) -> Run:
        return lambda: None


def product_cone(rows: int = 64, terms: int = 256, columns: int = 32) -> Cone:
    b = Builder()
    w = b.constant(np.zeros((terms, columns), np.float32))
    b.op("MatMul", b.input("x", "float32", (rows, terms)), w)
    return Cone.of(b.primitives)


def relu_cone(size: int = 4096) -> Cone:
    b = Builder()
    b.op("Relu", b.input("x", "float32", (size // 64, 64)))
    return Cone.of(b.primitives)


def on_board(cone: Cone, function: Function, form: str = "", precision: str = "") -> Kernel:
    count = len(cone.leaves) + 1
    launch = Launch("f", (1, 1, 1), tuple(range(count)))
    return Kernel(cone, "by-hand", Variant(form, precision), Triton(function.__name__, (launch,)))
