"""Finds laws of the primitives, as TASO does: terms that are equal over a finite field, less what smaller laws imply.

In: a size. Out: laws that read like numpy. Start with `terms.py`, then `enumerate.py` and `imply.py`.
"""

from __future__ import annotations

from korch.rewrite.discover.enumerate import SIDE, Enumeration
from korch.rewrite.discover.imply import holds as holds
from korch.rewrite.discover.imply import independent
from korch.rewrite.discover.terms import Law as Law
from korch.rewrite.discover.terms import leaf_shapes
from korch.rewrite.discover.terms import parse_law as parse_law


def discover(size: int = 3) -> list[Law]:
    """The laws between terms of up to `size` primitives that smaller ones do not imply, the smallest first."""
    return independent(Enumeration(size).laws, leaf_shapes(SIDE))
