"""Operators that move or repeat elements without looking at them: shapes, transposes, blocks, copies."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from onnx import helper

from korch.fission.parameters import axes_in, integers
from korch.fission.rule import Opaque, fission
from korch.ir.builder import Builder, Value


@fission("Reshape", since=5)
def reshape(b: Builder, x: Value, shape: Value, *, allowzero: int = 0) -> Value | Opaque:
    """x in another shape: 0 keeps a length (unless allowed as such), -1 is what remains."""
    wanted = integers(shape)
    if isinstance(wanted, Opaque):
        return wanted
    dims = [x.shape[i] if n == 0 and not allowzero else n for i, n in enumerate(wanted)]
    rest = x.tensor.size // max(math.prod(n for n in dims if n != -1), 1)
    return b.op("Reshape", x, shape=tuple(rest if n == -1 else n for n in dims))


@fission("Flatten")
def flatten(b: Builder, x: Value, *, axis: int = 1) -> Value:
    """The axes before `axis` as one, and those from it on."""
    at = axis + x.rank if axis < 0 else axis
    return b.op("Reshape", x, shape=(math.prod(x.shape[:at]), math.prod(x.shape[at:])))


@fission("Squeeze")
def squeeze(
    b: Builder, x: Value, given: Value | None = None, /, *, axes: Sequence[int] | None = None
) -> Value | Opaque:
    """x without the `axes`, which have length 1; without all such axes if none is named."""
    named = integers(given, axes)
    if isinstance(named, Opaque):
        return named
    ones = [a for a, n in enumerate(x.shape) if n == 1]
    gone = axes_in(named, x.rank) if named else ones
    return b.op("Reshape", x, shape=tuple(n for a, n in enumerate(x.shape) if a not in gone))


@fission("Unsqueeze")
def unsqueeze(
    b: Builder, x: Value, given: Value | None = None, /, *, axes: Sequence[int] | None = None
) -> Value | Opaque:
    """x with axes of length 1 at `axes` of the result."""
    named = integers(given, axes)
    if isinstance(named, Opaque):
        return named
    shape = list(x.shape)
    for a in axes_in(named, x.rank + len(named)):
        shape.insert(a, 1)
    return b.op("Reshape", x, shape=tuple(shape))


@fission("Transpose")
def transpose(b: Builder, x: Value, *, perm: Sequence[int] | None = None) -> Value:
    """The axes in the order `perm`, by default backwards."""
    return b.op("Transpose", x, perm=tuple(range(x.rank))[::-1] if perm is None else tuple(perm))


@fission("Expand")
def expand(b: Builder, x: Value, shape: Value) -> Value | Opaque:
    """x broadcast with `shape`."""
    wanted = integers(shape)
    return wanted if isinstance(wanted, Opaque) else b.op("Expand", x, shape=np.broadcast_shapes(x.shape, wanted))


@fission("Tile", since=6)
def tile(b: Builder, x: Value, repeats: Value) -> Value | Opaque:
    """x over and over: every axis broadcast along a new one before it, and both taken as one."""
    times = integers(repeats)
    if isinstance(times, Opaque):
        return times
    pairs = [(r, n) for r, n in zip(times, x.shape, strict=True)]
    before = [d for r, n in pairs for d in ((1, n) if r != 1 and n != 1 else (n,))]
    after = [d for r, n in pairs for d in ((r, n) if r != 1 and n != 1 else (r * n,))]
    wide = b.op("Expand", b.op("Reshape", x, shape=tuple(before)), shape=tuple(after))
    return b.op("Reshape", wide, shape=tuple(r * n for r, n in pairs))


@fission("DepthToSpace")
def depth_to_space(b: Builder, x: Value, *, blocksize: int, mode: str = "DCR") -> Value:
    """Channels become blocks of blocksize x blocksize pixels; `mode` says which of the channels' factors is outer."""
    n, c, h, w = x.shape
    s, depth = blocksize, c // blocksize**2
    split, perm = (
        ((n, s, s, depth, h, w), (0, 3, 4, 1, 5, 2)) if mode == "DCR" else ((n, depth, s, s, h, w), (0, 1, 4, 2, 5, 3))
    )
    moved = b.op("Transpose", b.op("Reshape", x, shape=split), perm=perm)
    return b.op("Reshape", moved, shape=(n, depth, h * s, w * s))


@fission("SpaceToDepth")
def space_to_depth(b: Builder, x: Value, *, blocksize: int, mode: str = "DCR") -> Value:
    """Blocks of blocksize x blocksize pixels become channels, the place in the block outermost."""
    n, c, h, w = x.shape
    s = blocksize
    split, perm = (n, c, h // s, s, w // s, s), ((0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4))
    moved = b.op("Transpose", b.op("Reshape", x, shape=split), perm=perm)
    return b.op("Reshape", moved, shape=(n, c * s * s, h // s, w // s))


@fission("EyeLike")
def eye_like(b: Builder, x: Value, *, dtype: int | None = None, k: int = 0) -> Value:
    """Ones on the k-th diagonal of a matrix of the shape of x."""
    kind = x.dtype if dtype is None else helper.tensor_dtype_to_np_dtype(dtype)
    b.check_constant(x.shape, np.dtype(kind).name)
    return b.constant(np.eye(*x.shape, k=k, dtype=kind))
