"""Primitives whose data say where they read or write."""

from __future__ import annotations

from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor


def indexed(p: Primitive) -> tuple[Tensor, int] | None:
    """The indices that a run gives to `p`, and the length of the axis that they are of; None where it takes none."""
    return (p.inputs[1], p.spec.indexed(p)) if p.spec.indexed else None
