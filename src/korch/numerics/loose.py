"""Loose primitives: those whose rounding a plan may do without, and the values at which their error appears.

A primitive is loose if it is of class `approximate` and something computes the same value without such primitives:
the last step of Winograd's or Strassen's algorithm, whose transforms nothing else needs. Its error *lands* at the first
values of the model as written that depend on it: mostly its own output, else what is read from a merged tensor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from korch.ir.cone import Cone
from korch.ir.graph import Graph, topological
from korch.ir.primitive import APPROXIMATE, Primitive
from korch.ir.tensor import Tensor

MAX_LANDINGS = 8
"""Values at which the error of one primitive is looked for: siblings that were merged are few."""


@dataclass(frozen=True)
class Landing:
    """The value `at` of the model as written, and the cone that computes it (maybe in another layout) by way of a loose
    primitive, from other values of the model as written."""

    at: Tensor
    cone: Cone


@dataclass(frozen=True)
class Loose:
    """A loose primitive, and where its error lands."""

    primitive: Primitive
    landings: tuple[Landing, ...]


def loose_primitives(graph: Graph) -> list[Primitive]:
    """The loose primitives of `graph`, in its order."""
    approximate = [p for p in graph.primitives if p.error == APPROXIMATE and not graph.only_moves(p)]
    if not approximate:
        return []
    exact = graph.without({p for p in graph.primitives if p.error == APPROXIMATE})
    values = {graph.value_of(p.output) for p in exact.primitives}
    return [p for p in approximate if graph.value_of(p.output) in values]


def with_landings(graph: Graph, primitives: Iterable[Primitive]) -> list[Loose]:
    """`primitives` with the places at which their errors land."""
    written = set(graph.plain().producers)
    made = _derivations(graph, written)
    return [Loose(p, tuple(_landings(graph, p, written, made))) for p in primitives]


def _derivations(graph: Graph, written: set[Tensor]) -> dict[Tensor, Primitive]:
    """A producer of each tensor that holds no value as written, approximate ones only where there are no others. Each
    reads what is made before it, so they form no cycle."""
    made: dict[Tensor, Primitive] = {}
    known = {t for p in graph.primitives for t in p.inputs if t.const or graph.value_of(t) in written}
    known.update(graph.inputs, (t for t, value in graph.twins.items() if value in graph.inputs))
    strict = [p for p in graph.primitives if p.error != APPROXIMATE]
    for some in (strict, graph.primitives):
        before = -1
        while before != len(made):
            before = len(made)
            for p in some:
                fresh = p.output not in made and p.output not in known
                if fresh and all(t in known or t in made for t in p.inputs):
                    made[p.output] = p
    return made


def _landings(graph: Graph, p: Primitive, written: set[Tensor], made: Mapping[Tensor, Primitive]) -> Iterable[Landing]:
    """Breadth first from `p` along the readers of values that the model as written has not."""
    paths: dict[Tensor, dict[Tensor, Primitive]] = {p.output: {p.output: p}}
    waiting, found = [p.output], dict[Tensor, Landing]()
    for t in waiting:  # grows while it is read
        path, value = paths[t], graph.value_of(t)
        if value in written:
            cone = Cone.of(topological(t, {**made, **path}))
            if value not in found and _is_ordered(cone):
                found[value] = Landing(value, cone)
            continue
        for q in graph.consumers.get(t, ()):
            if q.output not in paths and len(found) < MAX_LANDINGS:
                paths[q.output] = {**path, q.output: q}
                waiting.append(q.output)
    return list(found.values())


def _is_ordered(cone: Cone) -> bool:
    """Whether no primitive reads what a later one makes, as where `p` computes a value from what is derived from it."""
    ready = set(cone.leaves)
    for p in cone.primitives:
        if not ready.issuperset(p.inputs):
            return False
        ready.add(p.output)
    return True
