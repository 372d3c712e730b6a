"""Cones that move nothing: their root is the bytes of a leaf, so that no kernel need run."""

from __future__ import annotations

from korch.ir.cone import Cone
from korch.ir.primitive import Primitive

VIEWS = frozenset({"Reshape"})


def is_view(cone: Cone) -> bool:
    """Whether the root is the bytes of the only leaf."""
    alone = len(cone.leaves) == len(cone.outputs) == 1
    return alone and all(p.op in VIEWS or _moves_nothing(p) for p in cone.primitives)


def _moves_nothing(p: Primitive) -> bool:
    """A Transpose that only moves axes of length 1."""
    if p.op != "Transpose":
        return False
    moved = [a for a in p.attr("perm") if p.inputs[0].shape[a] != 1]
    return moved == sorted(moved)
