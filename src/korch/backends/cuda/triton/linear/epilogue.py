"""The epilogue of a product, element by element: where each result of the product goes in the root.

Indices are pushed forward, from the product to the root. That works where every element goes to one place: elementwise
primitives, reshapes, transpositions. Two ways from the product to one primitive must agree on the place.
"""

from __future__ import annotations

from dataclasses import dataclass

from korch.backends.maps.index import Index, flat, unflat
from korch.backends.maps.trace import Indices, Trace, broadcast
from korch.ir.cone import Cone
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor


@dataclass(frozen=True)
class TileEpilogue:
    """The product's `start`, the primitives that depend on it in order, and the indices of what each of them gives."""

    start: Tensor
    primitives: tuple[Primitive, ...]
    places: dict[Tensor, Indices]

    def value(self, trace: Trace, name: str) -> str:
        """The root's value, traced; `name` holds the product's."""
        names = {self.start: name}
        for q in self.primitives:
            names[q.output] = names[q.inputs[0]] if q.spec.is_view else self._computed(q, trace, names)
        return names[self.primitives[-1].output if self.primitives else self.start]

    def _computed(self, q: Primitive, trace: Trace, names: dict[Tensor, str]) -> str:
        at = self.places[q.output]
        args = [names[t] if t in names else trace.value(t, broadcast(at, t)) for t in q.inputs]
        return trace.name(trace.language.elementwise(q, args), q.output.dtype)


def epilogue_of(cone: Cone, product: Primitive, at: Indices) -> TileEpilogue | str:
    """The epilogue of `product`, whose element `at` is pushed to the root; or why there is none."""
    places = {product.output: at}
    found: list[Primitive] = []
    for q in cone.primitives:
        ways = {_pushed(q, t, places[t]) for t in q.inputs if t in places}
        if len(ways) > 1 or None in ways:
            return f"{q.output.name}: {q.op} after {product.op} does not give one element for one"
        if ways:
            places[q.output] = next(at for at in ways if at is not None)
            found.append(q)
    return TileEpilogue(product.output, tuple(found), places)


def _pushed(q: Primitive, t: Tensor, at: Indices) -> Indices | None:
    """Where `q` puts the element `at` of its operand `t`; None where it has no one place."""
    if q.output.size != t.size:
        return None
    if q.spec.permutes:
        perm: tuple[int, ...] = q.attr("perm")
        return tuple(at[a] for a in perm)
    if q.spec.regroups:
        return unflat(flat(at, t.shape), q.output.shape)
    if q.category is Category.BROADCAST or q.category is Category.ELEMENTWISE:
        return (*[Index()] * (q.output.rank - t.rank), *at)
    return None
