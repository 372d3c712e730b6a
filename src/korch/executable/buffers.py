"""Arrays at addresses that kernels can use in place."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from korch.executable.memory import ALIGNMENT
from korch.ir.ops.table import Array


def aligned_empty(shape: Sequence[int], dtype: str) -> Array:
    """An array with undefined values whose data starts at a multiple of 64 bytes."""
    nbytes = math.prod(shape) * np.dtype(dtype).itemsize
    raw = np.empty(nbytes + ALIGNMENT, np.uint8)
    skip = -address(raw) % ALIGNMENT
    return raw[skip : skip + nbytes].view(dtype).reshape(shape)


def address(x: Array) -> int:
    """Where the data of `x` starts."""
    return x.__array_interface__["data"][0]
