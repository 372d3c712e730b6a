"""Equal expressions are one tensor."""

from __future__ import annotations

import numpy as np

from korch.ir import Builder
from korch.rewrite.space import Space


def test_what_equals_its_own_operand_is_not_made_again():
    """A sum with zeros, asked for a second time; else rules that ask for it would never end."""
    b = Builder()
    x = b.input("x", "float32", (2, 3))
    space = Space(b.graph([("y", b.op("Neg", x))]))
    with space.stamped("rule", "", "exact"):
        r = space.op("Relu", x.tensor)
        zeros = space.constant(np.zeros(3), "float32")
        space.equal(r, space.op("Add", r, zeros))
        known = space.changes
        assert space.op("Add", r, zeros) == space.find(r) and space.changes == known
