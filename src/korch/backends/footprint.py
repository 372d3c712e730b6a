"""What a cone must move and compute at least: the ground of every backend's lower bound."""

from __future__ import annotations

from korch.ir.cone import Cone
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor


def footprint(cone: Cone) -> tuple[float, dict[Primitive, float]]:
    """(compulsory bytes, elements each primitive computes at least): each leaf read once as far as it is needed."""
    needed: dict[Tensor, float] = {cone.root: float(cone.root.size)}
    computed: dict[Primitive, float] = {}
    for p in reversed(cone.primitives):
        out = needed.get(p.output, 0.0)
        computed[p] = max(out, p.spec.operations(p, out))
        for t in p.inputs:
            needed[t] = max(needed.get(t, 0.0), p.spec.fewest(p, t, out))
    moved = sum(needed.get(t, 0.0) * t.nbytes / max(t.size, 1) for t in cone.leaves)
    return moved + cone.root.nbytes, computed
