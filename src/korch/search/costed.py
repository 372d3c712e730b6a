"""The orchestration problem of a ledger: its candidates at today's costs, and what a bound is worth when these fall."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isfinite

from korch.errors import SolverError
from korch.ir.graph import Graph
from korch.search.ledger import Ledger
from korch.search.offers import Offer
from korch.solve.problem import Candidate, PrimitiveRef, Problem

Cost = Callable[[Offer], float]
"""Seconds of an offer of the ledger."""


class Costed:
    """The candidates of a graph's problem, one for each cone of the ledger, at whatever entries cost."""

    def __init__(self, graph: Graph, ledger: Ledger) -> None:
        self.ledger = ledger
        self.free = problem_of(graph, ledger)
        """The problem whose candidates cost nothing."""

    def problem(self, cost: Cost) -> Problem:
        """The problem with today's costs; what costs infinitely much takes no part."""
        candidates = zip(self.free.candidates, self.costs(cost), strict=True)
        return replace(self.free, candidates=tuple(replace(c, cost=x) for c, x in candidates if isfinite(x)))

    def costs(self, cost: Cost) -> list[float]:
        """Seconds of each candidate, with the price of its memory."""
        known = {id(e): e.at(cost) for e in self.ledger.distinct}
        return [known[id(e)] + self.ledger.price(i) for i, e in enumerate(self.ledger.entries)]

    def lowered(self, bound: float, before: Sequence[float], cost: Cost) -> float:
        """A bound on all plans now, from one when the candidates cost at least what they did `before`: a plan has
        become cheaper by the share of a single kernel at most, and by what has come off all candidates."""
        pairs = [(was, now) for was, now in zip(before, self.costs(cost), strict=True) if now < was]
        return max(bound * min((now / was for was, now in pairs), default=1.0), bound - sum(w - n for w, n in pairs))


def problem_of(graph: Graph, ledger: Ledger) -> Problem:
    """The orchestration problem of `graph`; costs are filled in round by round.

    Twins of the graph's inputs are in no class with them: nobody has to make an input.
    """
    number = {p: i for i, p in enumerate(graph.primitives)}
    made = {p.output.name for p in graph.primitives}
    classes = {t.name: plain.name for t, plain in graph.twins.items() if plain not in graph.inputs}
    refs = tuple(
        PrimitiveRef(
            i,
            p.output.name,
            tuple(t.name for t in dict.fromkeys(p.inputs) if t.name in made),
            graph.only_moves(p) and graph.value_of(p.output) not in graph.inputs,
        )
        for p, i in number.items()
    )
    candidates = tuple(
        Candidate(
            i,
            c.root.name,
            tuple(t.name for t in c.leaves if t.name in made),
            frozenset(number[p] for p in c.primitives),
            0.0,
        )
        for i, c in enumerate(ledger.cones)
    )
    outputs = tuple(dict.fromkeys(t.name for t in graph.outputs if t.name in made))
    missing = set(outputs) - {c.root for c in candidates}
    if missing:
        name = sorted(missing)[0]
        raise SolverError(f"no backend builds {name!r} ({ledger.refusals.get(name, 'no kernel was left')})")
    budgets = ledger.limit.budgets(number) if ledger.limit else ()
    return Problem(outputs, refs, candidates, classes, budgets)
