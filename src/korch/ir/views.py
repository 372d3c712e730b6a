"""Primitives whose output is the bytes of their input."""

from __future__ import annotations

from korch.ir.primitive import Primitive


def moves_nothing(p: Primitive) -> bool:
    """Whether `p` is a Reshape, or a Transpose that only moves axes of length 1.

    >>> from korch.ir import Builder
    >>> b = Builder()
    >>> y = b.op("Transpose", b.input("x", "float32", (2, 1, 3)), perm=(1, 0, 2))
    >>> z = b.op("Transpose", y, perm=(0, 2, 1))
    >>> [moves_nothing(p) for p in b.graph([("z", z)]).primitives]
    [True, False]
    """
    if p.spec.permutes:
        moved = [a for a in p.attr("perm") if p.inputs[0].shape[a] != 1]
        return moved == sorted(moved)
    return p.spec.regroups
