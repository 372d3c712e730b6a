"""Views of views are one view, or none."""

from __future__ import annotations

from collections.abc import Iterator

from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.rule import algebra
from korch.rewrite.space import Space


@algebra()
def view_of_view(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """reshape(reshape(x)) = reshape(x), transpose(transpose(x)) = transpose(x): x itself if nothing moves."""
    for q in s.producers(p.inputs[0]) if p.spec.rearranges else ():
        if p.spec.regroups and q.spec.regroups:
            yield s.op("Reshape", q.inputs[0], shape=p.output.shape)
        elif p.spec.permutes and q.spec.permutes:
            yield s.op("Transpose", q.inputs[0], perm=tuple(q.attr("perm")[a] for a in p.attr("perm")))
