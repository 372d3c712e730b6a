"""Choice-free selections of least cost, and what an alternative gains: DAG-aware, as logic rewriting counts it."""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import inf

from korch.ir.graph import Graph, select
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor

PrimitiveCost = Callable[[Primitive], float]


@dataclass(frozen=True)
class Alternative:
    """Another producer `root` of a tensor of the model, with those of the new tensors below it; what it gains."""

    root: Primitive
    inner: Mapping[Tensor, Primitive]
    gain: float

    @property
    def primitives(self) -> tuple[Primitive, ...]:
        return (*self.inner.values(), self.root)


def cheapest(graph: Graph, written: Graph, cost: PrimitiveCost) -> Graph:
    """A selection of `graph` of little cost: from `written`, alternatives are taken while the whole gets cheaper."""
    selection = Selection(written, cost)
    below = cones_below(graph, written, cost)
    improved = True
    while improved:
        improved = False
        for root, inner in below:
            if selection.gain(root, inner) > 0:
                selection.take(root, inner)
                improved = True
    return replace(graph, primitives=select(graph, selection.chosen))


def alternatives(graph: Graph, written: Graph, cost: PrimitiveCost) -> list[Alternative]:
    """Every acyclic alternative to a producer of `written`, the greatest gain first."""
    selection = Selection(written, cost)
    found = [Alternative(root, inner, selection.gain(root, inner)) for root, inner in cones_below(graph, written, cost)]
    return sorted((a for a in found if a.gain > -inf), key=lambda a: -a.gain)


class Selection:
    """A producer for each tensor, and by how many a tensor is read ("exact area", Mishchenko et al. 2007)."""

    def __init__(self, written: Graph, cost: PrimitiveCost) -> None:
        self.graph, self.cost = written, cache(cost)
        self.chosen: dict[Tensor, Primitive] = {t: ps[0] for t, ps in written.producers.items()}
        self.readers: Counter[Tensor] = Counter(written.outputs)
        self.place: dict[Tensor, int] = {}
        self._settle()
        for t in dict.fromkeys(written.outputs):
            if t in self.chosen:
                self._hold(self.chosen[t], self.chosen)

    def gain(self, root: Primitive, inner: Mapping[Tensor, Primitive]) -> float:
        """What the whole costs less if `root` makes its output; minus infinity where that would be a cycle."""
        old = self.chosen.get(root.output)
        if old is None or old == root or self._is_cyclic(root, inner):
            return -inf
        if not self.readers[root.output]:
            return 0
        trial = ChainMap(self.chosen, dict(inner))
        more = self._hold(root, trial)
        less = self._release(old, trial)
        self._hold(old, trial)
        self._release(root, trial)
        return less - more

    def take(self, root: Primitive, inner: Mapping[Tensor, Primitive]) -> None:
        """Makes the alternative part of the selection."""
        old = self.chosen[root.output]
        self.chosen.update({t: p for t, p in inner.items() if not self.readers[t]})
        self._hold(root, self.chosen)
        self._release(old, self.chosen)
        self.chosen[root.output] = root
        self._settle()

    def _settle(self) -> None:
        self.place = {p.output: i for i, p in enumerate(select(self.graph, self.chosen))}

    def _hold(self, p: Primitive, chosen: Mapping[Tensor, Primitive]) -> float:
        """Counts `p` as a reader; gives the cost of it and of all that it is the first to need."""
        stack, spent = [p], 0.0
        while stack:
            p = stack.pop()
            spent += self.cost(p)
            for t in dict.fromkeys(p.inputs):
                self.readers[t] += 1
                if self.readers[t] == 1 and t in chosen:
                    stack.append(chosen[t])
        return spent

    def _release(self, p: Primitive, chosen: Mapping[Tensor, Primitive]) -> float:
        """Undoes `_hold`; gives the cost of `p` and of all that nobody else needs."""
        stack, spared = [p], 0.0
        while stack:
            p = stack.pop()
            spared += self.cost(p)
            for t in dict.fromkeys(p.inputs):
                self.readers[t] -= 1
                if not self.readers[t] and t in chosen:
                    stack.append(chosen[t])
        return spared

    def _is_cyclic(self, root: Primitive, inner: Mapping[Tensor, Primitive]) -> bool:
        """Whether something that the alternative reads is computed from its output."""
        end = self.place.get(root.output, 0)
        stack = [t for p in (root, *inner.values()) for t in p.inputs if t not in inner]
        seen: set[Tensor] = set()
        while stack:
            t = stack.pop()
            if t == root.output:
                return True
            if t in self.chosen and t not in seen and self.place.get(t, end) >= end:
                seen.add(t)
                stack += self.chosen[t].inputs
        return False


Cones = list[tuple[Primitive, dict[Tensor, Primitive]]]


def cones_below(graph: Graph, written: Graph, cost: PrimitiveCost) -> Cones:
    """The producers that `graph` has and `written` has not, each with the cheapest of the new tensors below it."""
    best = _best(graph, written, cost)
    return [
        (p, inner)
        for t in written.producers
        for p in graph.producers[t]
        if p not in written.producers[t]
        for inner in _below(p, best, written)
    ]


def _best(graph: Graph, written: Graph, cost: PrimitiveCost) -> dict[Tensor, Primitive]:
    """The cheapest producers of new tensors (Bellman and Ford: costs are positive, so they hold no cycle).

    What is written is shared by its readers, so its cost is spread over them ("area flow"); what is new has one.
    """
    cost, flow = cache(cost), dict.fromkeys(written.inputs, 0.0)
    best: dict[Tensor, Primitive] = {}

    def through(p: Primitive) -> float:
        return cost(p) + sum(flow.get(t, inf) for t in dict.fromkeys(p.inputs) if not t.const)

    for p in written.plain().primitives:
        flow[p.output] = through(p) / max(1, len(written.consumers.get(p.output, ())))
    new = [p for p in graph.primitives if p.output not in written.producers]
    changed = True
    while changed:
        changed = False
        for p in new:
            if through(p) < flow.get(p.output, inf):
                flow[p.output], best[p.output], changed = through(p), p, True
    return best


def _below(p: Primitive, best: Mapping[Tensor, Primitive], written: Graph) -> Iterator[dict[Tensor, Primitive]]:
    """The producers of the new tensors that `p` needs; nothing if one of them has none."""
    found: dict[Tensor, Primitive] = {}
    stack = list(p.inputs)
    while stack:
        t = stack.pop()
        if t in found or t.const or t in written.producers or t in written.inputs:
            continue
        if t not in best:
            return
        found[t] = best[t]
        stack += found[t].inputs
    yield found
