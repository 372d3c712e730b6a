"""Candidates that begin or end with what moves nothing: the kernel without it does, as such views cost nothing.

Cuts and chains need them on the way; measuring them would be to measure a kernel several times (`segformer` has 4,021
distinct candidates instead of 5,534).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from korch.ir.cone import Cone
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.ir.views import moves_nothing


def trimmed(cones: Sequence[Cone], outputs: Collection[Tensor]) -> list[Cone]:
    """`cones` without those that are another one of them and a view, before it or behind it; `outputs` are the
    model's, which a kernel stores where they are wanted."""
    known = {frozenset(c.primitives) for c in cones}
    return [c for c in cones if known.isdisjoint(_shorter(c, outputs))]


def _shorter(cone: Cone, outputs: Collection[Tensor]) -> Iterator[frozenset[Primitive]]:
    """The primitives of `cone` without a view at one end."""
    if len(cone.primitives) == 1 or cone.exports:
        return
    every = frozenset(cone.primitives)
    for p in filter(moves_nothing, cone.primitives):
        last = p.output == cone.root and p.output not in outputs
        if last or (p.inputs[0] in cone.leaves and _reads_alone(cone, p)):
            yield every - {p}


def _reads_alone(cone: Cone, p: Primitive) -> bool:
    """Whether nothing else in the cone reads what `p` does."""
    return not any(p.inputs[0] in q.inputs for q in cone.primitives if q != p)
