"""Weights that stay narrow in memory: products of few rows that widen them where they are multiplied.

Folding leaves one float32 weight for a dequantized one, several times as many bytes as its codes and scales. A product
of few rows is bound by reading them. A folded constant remembers its narrow sources (`ir/constants.py`), so any
expression of constants can be computed inside of the product instead: another producer, beside the folded one.
"""

from __future__ import annotations

from korch.ir.constants import GROWS, Constants, Derived, Folded
from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.ir.primitive import EXACT, Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.table import rewrite
from korch.rewrite.transformed import Transformed

FEW = 16
"""Rows of a product up to which its weights may be widened for it: each is multiplied too seldom to pay for more."""


@rewrite(stage=4)
def narrow_weights(graph: Graph) -> Graph:
    """`graph` with a product that reads narrow constants for each one of few rows whose weights are folded of them."""
    build = _Narrow(graph, "narrow_weights", EXACT)
    for p in graph.primitives:
        if p.spec.is_product and p.inputs[1].const and p.inputs[1].rank == 2 and not p.inputs[0].const:
            build.widened(p)
    return build.result


class _Narrow(Transformed):
    def widened(self, p: Primitive) -> None:
        """Adds p's product with weights that are computed, if they are folded."""
        x, w = p.inputs
        given = self.graph.constants
        entry = given.entry(w.name) if isinstance(given, Constants) else given[w.name]
        if isinstance(entry, Folded) and x.size <= FEW * x.shape[-1]:
            self.add(p, p.op, (x, self._computed(p, w, entry)), p.output, **dict(p.attrs))

    def _computed(self, p: Primitive, t: Tensor, entry: Array | Derived) -> Tensor:
        """A tensor of the value of the constant `t`, computed from narrower constants where there are such."""
        key = ("narrow", t.name, id(entry))
        if key not in self._made:
            if isinstance(entry, Folded) and t.nbytes >= GROWS * entry.sources:
                q = entry.primitive
                operands = zip(q.inputs, entry.operands, strict=True)
                inputs = tuple(self._computed(p, operand, value) for operand, value in operands)
                self._made[key] = self.add(p, q.op, inputs, f"{t.name}_narrow", **dict(q.attrs))
            else:
                self._made[key] = self._leaf(t, entry)
        return self._made[key]

    def _leaf(self, t: Tensor, entry: Array | Derived) -> Tensor:
        return self.given(f"{t.name}_narrow", entry.value() if isinstance(entry, Derived) else entry)
