"""Algorithm 1 of the paper: kernels as differences of execution states. Exponential; the oracle for small graphs."""

from __future__ import annotations

from itertools import combinations

from korch.ir.cone import Cone
from korch.ir.graph import Graph
from korch.ir.primitive import Primitive

State = frozenset[int]


def execution_states(graph: Graph) -> set[State]:
    """All sets of primitives closed under predecessors (definition 2), by the depth-first search of Algorithm 1."""
    before = _predecessors(graph)
    found: set[State] = {frozenset()}
    stack: list[State] = [frozenset()]
    while stack:
        state = stack.pop()
        for v in range(len(graph.primitives)):
            after = state | {v}
            if v not in state and before[v] <= state and after not in found:
                found.add(after)
                stack.append(after)
    return found


def single_output_cones(graph: Graph) -> set[tuple[str, frozenset[int]]]:
    """(root, primitives) of every convex subgraph with one possible output (theorem 1) that reaches all of it.

    Algorithm 1 pairs execution states; a single output means that every other primitive is used inside.
    """
    states = execution_states(graph)
    result: set[tuple[str, frozenset[int]]] = set()
    for small, large in combinations(sorted(states, key=len), 2):
        if small < large:
            members = large - small
            for root in members:
                if _reached(graph, root, members) == members:
                    result.add((graph.primitives[root].output.name, members))
    return result


def key(graph: Graph, cone: Cone) -> tuple[str, frozenset[int]]:
    """A cone in the form of `single_output_cones`."""
    number = {p: i for i, p in enumerate(graph.primitives)}
    return cone.root.name, frozenset(number[p] for p in cone.primitives)


def _predecessors(graph: Graph) -> list[State]:
    maker = {p.output: i for i, p in enumerate(graph.primitives)}
    return [frozenset(maker[t] for t in p.inputs if t in maker) for p in graph.primitives]


def _reached(graph: Graph, root: int, members: frozenset[int]) -> frozenset[int]:
    """The members that `root` depends on through members only."""
    maker = {p.output: i for i, p in enumerate(graph.primitives)}
    seen, stack = {root}, [graph.primitives[root]]
    while stack:
        p: Primitive = stack.pop()
        for t in p.inputs:
            i = maker.get(t)
            if i is not None and i in members and i not in seen:
                seen.add(i)
                stack.append(graph.primitives[i])
    return frozenset(seen)
