"""On how many sets of buffers a kernel is timed, so that its inputs are in the cache as they would be in a program.

In a program a kernel finds its weights cold: between two runs all other kernels have passed through the cache. What
the kernels before it have just made is still there, unless it is too large. So the copies of a kernel in one graph
take turns on sets of buffers: sets of constants that together exceed the cache, and where what moves is large, sets of
everything. A kernel of small constants and small inputs runs on the same buffers again and again.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from korch.backends.contract import Kernel
from korch.backends.cuda.buffers import buffers_of

COLD_CONSTANTS = 256 << 10
"""Bytes of constants from which on they count as cold."""
LARGE = 0.5
"""Of the cache: what moves beyond this does not wait there for the next kernel."""
BEYOND = 1.25
"""Of the cache: what other sets have to touch between two uses of one."""
MOST_SETS, MOST_BYTES = 256, 2 << 30


@dataclass(frozen=True)
class Rotation:
    """`sets` of buffers, of which the `turning` numbers differ from set to set."""

    sets: int
    turning: frozenset[int]


def rotation_of(kernel: Kernel, cache: int) -> Rotation:
    """How `kernel` is timed on a device with so many bytes of cache."""
    buffers, used = buffers_of(kernel), used_by(kernel)
    constants = _constants(kernel) & used
    weights = sum(buffers[i].nbytes for i in constants)
    moving = sum(buffers[i].nbytes for i in used - constants)
    if moving > LARGE * cache:
        return Rotation(_sets(weights + moving, cache), frozenset(used))
    if weights >= COLD_CONSTANTS:
        return Rotation(_sets(weights, cache), frozenset(constants))
    return Rotation(1, frozenset())


def _sets(size: int, cache: int) -> int:
    enough = ceil(BEYOND * cache / size) + 1
    return max(1, min(enough, MOST_SETS, MOST_BYTES // size))


def used_by(kernel: Kernel) -> set[int]:
    """The numbers of the buffers that the kernel is given."""
    if kernel.call:
        return set(range(len(buffers_of(kernel))))
    return {i for launch in kernel.launches for i in launch.buffers}


def _constants(kernel: Kernel) -> set[int]:
    """Constant leaves, and what is prepared."""
    leaves = {i for i, t in enumerate(kernel.cone.leaves) if t.const}
    first = len(kernel.cone.leaves) + 1
    return leaves | set(range(first, first + len(kernel.prepared)))
