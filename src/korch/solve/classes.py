"""Classes of layout twins: who computes each class from what, and which classes every plan computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from korch.solve.problem import Candidate, Problem


@dataclass(frozen=True, slots=True)
class Producer:
    """A primitive that computes a class from other classes, i.e. not from a twin."""

    primitive: int
    inputs: tuple[str, ...]  # classes


@dataclass(frozen=True)
class ClassGraph:
    """The primitive graph with layout twins drawn together.

    `dominators[c]` are the classes that every derivation of c contains, c among them, as a bit set over `index`.
    `needed` are the classes that every plan computes.
    """

    producers: Mapping[str, tuple[Producer, ...]]
    class_of_primitive: Mapping[int, str]  # twins are left out: they compute no class
    index: Mapping[str, int]
    dominators: Mapping[str, int]
    needed: tuple[str, ...]

    def dominates(self, d: str, c: str) -> bool:
        """Whether every derivation of class `c` contains class `d`."""
        return bool(self.dominators[c] >> self.index[d] & 1)


def class_graph(problem: Problem) -> ClassGraph:
    """The class graph of `problem`."""
    producers: dict[str, list[Producer]] = {}
    class_of_primitive: dict[int, str] = {}
    for q in problem.primitives:
        own = problem.class_of(q.output)
        inputs = tuple(dict.fromkeys(problem.class_of(t) for t in q.inputs))
        producers.setdefault(own, [])
        if not q.twin:
            class_of_primitive[q.id] = own
            producers[own].append(Producer(q.id, inputs))
    frozen = {c: tuple(qs) for c, qs in producers.items()}
    index = {c: i for i, c in enumerate(frozen)}
    dominators = _dominators(frozen, index)
    union = 0
    for t in problem.outputs:
        union |= dominators.get(problem.class_of(t), 0)
    needed = tuple(c for c, i in index.items() if union >> i & 1)
    return ClassGraph(frozen, class_of_primitive, index, dominators, needed)


def _dominators(producers: Mapping[str, tuple[Producer, ...]], index: Mapping[str, int]) -> dict[str, int]:
    """D(c) = {c} ∪ ∩_q ∪_p D(p), over producers q of c and inputs p of q; the greatest solution, by descent.

    Sound by induction on derivations: whatever computes c does so by some q, from derivations of all of q's inputs,
    and these contain D(p). A class that nothing produces keeps the full set: no derivation contradicts it.
    """
    full = (1 << len(index)) - 1
    found = dict.fromkeys(index, full)
    changed = True
    while changed:
        changed = False
        for c, i in index.items():
            meet = full
            for q in producers[c]:
                join = 0
                for p in q.inputs:
                    join |= found.get(p, full)
                meet &= join
            meet |= 1 << i
            if meet != found[c]:
                found[c], changed = meet, True
    return found


def held_classes(k: Candidate, graph: ClassGraph) -> frozenset[str]:
    """The classes that kernel `k` computes inside, other than by copying a twin."""
    of = graph.class_of_primitive
    return frozenset(of[q] for q in k.holds if q in of)
