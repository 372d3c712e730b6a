"""What a kernel stores, and whether that is what it should store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from korch.ir.cone import Cone
from korch.ir.ops.table import Array
from korch.profile.arena import Bytes
from korch.profile.check import Comparison, Reference, compare, reference
from korch.profile.inputs import DRAWS, Draw, fill_leaf

POISONS = (0xFF, 0x7F)  # NaN in floats and nothing a boolean holds; what keeps both was never written
FINITE = 0.99  # share of finite values that inputs should give


@dataclass(frozen=True)
class KernelOutput:
    """What a kernel stores: its memory, plain and as a tensor, and what must be in it."""

    bytes: Bytes
    values: Array
    reference: Reference


def compared(made: Iterable[KernelOutput]) -> Comparison:
    """The first wrong output, or the worst error."""
    return worst([compare(output.values, output.reference) for output in made])


def worst(reports: Sequence[Comparison]) -> Comparison:
    """That of the first wrong output, or the worst error."""
    return next((r for r in reports if r.reason), max(reports, key=lambda r: r.error))


def never_written(run: Callable[[int], list[Array]]) -> str:
    """What a kernel leaves as it was; empty where it writes all. `run` has it write over outputs full of a poison, and
    gives which elements of each still hold that."""
    left = run(POISONS[0])
    if any(u.any() for u in left):  # a right value may look like one poison
        left = [u & v for u, v in zip(left, run(POISONS[1]), strict=True)]
    for missing in left:
        if missing.any():
            place = [int(i) for i in np.unravel_index(int(missing.argmax()), missing.shape)]
            return f"never writes {place}; {int(missing.sum())} values are missing"
    return ""


def first_finite(cone: Cone, arrays: list[Array], factors: str = "") -> tuple[Reference, ...]:
    """The references on the first draw that leaves them finite, else on the plain one."""
    for draw in DRAWS:
        refs = _references(cone, arrays, draw, factors)
        if all(ref.finite >= FINITE for ref in refs):
            return refs
    return _references(cone, arrays, DRAWS[0], factors)


def _references(cone: Cone, arrays: list[Array], draw: Draw, factors: str) -> tuple[Reference, ...]:
    for i, array in enumerate(arrays):
        fill_leaf(array, cone, i, draw)
    return (reference(cone, arrays, factors),)


def still(out: Bytes, root: Array, poison: int) -> Array:
    """Which elements of the root have only bytes `poison`."""
    if root.dtype.itemsize > 8:
        return (out == poison).reshape(*root.shape, -1).all(axis=-1)
    word = np.dtype(f"u{root.dtype.itemsize}")
    return out.view(word).reshape(root.shape) == int.from_bytes(bytes([poison]) * word.itemsize, "little")
