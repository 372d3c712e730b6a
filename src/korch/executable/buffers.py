"""Arrays at addresses that kernels can use in place."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from threading import Lock

import numpy as np

from korch.executable.memory import ALIGNMENT
from korch.ir.ops.table import Array

LARGE = 1 << 16
"""Bytes from which memory of the system is new with every request: a page fault for each 4 KiB."""
KEPT = 2
"""Buffers kept for one output: one that the caller still reads, and one to write."""


def aligned_empty(shape: Sequence[int], dtype: str) -> Array:
    """An array with undefined values whose data starts at a multiple of 64 bytes."""
    return _seen_as(_raw(shape, dtype), shape, dtype)


class Recycler:
    """Arrays of one type, in memory of earlier ones that nobody refers to any more."""

    def __init__(self, shape: Sequence[int], dtype: str) -> None:
        self._shape, self._dtype = shape, dtype
        self._kept: list[Array] = []
        self._lock = Lock()

    def empty(self) -> Array:
        """As `aligned_empty`."""
        with self._lock:
            for k in range(len(self._kept)):
                if sys.getrefcount(self._kept[k]) == UNUSED:
                    return _seen_as(self._kept[k], self._shape, self._dtype)
            raw = _raw(self._shape, self._dtype)
            if raw.nbytes >= LARGE and len(self._kept) < KEPT:
                self._kept.append(raw)
            return _seen_as(raw, self._shape, self._dtype)


def _raw(shape: Sequence[int], dtype: str) -> Array:
    return np.empty(math.prod(shape) * np.dtype(dtype).itemsize + ALIGNMENT, np.uint8)


def _seen_as(raw: Array, shape: Sequence[int], dtype: str) -> Array:
    """The aligned part of `raw`; every view of it refers to `raw` itself."""
    skip = -address(raw) % ALIGNMENT
    return raw[skip : skip + raw.nbytes - ALIGNMENT].view(dtype).reshape(shape)


def _unused() -> int:
    """What `sys.getrefcount` says of an item of a list that nothing else refers to, in this Python."""
    kept = [np.empty(1, np.uint8)]
    return sys.getrefcount(kept[0])


UNUSED = _unused()


def address(x: Array) -> int:
    """Where the data of `x` starts."""
    return x.__array_interface__["data"][0]
