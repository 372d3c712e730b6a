"""Cones with several linear primitives: chains of kernels whose intermediates need not leave the cache.

Cuts have at most one linear primitive, or there were too many. A chain is such a cone on top of others: where a large
tensor is read by nobody else, whoever computes it and whoever reads it may be one kernel (`backends/cpu/tiles`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce

from korch.ir.cone import Cone
from korch.ir.graph import Graph
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor

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
    chaining = _Chains(graph, cones, least)
    found = [cone for root, some in chaining.links.items() if not _goes_on(graph, root) for cone in some]
    chains: list[Cone] = []
    for _ in range(LINKS - 1):
        found = list(dict.fromkeys(c for cone in found for c in chaining.longer(cone) if not chaining.repeats(c)))
        chains += found
    known = {frozenset(c.primitives) for c in chains}
    chains += [c for chain in chains for c in chaining.wider(chain) if frozenset(c.primitives) not in known]
    return list(dict.fromkeys(chains))


class _Chains:
    """Where chains are put together. `links` and `between`: cones with one linear primitive and with none, by root."""

    def __init__(self, graph: Graph, cones: Iterable[Cone], least: int) -> None:
        self.graph, self.least = graph, least
        self.readers = _readers(graph)
        self.sources = _Sources(graph)
        links, between = defaultdict[Tensor, list[Cone]](list), defaultdict[Tensor, list[Cone]](list)
        for cone in cones:
            if len(cone.linear) <= 1 and not _prepares(cone) and not self.repeats(cone):
                (links if cone.linear else between)[cone.root].append(cone)
        self.links, self.between = _best(links), _best(between)

    def repeats(self, cone: Cone) -> bool:
        """Whether one of its leaves is made of a linear primitive, or of what is made of that, which it computes
        again."""
        made = set[Tensor]()
        for p in cone.primitives:
            if p.category is Category.LINEAR or not made.isdisjoint(p.inputs):
                made.add(p.output)
        return self.sources.meet(made, _read(cone))

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
    return not _makes_both(cone) and any(not p.spec.selects for p in before)


def _makes_both(cone: Cone) -> bool:
    """Whether it makes both factors of a product, of one tensor."""
    factors = cone.linear[0].inputs if cone.linear else ()
    return bool(factors) and len(_read(cone)) == 1 and not any(t in cone.leaves for t in factors)


def _read(cone: Cone) -> list[Tensor]:
    """Its leaves that are computed."""
    return [t for t in cone.leaves if not t.const]


def _best(found: Mapping[Tensor, Sequence[Cone]]) -> dict[Tensor, list[Cone]]:
    return {root: list(_few(some)) for root, some in found.items()}


def _few(cones: Sequence[Cone]) -> Iterator[Cone]:
    counts = Counter[tuple[str, bool]]()
    for cone in sorted(cones, key=_traffic):
        kind = cone.linear[0].op if cone.linear else "", _makes_both(cone)
        counts[kind] += 1
        if counts[kind] <= WAYS:
            yield cone


def _traffic(cone: Cone) -> tuple[int, ...]:
    """Bytes read; then work repeated, but for views of the first operand, before which chains grow; or what is between
    two linear primitives and need not be stored."""
    read, size = sum(t.nbytes for t in _read(cone)), len(cone.primitives)
    if not cone.linear:
        return read, -size
    views = _views(cone)
    return read, size - views, -views


def _views(cone: Cone) -> int:
    """Through how many views it reads the first operand."""
    t, count = cone.linear[0].inputs[0], 0
    while t in cone.makers and cone.makers[t].spec.selects:
        t, count = cone.makers[t].inputs[0], count + 1
    return count


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


class _Sources:
    """What values are made of, themselves included: as the model is written, and a value that choices added in all ways
    that there are. One bit a value, or large models would hold millions of pairs."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        written = {p.output for p in graph.primitives if not p.rule}
        reads: dict[Tensor, set[Tensor]] = defaultdict(set)
        for p in graph.primitives:
            value = graph.value_of(p.output)
            if not p.rule or (value not in written and not graph.only_moves(p)):
                reads[value].update(graph.value_of(t) for t in p.inputs if not t.const)
        self.bits = {v: 1 << i for i, v in enumerate(dict.fromkeys((*graph.inputs, *reads)))}
        self.below = dict(self.bits)
        before: dict[Tensor, int] = {}
        while before != self.below:
            before = dict(self.below)
            for value, some in reads.items():
                self.below[value] |= _union(self.below.get(t, 0) for t in some)

    def meet(self, made: Iterable[Tensor], read: Iterable[Tensor]) -> bool:
        """Whether one of `read` is one of `made`, or is made of one."""
        bits = _union(self.bits.get(self.graph.value_of(t), 0) for t in made)
        return any(bits & self.below.get(self.graph.value_of(t), 0) for t in read)


def _goes_on(graph: Graph, t: Tensor) -> bool:
    """Whether all that reads `t` are elementwise primitives that kernels end with."""
    users = [p for p in graph.consumers.get(t, ()) if not graph.only_moves(p)]
    return bool(users) and t not in graph.outputs and all(p.category is Category.ELEMENTWISE for p in users)


def _union(sets: Iterable[int]) -> int:
    """The bits of all of `sets`."""
    return reduce(int.__or__, sets, 0)
