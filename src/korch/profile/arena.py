"""Memory for the buffers of the kernel under measurement, reused from one to the next."""

from __future__ import annotations

import mmap
from collections.abc import Sequence

import numpy as np

from korch.ir.ops.table import Array
from korch.ir.tensor import Tensor

ALIGN = 64
GUARD = 128  # bytes between buffers that no kernel may touch
HUGE = 2 << 20
GUARD_BYTE = 0xA5

Bytes = np.ndarray[tuple[int], np.dtype[np.uint8]]


class Arena:
    """One growing block on huge pages, as in a linked program; each `buffers` call divides it anew."""

    def __init__(self) -> None:
        self._block: Bytes = np.zeros(0, np.uint8)
        self._guards: list[Bytes] = []

    def buffers(self, sizes: Sequence[int]) -> list[Bytes]:
        """Aligned, disjoint buffers of `sizes` bytes with guards around them. Earlier ones become invalid."""
        steps = [-(-size // ALIGN) * ALIGN + GUARD for size in sizes]
        self._reserve(sum(steps) + GUARD)
        at, result, self._guards = GUARD, list[Bytes](), [self._block[:GUARD]]
        for size, step in zip(sizes, steps, strict=True):
            result.append(self._block[at : at + size])
            self._guards.append(self._block[at + size : at + step])
            at += step
        for guard in self._guards:
            guard[...] = GUARD_BYTE
        return result

    @property
    def intact(self) -> bool:
        """Has nobody written between the buffers?"""
        return all((guard == GUARD_BYTE).all() for guard in self._guards)

    def _reserve(self, size: int) -> None:
        if size > self._block.size:
            self._guards = []
            self._block = _map(size + size // 4)


def _map(size: int) -> Bytes:
    """Fresh memory that starts at a huge page."""
    whole = mmap.mmap(-1, -(-size // HUGE) * HUGE + HUGE)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        whole.madvise(mmap.MADV_HUGEPAGE)
    block = np.frombuffer(whole, np.uint8)
    return block[-block.ctypes.data % HUGE :]


def tensor_view(buffer: Bytes, t: Tensor) -> Array:
    """The buffer as an array of `t`'s dtype and shape."""
    return buffer.view(t.dtype).reshape(t.shape)
