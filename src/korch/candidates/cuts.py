"""Cut enumeration over the graph with choices, as technology mapping does it on and-inverter graphs.

A *cut* of a tensor is a set of leaves and the primitives that compute the tensor from them. The cuts of a tensor
are, for each of its producers, the producer on top of every combination of its inputs' cuts, an input itself (the
trivial cut) included. Cuts overlap: what two kernels hold is computed twice.

Complexity: with at most w cuts kept a tensor, O(primitives * w^inputs) merges; where those would be too many, inputs
are merged one after another and w combinations kept, O(w^2 * inputs).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from korch.candidates.chains import chained_cones
from korch.candidates.passing import passing
from korch.ir.cone import Cone
from korch.ir.graph import Graph
from korch.ir.macs import multiply_adds
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor


@dataclass(frozen=True)
class Limits:
    """What backends can build, as bounds that hold for every part of a cone too (a cone may have as many leaves as one
    of its primitives has inputs); `chain`: bytes that a tensor must have at least for several linear primitives to be
    one kernel because of it (see `chains.py`)."""

    primitives: int = 24
    leaves: int = 8
    cuts: int = 20
    chain: int = 1 << 20


@dataclass(frozen=True, slots=True)
class Cut:
    """`leaves` (constants left out) and `inside`, the numbers of the primitives, ascending in graph order.

    `linear` are those of them that are compute-intensive; `pure` holds while there is nothing but Reshape, Transpose,
    Slice, `mapped` while nothing is reduced, multiplied or opaque, `joined` from where a product, and what follows it,
    is a part of a tensor.
    """

    leaves: frozenset[Tensor]
    inside: frozenset[int]
    linear: frozenset[int] = frozenset()
    pure: bool = True
    mapped: bool = True
    joined: bool = False


class Traffic(NamedTuple):
    """By what cuts are ordered: single primitives are never dropped; then by bytes read, then by those of what they are
    read from and by how many tensors that is, then by work repeated."""

    several: bool
    read: int
    whole: int
    leaves: int
    inside: int


MAPS = (Category.ELEMENTWISE, Category.BROADCAST, Category.LAYOUT)
SAVED = 2
"""Cuts around a linear primitive that stay, whatever else there is."""
MERGES = 1 << 18
"""Combinations of cuts that are all looked at: those of up to four inputs."""
THIN = 20
"""Multiply-adds for each element that a product reads: with fewer, moving its operands is what it costs."""


def enumerate_cones(graph: Graph, limits: Limits | None = None) -> list[Cone]:
    """All cones of `graph` within `limits`, by root in graph order, then chains; where cuts are capped, the widest ones
    go first."""
    limits = limits or Limits()
    cones = list(_Search(graph, limits).cones())
    return [*cones, *chained_cones(graph, cones, limits.chain)]


class _Search:
    def __init__(self, graph: Graph, limits: Limits) -> None:
        self.graph = graph
        self.limits = limits
        self.number = {p: i for i, p in enumerate(graph.primitives)}
        self.output = [p.output for p in graph.primitives]
        self.readers = {t: frozenset(self.number[p] for p in some) for t, some in graph.consumers.items()}
        self.views = frozenset(i for p, i in self.number.items() if p.spec.selects)
        self.passing = passing(graph)
        self.rank = self._ranks()
        self.cuts: dict[Tensor, tuple[Cut, ...]] = {}

    def cones(self) -> Iterator[Cone]:
        for tensors in self._values():
            own = {t: self._of_producers(t, moving=False) for t in tensors}
            self.cuts.update(own)
            for t in tensors:
                self.cuts[t] = self._best((*own[t], *self._moved(t, own)))
            for t in tensors:
                cuts = dict.fromkeys((*self._singles(t), *(() if t in self.passing else self.cuts[t])))
                yield from map(self._cone, cuts)

    def _singles(self, t: Tensor) -> Iterator[Cut]:
        """The producers of `t` that begin or end where else no kernel does: whatever fails, each can run alone."""
        for p in self.graph.producers[t]:
            if t in self.passing or not self.passing.isdisjoint(p.inputs):
                yield _alone(p, self.number[p])

    def _values(self) -> list[list[Tensor]]:
        """The computed values in dependency order, each as the tensors that hold it."""
        members: dict[Tensor, list[Tensor]] = defaultdict(list)
        for t in self.graph.producers:
            members[self.graph.value_of(t)].append(t)
        return [members[value] for value in sorted(members, key=self.rank.__getitem__)]

    def _ranks(self) -> dict[Tensor, int]:
        """Depth of each value, transposes between twins not counted."""
        inputs: dict[Tensor, set[Tensor]] = defaultdict(set)
        for p in self.graph.primitives:
            if not self.graph.only_moves(p):
                out = self.graph.value_of(p.output)
                inputs[out] |= {self.graph.value_of(t) for t in p.inputs if not t.const}
        return _depths(inputs)

    def _of_producers(self, t: Tensor, moving: bool) -> tuple[Cut, ...]:
        found = [cut for p in self.graph.producers[t] if self.graph.only_moves(p) == moving for cut in self._merge(p)]
        return self._best(found)

    def _moved(self, t: Tensor, own: dict[Tensor, tuple[Cut, ...]]) -> Iterator[Cut]:
        """Cuts that end in the transpose from a twin, on top of the twin's own."""
        for p in self.graph.producers[t]:
            if self.graph.only_moves(p):
                source = p.inputs[0]
                yield Cut(frozenset((source,)), frozenset((self.number[p],)))
                there = [cut for cut in own.get(source, ()) if not self._turns_back(p, cut)]
                yield from (c for c in (self._join(p, (cut,)) for cut in there) if c)

    def _turns_back(self, p: Primitive, cut: Cut) -> bool:
        """Whether `cut` ends in the transpose that `p` undoes: the twin is a view of what that reads."""
        top = next(q for q in map(self.graph.primitives.__getitem__, cut.inside) if q.output == p.inputs[0])
        undone = top.spec.permutes and [top.attr("perm")[a] for a in p.attr("perm")]
        return undone == list(range(p.output.rank))

    def _merge(self, p: Primitive) -> Iterator[Cut]:
        """`p` on top of every combination of its inputs' cuts."""
        inputs = [t for t in dict.fromkeys(p.inputs) if not t.const]
        if p.category is Category.OPAQUE:
            yield Cut(frozenset(inputs), frozenset((self.number[p],)), pure=False, mapped=False)
            return
        options = [self._parts(t) for t in inputs]
        if math.prod(map(len, options)) > MERGES:
            yield from self._folded(p, options)
            return
        for parts in product(*options):
            cut = self._join(p, parts)
            if cut:
                yield cut

    def _parts(self, t: Tensor) -> tuple[Cut, ...]:
        """The cuts of `t` that a kernel may hold: the trivial one, except where the tensor passes, and its own."""
        return (() if t in self.passing else (_trivial(t),)) + self.cuts.get(t, ())

    def _folded(self, p: Primitive, options: Sequence[tuple[Cut, ...]]) -> Iterator[Cut]:
        """`p` on top of combinations that grow by one input at a time, for there are too many to look at them all: the
        best stay, and as many of those that compute most."""
        partial: dict[Cut, tuple[Cut, ...]] = {}
        for some in options:
            combined = ((*parts, cut) for parts in partial.values() or [()] for cut in some)
            grown = {joined: parts for parts in combined if (joined := self._join(p, parts))}
            traffic = {joined: self._traffic(joined) for joined in grown}
            best = sorted(grown, key=lambda c: traffic[c])[: self.limits.cuts // 2]
            whole = sorted(grown, key=lambda c: (traffic[c].read, -traffic[c].inside))
            partial = {joined: grown[joined] for joined in (*best, *whole[: self.limits.cuts // 2])}
        yield from partial

    def _join(self, p: Primitive, parts: tuple[Cut, ...]) -> Cut | None:
        """The cut of `p` over `parts`; None where no backend could build it."""
        inside = frozenset((self.number[p],)).union(*(c.inside for c in parts))
        if len(inside) > self.limits.primitives or not self._compatible(p, parts):
            return None
        leaves = frozenset[Tensor]().union(*(c.leaves for c in parts))
        if len(leaves) > self.limits.leaves and len(leaves) > max(len(self.graph.primitives[i].inputs) for i in inside):
            return None
        made = {self.output[i] for i in inside}
        if len(made) != len(inside) or not leaves.isdisjoint(made):
            return None  # two producers of one tensor, or a tensor both computed and read
        linear = frozenset((self.number[p],) if p.intensive else ()).union(*(c.linear for c in parts))
        joined = bool(linear) and (p.spec.joins or any(c.joined for c in parts))
        return Cut(
            leaves,
            inside,
            linear,
            p.spec.selects and all(c.pure for c in parts),
            p.category in MAPS and all(c.mapped for c in parts),
            joined,
        )

    def _compatible(self, p: Primitive, parts: tuple[Cut, ...]) -> bool:
        """At most one linear primitive; before it only views, behind it elementwise primitives and views.

        What joins a linear chain from the side must be a leaf or come from the same linear primitive. Around a thin
        product may be whatever maps; any product may be computed where it lies in a concatenation.
        """
        if p.intensive:
            return all(c.pure or (c.mapped and is_thin(p)) for c in parts)
        heavy = [c for c in parts if c.linear]
        if not heavy:
            return True
        first, *others = {self.graph.primitives[i] for c in heavy for i in c.linear}
        if p.spec.joins and len(heavy) == 1 and not others and is_product(first):
            return all(c.mapped or c.linear for c in parts)
        if any(c.inside and not c.linear for c in parts):
            return False
        if not others and is_thin(first):
            return p.category in MAPS
        if any(c.joined for c in heavy):
            return p.spec.regroups
        return (p.category is Category.ELEMENTWISE or p.spec.rearranges) and _share_linear(heavy)

    def _best(self, cuts: Iterable[Cut]) -> tuple[Cut, ...]:
        """Distinct cuts, those that hide most memory traffic first, capped (priority cuts). Of those around a linear
        primitive that all would go, because choices have made so many around another, the best few stay."""
        distinct = list(dict.fromkeys(cuts))
        if len(distinct) > self.limits.cuts:
            distinct.sort(key=self._traffic)
            lost = {c.linear for c in distinct} - {c.linear for c in distinct[: self.limits.cuts]}
            saved = [cut for one in lost for cut in [c for c in distinct if c.linear == one][:SAVED]]
            saved = sorted(saved, key=self._traffic)[: self.limits.cuts // 2]
            distinct = distinct[: self.limits.cuts - len(saved)] + saved
        return tuple(distinct[: self.limits.cuts])

    def _traffic(self, cut: Cut) -> Traffic:
        read, whole = sum(self._read(t, cut) for t in cut.leaves), sum(t.nbytes for t in cut.leaves)
        return Traffic(len(cut.inside) > 1, read, whole, len(cut.leaves), len(cut.inside))

    def _read(self, t: Tensor, cut: Cut) -> int:
        """The bytes of `t` that `cut` reads: where nothing but views sees it, those that they leave."""
        readers = cut.inside.intersection(self.readers.get(t, ()))
        if not readers or not readers <= self.views:
            return t.nbytes
        return min(t.nbytes, sum(self._read(self.output[i], cut) for i in readers))

    def _cone(self, cut: Cut) -> Cone:
        """Primitives in dependency order: by depth of value, a twin's transpose after what it moves."""
        members = [self.graph.primitives[i] for i in cut.inside]
        members.sort(key=lambda p: (self.rank[self.graph.value_of(p.output)], self.graph.only_moves(p), self.number[p]))
        return Cone.of(members)


def _trivial(t: Tensor) -> Cut:
    return Cut(frozenset((t,)), frozenset())


def _alone(p: Primitive, number: int) -> Cut:
    return Cut(frozenset(t for t in p.inputs if not t.const), frozenset((number,)))


def is_product(p: Primitive) -> bool:
    """Whether `p` is a matrix product, a pointwise convolution included."""
    return p.spec.is_product or (p.spec.is_convolution and set(p.inputs[1].shape[2:]) == {1})


def is_thin(p: Primitive) -> bool:
    """Whether `p` is a product that moves more than it multiplies."""
    return is_product(p) and multiply_adds(p) <= THIN * sum(t.size for t in p.inputs if not t.const)


def _share_linear(parts: list[Cut]) -> bool:
    """Whether one of the parts holds what the others hold (the running value used several times)."""
    if len(parts) == 1:
        return True
    largest = max(parts, key=lambda c: len(c.inside))
    return all(c.inside <= largest.inside for c in parts)


def _depths(inputs: dict[Tensor, set[Tensor]]) -> dict[Tensor, int]:
    """Longest path from the graph's inputs, without recursion."""
    depth: dict[Tensor, int] = {}
    stack = list(inputs)
    while stack:
        t = stack[-1]
        if t in depth:
            stack.pop()
            continue
        missing = [i for i in inputs.get(t, ()) if i not in depth]
        if missing:
            stack += missing
        else:
            depth[t] = 1 + max((depth[i] for i in inputs.get(t, ())), default=0)
            stack.pop()
    return depth
