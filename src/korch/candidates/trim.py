"""Candidates that need not be measured.

Those that begin or end with what moves nothing: the kernel without it does, as such views cost nothing. Cuts and chains
need them on the way; measuring them would be to measure a kernel several times (`segformer` has 4,021 distinct
candidates instead of 5,534).

And those that compute elements many times over: each tap of a resized image reads its pixel's whole history anew. (Two
enlargements of 21 channels with a sum between them, the second to 256x256: 8 to 30 ms as one kernel, 0.13 as three.)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from korch.ir.cone import Cone
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.ir.views import moves_nothing

REPEATS = 4
"""How many times on average elements may be computed. (An image enlarged bilinearly along both axes: 3 at most.)"""


def trimmed(cones: Sequence[Cone], outputs: Collection[Tensor]) -> list[Cone]:
    """`cones` without those that are another one of them and a view, before it or behind it; `outputs` are the
    model's, which a kernel stores where they are wanted."""
    known = {frozenset(c.primitives) for c in cones}
    return [c for c in cones if known.isdisjoint(_shorter(c, outputs)) and not repeats_much(c)]


def repeats_much(cone: Cone) -> bool:
    """Whether a kernel without a place for what it resizes would compute far more elements than there are."""
    if any(not p.spec.interpolates for p in cone.linear) or not any(p.spec.interpolates for p in cone.primitives):
        return False
    wanted = {cone.root: float(cone.root.size)}
    for p in reversed(cone.primitives):
        times = wanted.get(p.output, 0.0) / max(p.output.size, 1)
        for t in dict.fromkeys(p.inputs):
            each = p.output.size * p.attr("taps") if p.spec.interpolates else t.size
            wanted[t] = wanted.get(t, 0.0) + times * each
    computed = [p.output for p in cone.primitives if p.category is not Category.LAYOUT]
    return sum(wanted[t] for t in computed) > REPEATS * sum(t.size for t in computed)


def _shorter(cone: Cone, outputs: Collection[Tensor]) -> Iterator[frozenset[Primitive]]:
    """The primitives of `cone` without a view at one end."""
    if len(cone.primitives) == 1:
        return
    every = frozenset(cone.primitives)
    for p in filter(moves_nothing, cone.primitives):
        last = p.output == cone.root and p.output not in outputs
        if last or (p.inputs[0] in cone.leaves and _reads_alone(cone, p)):
            yield every - {p}


def _reads_alone(cone: Cone, p: Primitive) -> bool:
    """Whether nothing else in the cone reads what `p` does."""
    return not any(p.inputs[0] in q.inputs for q in cone.primitives if q != p)
