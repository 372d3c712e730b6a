"""Where the graph left a choice: what the plan picked, and by how much it won.

The true worth of a choice is the cost of the cheapest plan without it, less the cost of the plan; that takes a search
for each. Instead there is an upper bound that costs little: the plan is *repaired* without the choice. The
kernels that hold what was picked go, and what they made is made from what earlier kernels store, by the cheapest
kernels that do without it; all else stays. Where such a kernel was never measured, its lower bound stands in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isfinite

from korch.executable.plan import Choice
from korch.ir.graph import Graph
from korch.ir.ops.winograd import tiling_of
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.search.ledger import Ledger
from korch.search.phases import bounds
from korch.search.steering import REPAIRED_TENSORS


def choices(graph: Graph, ledger: Ledger, chosen: tuple[int, ...]) -> tuple[Choice, ...]:
    """The picks of the plan of the cones `chosen` wherever `graph` has several producers of a value."""
    offered: dict[Tensor, list[Primitive]] = defaultdict(list)
    for p in graph.primitives:
        if not graph.only_moves(p):
            offered[graph.value_of(p.output)].append(p)
    site = _Site(graph, ledger, chosen)
    return tuple(_choice(site, v, offered[v]) for v in site.picked if len(offered[v]) > 1)


def _choice(site: _Site, value: Tensor, offered: Iterable[Primitive]) -> Choice:
    picked = site.picked[value]
    cost, repaired = site.repair(picked)
    instead = dict.fromkeys(
        label(p)
        for i in repaired
        for p in site.ledger.cones[i].primitives
        if site.graph.value_of(p.output) == value and not site.graph.only_moves(p)
    )
    others = dict.fromkeys(label(p) for p in offered if p not in picked)
    measured = all(e.seconds <= e.at(bounds) for e in map(site.ledger.entry, repaired))
    margin = cost if isfinite(cost) else None
    return Choice(value.name, tuple(dict.fromkeys(map(label, picked))), tuple(others), tuple(instead), margin, measured)


def label(p: Primitive) -> str:
    """The rule and the operator: `winograd: WinogradOutput, F(4, 3)`."""
    return f"{p.rule or 'as written'}: {p.op}{_form(p) if p.op.startswith('Winograd') else ''}"


def _form(p: Primitive) -> str:
    """`, F(4, 3)`, `, F(3, 3) at stride 2` or `, F(4, 3) along one axis`."""
    stride, along = p.attr("stride"), "" if all(tiling_of(p).along) else " along one axis"
    return f", F({p.attr('tile')}, {p.attr('kernel')})" + (f" at stride {stride}" if stride > 1 else "") + along


@dataclass
class _Site:
    """A plan under repair; `chosen` are numbers in the ledger in an order in which they can run."""

    graph: Graph
    ledger: Ledger
    chosen: tuple[int, ...]
    _makers: dict[Tensor, list[int]] = field(default_factory=dict[Tensor, list[int]])

    def __post_init__(self) -> None:
        for i, cone in enumerate(self.ledger.cones):
            if isfinite(self.ledger.entry(i).at(bounds)):
                self._makers.setdefault(cone.root, []).append(i)

    @cached_property
    def picked(self) -> dict[Tensor, dict[Primitive, None]]:
        """Each value that the plan computes, with the producers that do so."""
        result: dict[Tensor, dict[Primitive, None]] = defaultdict(dict)
        for i in self.chosen:
            for p in self.ledger.cones[i].primitives:
                if not self.graph.only_moves(p):
                    result[self.graph.value_of(p.output)][p] = None
        return dict(result)

    @cached_property
    def _holders(self) -> dict[Primitive, list[int]]:
        """The places in the plan of the kernels that hold a primitive."""
        result: dict[Primitive, list[int]] = defaultdict(list)
        for place, i in enumerate(self.chosen):
            for p in self.ledger.cones[i].primitives:
                result[p].append(place)
        return result

    @cached_property
    def _stored(self) -> dict[Tensor, int]:
        """The place at which the plan stores a tensor; the model's inputs are there before."""
        made = ((self.ledger.cones[i].root, n) for n, i in enumerate(self.chosen))
        return dict([*reversed([*made]), *((t, -1) for t in self.graph.inputs)])

    def repair(self, banned: Collection[Primitive]) -> tuple[float, list[int]]:
        """The extra seconds without `banned`, and the kernels that come in; infinity where the plan has no repair."""
        extra, used = 0.0, list[int]()
        for place in sorted({place for p in banned for place in self._holders[p]}):
            gone = self.chosen[place]
            extra -= self.ledger.entry(gone).at(bounds)
            t, made = self.ledger.cones[gone].root, {self.ledger.cones[i].root for i in used}
            cost, kernels = self._cheapest(t, place, banned, made) if t not in made else (0.0, [])
            extra += cost
            used += kernels
        return extra, used

    def _cheapest(
        self, root: Tensor, place: int, banned: Collection[Primitive], made: Collection[Tensor]
    ) -> tuple[float, list[int]]:
        """Seconds and kernels that make `root` from what is there before `place` and from `made`."""
        around = self._around(root, place, banned, made)
        cost: dict[Tensor, float] = dict.fromkeys(around, inf)
        by: dict[Tensor, int] = {}
        changed = True
        while changed:  # costs only fall, from what needs nothing on: no kernel can stand on itself
            changed = False
            for t, kernels in around.items():
                for i, own, reads in kernels:
                    whole = own + sum(cost.get(r, inf) for r in reads)
                    if whole < cost[t]:
                        cost[t], by[t], changed = whole, i, True
        return (inf, []) if cost[root] == inf else (cost[root], list(self._below(root, by)))

    def _around(
        self, root: Tensor, place: int, banned: Collection[Primitive], made: Collection[Tensor]
    ) -> Mapping[Tensor, list[tuple[int, float, tuple[Tensor, ...]]]]:
        """For `root` and the nearest tensors that may be needed: kernels, their seconds, what they read that is not
        there."""
        result: dict[Tensor, list[tuple[int, float, tuple[Tensor, ...]]]] = {}
        waiting = dict.fromkeys([root])
        while waiting and len(result) < REPAIRED_TENSORS:
            t = next(iter(waiting))
            del waiting[t]
            result[t] = []
            for i in self._makers.get(t, ()):
                cone = self.ledger.cones[i]
                if any(p in banned for p in cone.primitives):
                    continue
                reads = tuple(r for r in cone.leaves if not r.const and r not in made and not self._there(r, place))
                result[t].append((i, self.ledger.entry(i).at(bounds), reads))
                waiting |= dict.fromkeys(r for r in reads if r not in result)
        return result

    def _there(self, t: Tensor, place: int) -> bool:
        return self._stored.get(t, place) < place

    def _below(self, root: Tensor, by: Mapping[Tensor, int]) -> Iterator[int]:
        """The kernels of the cheapest derivation, each once."""
        waiting, seen = [root], {root}
        while waiting:
            i = by[waiting.pop()]
            yield i
            fresh = [t for t in self.ledger.cones[i].leaves if t in by and t not in seen]
            seen.update(fresh)
            waiting += fresh
