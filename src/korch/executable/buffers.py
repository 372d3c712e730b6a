"""Arrays at addresses that kernels can use, and outputs whose memory is used again once nobody holds it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence

import numpy as np

from korch.executable.memory import ALIGNMENT
from korch.ir.ops.table import Array
from korch.ir.tensor import Tensor

_ALONE = [np.empty(0)]
_UNHELD = sys.getrefcount(_ALONE[0])  # what it counts for an array that only a list holds


def aligned_empty(shape: Sequence[int], dtype: str) -> Array:
    """An array with undefined values whose data starts at a multiple of 64 bytes."""
    nbytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    return _shaped(_raw(nbytes), nbytes, tuple(shape), dtype)


def _raw(nbytes: int) -> Array:
    return np.empty(nbytes + ALIGNMENT, np.uint8)


def _shaped(raw: Array, nbytes: int, shape: tuple[int, ...], dtype: str) -> Array:
    skip = -raw.ctypes.data % ALIGNMENT
    return raw[skip : skip + nbytes].view(dtype).reshape(shape)


class OutputPool:
    """Gives out arrays for the outputs of runs. Fresh memory costs a page fault every 4 KiB, so memory is kept
    and given out again as soon as no array or view refers to it."""

    def __init__(self, tensors: Sequence[Tensor], most: int = 4) -> None:
        self._tensors = tensors
        self._most = most
        self._kept: list[list[Array]] = [[] for _ in tensors]
        self._lock = threading.Lock()

    def take(self) -> list[Array]:
        """One array for each output."""
        with self._lock:
            return [self._array(t, kept) for t, kept in zip(self._tensors, self._kept, strict=True)]

    def _array(self, t: Tensor, kept: list[Array]) -> Array:
        for i in range(len(kept)):
            if sys.getrefcount(kept[i]) == _UNHELD:
                return _shaped(kept[i], t.nbytes, t.shape, t.dtype)
        raw = _raw(t.nbytes)
        if len(kept) < self._most:
            kept.append(raw)
        return _shaped(raw, t.nbytes, t.shape, t.dtype)
