"""Cones with several linear primitives: chains of kernels whose intermediates need not leave the cache.

Cuts have at most one linear primitive, or there were too many. A chain is such a cone on top of others: where a large
tensor is read by nobody else, whoever computes it and whoever reads it may be one kernel (`backends/cpu/tiles`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from korch.ir.cone import Cone
from korch.ir.graph import Graph
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor

VIEWS = ("Reshape", "Transpose", "Slice")
LINKS = 4
"""Linear primitives in a chain: expand, depthwise and project; both transforms and the product of Winograd or
Strassen; three convolutions that make keys and values, and their product."""
WAYS = 2
"""Cones of one root and linear operator that chains are made of: those that read least."""
LESS = 2
"""How many times less must be read of what a chain computes beside it."""


def chained_cones(graph: Graph, cones: Iterable[Cone], least: int) -> list[Cone]:
    """Chains of 2 to `LINKS` of the `cones` with one linear primitive each, joined at tensors of `least` bytes.

    Between two of them may be a cone without any, as the softmax of an attention. So may be beside them: what a chain
    adds to a result, and is computed from less, as sums of enlarged images.
    """
    yard = _Yard(graph, cones, least)
    found = [cone for root, some in yard.links.items() if not _goes_on(graph, root) for cone in some]
    chains: list[Cone] = []
    for _ in range(LINKS - 1):
        found = list(dict.fromkeys(c for cone in found for c in yard.longer(cone) if not yard.repeats(c)))
        chains += found
    known = {frozenset(c.primitives) for c in chains}
    chains += [c for chain in chains for c in yard.wider(chain) if frozenset(c.primitives) not in known]
    return list(dict.fromkeys(chains))


class _Yard:
    """Where chains are put together. `links` and `between`: cones with one linear primitive and with none, by root."""

    def __init__(self, graph: Graph, cones: Iterable[Cone], least: int) -> None:
        self.graph, self.least = graph, least
        self.readers = _readers(graph)
        self.origins = _origins(graph)
        links, between = defaultdict[Tensor, list[Cone]](list), defaultdict[Tensor, list[Cone]](list)
        for cone in cones:
            if not cone.exports and len(cone.linear) <= 1 and not _prepares(cone) and not self.repeats(cone):
                (links if cone.linear else between)[cone.root].append(cone)
        self.links, self.between = _best(links), _best(between)

    def repeats(self, cone: Cone) -> bool:
        """Whether it computes a linear primitive again of which one of its leaves is made."""
        made = {self.graph.value_of(p.output) for p in cone.linear}
        return any(not made.isdisjoint(self.origins.get(self.graph.value_of(t), ())) for t in cone.leaves)

    def longer(self, cone: Cone) -> Iterator[Cone]:
        """The chains with one more linear primitive before the first of `cone`."""
        for t in _operands(cone):
            yield from self._joined(self.links, t, cone)
            for middle in self._joined(self.between, t, cone):
                for u in _without(middle.leaves, cone.leaves):
                    yield from self._joined(self.links, u, middle)

    def wider(self, cone: Cone) -> Iterator[Cone]:
        """The chain with what computes a leaf beside it, where that reads less."""
        for t in _without(cone.leaves, _operands(cone)):
            makers = [c for c in self.between.get(t, ()) if LESS * _traffic(c)[0] <= t.nbytes]
            yield from self._joined({t: makers}, t, cone)

    def _joined(self, makers: Mapping[Tensor, Sequence[Cone]], t: Tensor, cone: Cone) -> Iterator[Cone]:
        """`cone` on top of each of the `makers` of its leaf `t`, where that is large and nobody else reads it."""
        inside = {p.output for p in cone.primitives}
        if t.nbytes < self.least or not self._keeps(t, inside):
            return
        for before in makers.get(t, ()):
            members = dict.fromkeys((*before.primitives, *cone.primitives))
            if inside.isdisjoint(before.leaves) and len({p.output for p in members}) == len(members):
                yield Cone.of(members)

    def _keeps(self, t: Tensor, inside: set[Tensor]) -> bool:
        values = {self.graph.value_of(u) for u in inside}
        return self.readers.get(self.graph.value_of(t), values) <= values


def _without(some: Iterable[Tensor], others: Iterable[Tensor]) -> list[Tensor]:
    """Those of `some` that are none of `others`, in their order: a set's would differ from process to process."""
    gone = set(others)
    return [t for t in some if t not in gone]


def _prepares(cone: Cone) -> bool:
    """Whether it computes what its linear primitive reads: that could as well be the end of the kernel before, unless
    both factors of a product are made of one tensor."""
    before = cone.primitives[: cone.primitives.index(cone.linear[0])] if cone.linear else ()
    both = bool(before) and not any(t.const or t in cone.leaves for t in cone.linear[0].inputs)
    return not both and any(p.op not in VIEWS for p in before)


def _best(found: Mapping[Tensor, Sequence[Cone]]) -> dict[Tensor, list[Cone]]:
    return {root: list(_few(some)) for root, some in found.items()}


def _few(cones: Sequence[Cone]) -> Iterator[Cone]:
    counts = Counter[str]()
    for cone in sorted(cones, key=_traffic):
        op = cone.linear[0].op if cone.linear else ""
        counts[op] += 1
        if counts[op] <= WAYS:
            yield cone


def _traffic(cone: Cone) -> tuple[int, int]:
    """Bytes read; then work repeated, or what is between two linear primitives and need not be stored."""
    size = len(cone.primitives)
    return sum(t.nbytes for t in cone.leaves if not t.const), size if cone.linear else -size


def _operands(cone: Cone) -> list[Tensor]:
    """The leaves, in their order, that the first linear primitive works on, through views or directly."""
    reached = set(cone.linear[0].inputs[:1])
    for p in reversed(cone.primitives[: cone.primitives.index(cone.linear[0])]):
        if p.output in reached:
            reached.update(p.inputs)
    return [t for t in cone.leaves if t in reached and not t.const]


def _readers(graph: Graph) -> dict[Tensor, set[Tensor]]:
    """By value, the values that the model as written makes of it; of a value that choices added, all that do.

    An output of the model is its own reader.
    """
    users: dict[Tensor, list[Primitive]] = defaultdict(list)
    for p in graph.primitives:
        if not graph.only_moves(p):
            for t in dict.fromkeys(p.inputs):
                users[graph.value_of(t)].append(p)
    found = {
        v: {graph.value_of(p.output) for p in [q for q in some if not q.rule] or some} for v, some in users.items()
    }
    for t in graph.outputs:
        found.setdefault(graph.value_of(t), set()).add(graph.value_of(t))
    return found


def _origins(graph: Graph) -> dict[Tensor, frozenset[Tensor]]:
    """By value, the results of linear primitives that the model as written makes it of, its own included."""
    found: dict[Tensor, frozenset[Tensor]] = {}
    for p in graph.primitives:
        if not p.rule:
            made = frozenset([p.output]) if p.category is Category.LINEAR else frozenset[Tensor]()
            found[p.output] = made.union(*(found.get(t, ()) for t in p.inputs))
    return found


def _goes_on(graph: Graph, t: Tensor) -> bool:
    """Whether all that reads `t` are elementwise primitives that kernels end with."""
    users = [p for p in graph.consumers.get(t, ()) if not graph.only_moves(p)]
    return bool(users) and t not in graph.outputs and all(p.category is Category.ELEMENTWISE for p in users)
