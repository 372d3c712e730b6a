"""The buffers that a device kernel works on, and the constants that are prepared for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from korch.backends.contract import Kernel, Prepared
from korch.ir.ops.table import Array

import_module("ml_dtypes")  # numpy knows bfloat16 by name from then on


@dataclass(frozen=True, slots=True)
class Buffer:
    """Dense, row-major memory on a device."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def width(self) -> int:
        """Bytes of an element."""
        return np.dtype(self.dtype).itemsize

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.width

    def empty(self) -> Array:
        return np.empty(self.shape, self.dtype)


def buffers_of(kernel: Kernel) -> tuple[Buffer, ...]:
    """Leaves, root, what is prepared, and the workspace if there is one: numbered as in `Launch.buffers`."""
    cone = kernel.cone
    own = [Buffer(t.dtype, t.shape) for t in (*cone.leaves, cone.root)]
    made = [Buffer(p.dtype, p.shape) for p in kernel.prepared]
    return (*own, *made, *([Buffer("uint8", (kernel.workspace,))] if kernel.workspace else []))


def prepare(kernel: Kernel, leaves: Sequence[Array]) -> list[Array]:
    """What `kernel` reads besides its `leaves`."""
    return [prepared_array(p, leaves) for p in kernel.prepared]


def prepared_array(p: Prepared, leaves: Sequence[Array]) -> Array:
    """The prepared constant, made of a kernel's `leaves`."""
    if p.leaf is None:
        return np.array(p.values, p.dtype).reshape(p.shape)
    x = np.asarray(leaves[p.leaf])
    return np.ascontiguousarray(x.transpose(p.perm or range(x.ndim)).reshape(p.shape), p.dtype)
