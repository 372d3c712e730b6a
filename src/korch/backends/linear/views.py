"""Strided views of a kernel's buffers: what Transpose, Reshape, Slice and Expand are when nothing is copied."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from korch.ir.ops.table import Shape

OUT = -1
"""The number of the output's buffer, where a leaf's number is asked for."""


@dataclass(frozen=True, slots=True)
class View:
    """Element (i0, i1, ...) is `buffer[offset + sum(i * stride)]`, counted in elements; stride 0 broadcasts."""

    leaf: int
    shape: Shape
    strides: Shape
    offset: int = 0

    @staticmethod
    def dense(leaf: int, shape: Shape) -> View:
        """All of a row-major buffer."""
        return View(leaf, shape, row_major(shape))

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def distinct(self) -> int:
        """Elements of the buffer that the view shows, each counted once."""
        return math.prod(n for n, s in zip(self.shape, self.strides, strict=True) if s)

    @property
    def is_dense(self) -> bool:
        """Whether it is a row-major buffer from its first element on."""
        steps = zip(self.shape, self.strides, row_major(self.shape), strict=True)
        return self.offset == 0 and all(n == 1 or s == r for n, s, r in steps)

    def varies(self, axis: int) -> bool:
        """Whether positions along `axis` show different elements."""
        return self.shape[axis] > 1 and self.strides[axis] != 0

    def transpose(self, perm: Sequence[int]) -> View:
        shape, strides = tuple(self.shape[a] for a in perm), tuple(self.strides[a] for a in perm)
        return replace(self, shape=shape, strides=strides)

    def slice(self, starts: Sequence[int], steps: Sequence[int], lengths: Shape) -> View:
        offset = self.offset + sum(a * s for a, s in zip(starts, self.strides, strict=True))
        strides = tuple(a * s for a, s in zip(steps, self.strides, strict=True))
        return View(self.leaf, lengths, strides, offset)

    def broadcast(self, shape: Shape) -> View:
        """numpy's broadcasting; `shape` must be one that this shape broadcasts to."""
        missing = len(shape) - len(self.shape)
        own = zip(self.shape, self.strides, shape[missing:], strict=True)
        strides = (0,) * missing + tuple(0 if n == 1 and m > 1 else s for n, s, m in own)
        return replace(self, shape=shape, strides=strides)

    def reshape(self, shape: Shape) -> View | None:
        """The same elements in the same order under another shape; None where that takes a copy."""
        if math.prod(shape) != self.size:
            return None
        strides = _split(_merged(self.shape, self.strides), shape)
        return None if strides is None else replace(self, shape=shape, strides=strides)


def row_major(shape: Shape) -> Shape:
    """Strides of a dense buffer, last axis fastest."""
    return tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))


def inverse(perm: Sequence[int]) -> Shape:
    """The permutation that undoes `perm`."""
    return tuple(sorted(range(len(perm)), key=lambda a: perm[a]))


def _merged(shape: Shape, strides: Shape) -> list[tuple[int, int]]:
    """(length, stride) of the longest runs of axes that are walked with one stride; unit axes drop out."""
    runs: list[tuple[int, int]] = []
    for n, s in zip(shape, strides, strict=True):
        if n == 1:
            continue
        if runs and runs[-1][1] == n * s:
            runs[-1] = (runs[-1][0] * n, s)
        else:
            runs.append((n, s))
    return runs


def _split(runs: list[tuple[int, int]], shape: Shape) -> Shape | None:
    """Strides of `shape` over the runs; None where an axis of it would straddle two runs."""
    strides, todo = [0] * len(shape), list(runs)
    for axis in reversed(range(len(shape))):
        n = shape[axis]
        if n == 1:
            continue
        length, stride = todo.pop()
        if length % n:
            return None
        strides[axis] = stride
        if length > n:
            todo.append((length // n, stride * n))
    return tuple(strides)
