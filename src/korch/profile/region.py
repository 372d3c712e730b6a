"""Where a kernel's output is compared: all of it where that is cheap, else runs at corners, edges and random places."""

from __future__ import annotations

import math

import numpy as np

from korch.ir.cone import Cone
from korch.ir.ops.table import Region, Shape, whole
from korch.ir.ops.windows import Positions

FULL_WORK = 200_000  # up to this much reference work everything is compared
WORK = 4_000_000  # element operations that a reference may take: some tens of milliseconds
SIZES = (20_000, 8_000, 2_000, 500, 100, 16)  # elements compared, the first that the work allows
RUN = 8  # positions side by side, so that the parts read through a Reshape stay small
PRODUCT = 0.1  # a product inside a matrix product costs the reference this much of an element operation


def region_of(cone: Cone) -> Region:
    """The part of the root to compare; the same for equal cones."""
    shape = cone.root.shape
    if work(cone, cone.root.size) <= FULL_WORK:
        return whole(shape)
    size = next((n for n in SIZES if work(cone, n) <= WORK), SIZES[-1])
    return grid(shape, size)


def grid(shape: Shape, size: int) -> Region:
    """About `size` positions of a tensor: short axes whole, of long ones both ends and random runs."""
    rng = np.random.default_rng(len(shape))
    left, chosen = float(size), dict[int, Positions]()
    for done, axis in enumerate(sorted(range(len(shape)), key=lambda a: shape[a])):
        count = min(shape[axis], max(1, math.floor(left ** (1 / (len(shape) - done)) + 1e-9)))
        chosen[axis] = _positions(shape[axis], count, rng)
        left = max(left / max(len(chosen[axis]), 1), 1.0)
    return tuple(chosen[axis] for axis in range(len(shape)))


def _positions(length: int, count: int, rng: np.random.Generator) -> Positions:
    """`count` of the positions of an axis, about a quarter of them at each end."""
    if count >= length:
        return np.arange(length)
    end = max(count // 4, 1)
    starts: list[int] = rng.integers(0, length, max((count - 2 * end) // RUN, 1)).tolist()
    runs = [np.arange(s, min(s + RUN, length)) for s in starts]
    if count < 4:
        return np.unique(rng.integers(0, length, count))
    return np.unique(np.concatenate([np.arange(end), np.arange(length - end, length), *runs]))


def work(cone: Cone, count: int) -> float:
    """About how many element operations the reference takes for `count` elements of the root."""
    need = {cone.root: float(count)}
    total = 0.0
    for p in reversed(cone.primitives):
        out = min(need.get(p.output, 0.0), p.output.size)
        reads = p.spec.fan_in(p)
        total += out * (PRODUCT * reads if p in cone.linear else reads)
        for t in p.inputs:
            need[t] = min(need.get(t, 0.0) + out * reads, float(t.size))
    return total + sum(need.get(t, 0.0) for t in cone.leaves)


def reduction_length(cone: Cone) -> int:
    """The terms that are summed on the longest way to a value, one primitive after another."""
    return sum(n for n in (p.spec.fan_in(p) for p in cone.primitives) if n > 1)
