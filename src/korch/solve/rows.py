"""The rows of the binary program (paper §4.2, and the stronger `edges`), as pure data.

A column is a position in `problem.candidates`; u_k = 1 means that kernel k runs. A *plan* is a selection that makes
the outputs and can be ordered so that every tensor is made before it is read. Each builder says why no plan that
matters breaks its rows. Words: a kernel *holds* a class if it holds a primitive that computes it, other than from a
twin; it *enters* class p if it makes a tensor of p and holds p. In a plan where some kernel reads a tensor of p,
some kernel enters p: take the first kernel, in the order of the plan, that makes a tensor of p; it cannot read a
twin, so it computes p.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from korch.solve.budgets import shares_of
from korch.solve.classes import ClassGraph, Producer, class_graph, held_classes
from korch.solve.keys import Dependency, Edge, EdgeChoice, Entry, Once, Output, OutputError, RowKey
from korch.solve.problem import Problem
from korch.system.samples import Floats

Ints = NDArray[np.int32]
RowTerms = dict[int, float]


@dataclass(frozen=True, slots=True)
class Row:
    """lower ≤ Σ coefficient · u ≤ upper. `key`: what it says, and by what it is found again."""

    key: RowKey
    terms: tuple[tuple[int, float], ...]
    lower: float
    upper: float


@dataclass(frozen=True)
class Incidence:
    """Which columns make, read, enter and hold what: everything that the rows are written from."""

    graph: ClassGraph
    makers: Mapping[str, list[int]]
    readers: Mapping[tuple[str, str], list[int]]  # (made, read): columns
    enters: Mapping[str, list[int]]
    inside: Mapping[tuple[int, str], list[int]]  # (q, p): columns that hold primitive q and its input class p
    holders: Mapping[int, list[int]]  # of primitives that compute a class


def incidence(problem: Problem) -> Incidence:
    """The incidence lists of `problem`; linear in the total size of the candidates."""
    graph = class_graph(problem)
    inputs = {q.primitive: q.inputs for qs in graph.producers.values() for q in qs}
    makers: dict[str, list[int]] = {}
    readers: dict[tuple[str, str], list[int]] = {}
    enters: dict[str, list[int]] = {}
    inside: dict[tuple[int, str], list[int]] = {}
    holders: dict[int, list[int]] = {}
    for column, k in enumerate(problem.candidates):
        held = held_classes(k, graph)
        makers.setdefault(k.root, []).append(column)
        for leaf in k.reads:
            readers.setdefault((k.root, leaf), []).append(column)
        if (p := problem.class_of(k.root)) in held:
            enters.setdefault(p, []).append(column)
        for q in k.holds:
            if (ps := inputs.get(q)) is None:
                continue
            holders.setdefault(q, []).append(column)
            for p in ps:
                if p in held:
                    inside.setdefault((q, p), []).append(column)
    return Incidence(graph, makers, readers, enters, inside, holders)


def output_rows(problem: Problem, at: Incidence) -> list[Row]:
    """Σ_{k makes t} u_k ≥ 1 for every graph output t: a plan makes its outputs."""
    return [_row(Output(t), dict.fromkeys(at.makers.get(t, ()), 1.0), 1.0) for t in dict.fromkeys(problem.outputs)]


def once_rows(problem: Problem, at: Incidence) -> list[Row]:
    """Σ_{k makes t} u_k ≤ 1: of two kernels that make t, the later one can go, as its readers find t made before.

    So every cheapest plan keeps these rows, and where kernels cost nothing some cheapest plan does.
    """
    return [_row(Once(t), dict.fromkeys(ks, 1.0), -inf, 1.0) for t, ks in at.makers.items() if len(ks) > 1]


def dependency_rows(problem: Problem, at: Incidence) -> list[Row]:
    """Σ_{k makes o, k reads t} u_k ≤ Σ_{k makes t} u_k, one row for each pair (o, t).

    Valid with `once` of o: at most one kernel on the left runs, and then somebody makes t.
    """
    return [_at_most(Dependency(o, t), ks, at.makers.get(t, ())) for (o, t), ks in at.readers.items()]


def entry_rows(problem: Problem, at: Incidence) -> list[Row]:
    """Σ_{k makes o, k reads a tensor of p} u_k ≤ Σ_{k enters p} u_k for every class p of several twins.

    Valid with `once` of o, because what is read of p was entered. It cuts plans in which t and its twin make each
    other.
    """
    twins = {c for t, c in problem.classes.items() if t != c}
    left: dict[tuple[str, str], list[int]] = {}
    for (o, t), readers in at.readers.items():
        if (p := problem.class_of(t)) in twins:
            left.setdefault((o, p), []).extend(readers)
    return [_at_most(Entry(o, p), dict.fromkeys(ks), at.enters.get(p, ())) for (o, p), ks in left.items()]


def error_rows(problem: Problem, at: Incidence) -> list[Row]:
    """Σ_k v_k u_k ≤ E² for every output with a budget, in units of E²: v_k adds up the primitives that k holds.

    No plan is lost but those that err too much: the row is the budget itself.
    """
    rows = zip(problem.budgets, shares_of(problem).T.tolist(), strict=True)
    return [_row(OutputError(b.output), {k: v for k, v in enumerate(vs) if v}, -inf, 1.0) for b, vs in rows]


Choose = Callable[[str, Producer], EdgeChoice]


def edge_row(c: str, choose: Choose, at: Incidence) -> Row:
    """Σ_{k holds a q of F and its chosen input} u_k + Σ_{k enters a chosen input} u_k + Σ_{k holds a chosen q} u_k ≥ 1,
    for a class c that plans need.

    `choose(f, q)` names one input class p of each producer q of f and whether to *go on* at p; or None, which chooses
    q itself. F is c and every class at which the choice goes on; the sums run over the choices that stop. (Two costly
    algorithms on one input are told apart by choosing themselves, not what they read.)

    Valid: some kernel k of the plan holds c, by a producer q. If q itself is chosen, k is counted. Otherwise take the
    chosen p. Either k computes the p that q reads inside: where the choice stops, k is counted; where it goes on,
    repeat from p in k. Or k reads p, and some earlier kernel enters p: where the choice stops it is counted; where
    it goes on, repeat from p there. The walk goes backwards through the plan, so it ends, and it ends only where
    something is counted.
    """
    columns: set[int] = set()
    choices: dict[int, EdgeChoice] = {}
    region, todo = {c}, [c]
    while todo:
        f = todo.pop()
        for q in at.graph.producers[f]:
            chosen = choices[q.primitive] = choose(f, q)
            if chosen is None:
                columns.update(at.holders.get(q.primitive, ()))
                continue
            p, go_on = chosen
            if not go_on:
                columns.update(at.inside.get((q.primitive, p), ()))
                columns.update(at.enters.get(p, ()))
            elif p not in region:
                region.add(p)
                todo.append(p)
    return _row(_edge(c, choices), dict.fromkeys(sorted(columns), 1.0), 1.0)


def edge_rows(problem: Problem, at: Incidence) -> list[Row]:
    """The edge rows that need no separation: for every needed class c, one towards each x that all of c's producers
    read, and, where c has choices, one towards each immediate dominator x (so direct and Winograd convolutions meet
    at x)."""
    rows: list[Row] = []
    for c in at.graph.needed:
        producers = at.graph.producers[c]
        if not producers:
            continue
        common = set(producers[0].inputs).intersection(*(q.inputs for q in producers)) - {c}
        rows += [edge_row(c, _stop_at(x), at) for x in sorted(common)]
        if len(producers) > 1:
            above = sorted(set(_immediate_dominators(c, at.graph)) - common)
            rows += [edge_row(c, _towards(x, at.graph), at) for x in above]
    return rows


def all_rows(problem: Problem, at: Incidence) -> list[Row]:
    """Every row that is written before the first solve; cycle cuts and the other edge rows come lazily."""
    builders = (output_rows, once_rows, dependency_rows, entry_rows, error_rows, edge_rows)
    return [row for build in builders for row in build(problem, at)]


def chosen_row(edge: Edge, at: Incidence) -> Row:
    """The edge row of `edge`."""
    choices = dict(edge.choices)
    return edge_row(edge.of, lambda _, q: choices.get(q.primitive), at)


def violated_edges(x: Floats, at: Incidence, *, tolerance: float = 1e-4) -> list[Edge]:
    """Edge rows with choices that the LP point `x` breaks.

    Producers of one class that read the same classes (twins of each other) choose together. For such a group g,
    value(f) = Σ_g min(holders(g), min_p min(inside(g, p) + enters(p), value(p))) is an upper bound on the least
    left-hand side of an edge row of f (a column may be counted twice), found by descent in at most a few passes over
    the classes.
    """
    enters = {p: float(x[ks].sum()) for p, ks in at.enters.items()}
    groups = {c: _alike(producers) for c, producers in at.graph.producers.items()}
    value: dict[str, float] = {}
    chosen: dict[int, EdgeChoice] = {}

    def best(group: Sequence[Producer]) -> float:
        low = sum(float(x[at.holders.get(q.primitive, [])].sum()) for q in group)
        choice: EdgeChoice = None
        for p in group[0].inputs:
            inside = sum(float(x[at.inside.get((q.primitive, p), [])].sum()) for q in group)
            for here, go_on in ((inside + enters.get(p, 0.0), False), (value.get(p, inf) + 1e-9, True)):
                if here < low:
                    low, choice = here, (p, go_on)
        chosen.update(dict.fromkeys((q.primitive for q in group), choice))
        return low

    for _ in range(3):
        for c, alike in groups.items():
            value[c] = min(value.get(c, inf), sum(map(best, alike)) if alike else inf)
    broken = [c for c in at.graph.needed if value.get(c, 1.0) < 1.0 - tolerance and len(groups[c]) > 1]
    edges = [_walked(c, chosen, at.graph) for c in broken]
    return [e for e in edges if sum(x[k] for k, _ in chosen_row(e, at).terms) < 1.0 - tolerance]


def _edge(c: str, choices: Mapping[int, EdgeChoice]) -> Edge:
    """Equal for equal choices, in whatever order they were met."""
    return Edge(c, tuple((q, choices[q]) for q in sorted(choices)))


def _walked(c: str, chosen: Mapping[int, EdgeChoice], graph: ClassGraph) -> Edge:
    """The choices that the walk from `c` meets."""
    region, choices = [c], dict[int, EdgeChoice]()
    for f in region:  # grows while it is read
        for q in graph.producers[f]:
            choice = choices[q.primitive] = chosen[q.primitive]
            if choice and choice[1] and choice[0] not in region:
                region.append(choice[0])
    return _edge(c, choices)


def _alike(producers: Iterable[Producer]) -> list[list[Producer]]:
    """Producers of one class by what they read."""
    groups: dict[tuple[str, ...], list[Producer]] = {}
    for q in producers:
        groups.setdefault(q.inputs, []).append(q)
    return list(groups.values())


@dataclass(frozen=True)
class Matrix:
    """Rows in compressed sparse row form."""

    starts: Ints
    columns: Ints
    values: Floats
    lower: Floats
    upper: Floats

    def activity(self, x: Floats) -> Floats:
        """Σ coefficient · x of each row."""
        return self._per_row(self.values * x[self.columns])

    def times_transpose(self, y: Floats, width: int) -> Floats:
        """Aᵀy, over `width` columns."""
        weights = self.values * np.repeat(y, np.diff(self.starts))
        return np.bincount(self.columns, weights, width).astype(np.float64)

    def _per_row(self, terms: Floats) -> Floats:
        sums = np.concatenate(([0.0], np.cumsum(terms)))
        return sums[self.starts[1:]] - sums[self.starts[:-1]]


def matrix(rows: Sequence[Row]) -> Matrix:
    """`rows` as one sparse matrix."""
    starts = np.zeros(len(rows) + 1, np.int32)
    starts[1:] = np.cumsum([len(r.terms) for r in rows])
    flat = [term for r in rows for term in r.terms]
    columns = np.fromiter((c for c, _ in flat), np.int32, len(flat))
    values = np.fromiter((v for _, v in flat), np.float64, len(flat))
    return Matrix(starts, columns, values, np.array([r.lower for r in rows]), np.array([r.upper for r in rows]))


def _row(key: RowKey, terms: RowTerms, lower: float, upper: float = inf) -> Row:
    return Row(key, tuple(terms.items()), lower, upper)


def _at_most(key: RowKey, left: Iterable[int], right: Iterable[int]) -> Row:
    terms: RowTerms = dict.fromkeys(left, 1.0)
    for k in right:
        terms[k] = terms.get(k, 0.0) - 1.0
    return Row(key, tuple((k, v) for k, v in terms.items() if v), -inf, 0.0)


def _stop_at(x: str) -> Choose:
    return lambda _, q: (x, False)


def _towards(x: str, graph: ClassGraph) -> Choose:
    """Walk back to the dominator `x`: every producer has an input that is x or is itself dominated by x."""

    def choose(_: str, q: Producer) -> EdgeChoice:
        if x in q.inputs:
            return x, False
        return next(((p, True) for p in q.inputs if p in graph.dominators and graph.dominates(x, p)), None)

    return choose


def _immediate_dominators(c: str, graph: ClassGraph) -> list[str]:
    strict = graph.dominators[c] & ~(1 << graph.index[c])
    below = 0
    for d, i in graph.index.items():
        if strict >> i & 1:
            below |= graph.dominators[d] & ~(1 << i)
    return [d for d, i in graph.index.items() if (strict & ~below) >> i & 1]
