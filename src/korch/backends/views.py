"""Cones that move nothing: their root is the bytes of a leaf, so that no kernel need run."""

from __future__ import annotations

from korch.ir.cone import Cone
from korch.ir.views import moves_nothing


def is_view(cone: Cone) -> bool:
    """Whether the root is the bytes of the only leaf."""
    return len(cone.leaves) == 1 and all(map(moves_nothing, cone.primitives))
