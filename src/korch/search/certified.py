"""A certificate of a search's plan: among which candidates, at which costs, nothing cheaper exists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite

from korch.errors import VerificationError
from korch.executable import Executable
from korch.ir.graph import Graph
from korch.search.costed import Costed
from korch.search.ledger import Ledger
from korch.search.model import Search
from korch.search.offers import LedgerEntry
from korch.search.phases import SolveWith, bounds, physical
from korch.solve.certificate import Certificate, certify
from korch.solve.problem import Problem
from korch.system.deadline import Deadline


def certified(search: Search, seconds: float, by_physics: bool) -> tuple[Executable, Certificate, dict[int, str]]:
    """The program that `search` finds, a certificate made in about `seconds`, and the kernels of candidates in words.

    Candidates cost what was measured; those that were not, what the best of their kind would take, or (`by_physics`)
    what physics allow. Raises VerificationError where no program keeps to the numerics.
    """
    with search.opened() as (ledger, resources):
        executable, now, ledger = search.accurate(ledger, resources)
        if now.verdict.judged and not now.verdict.passed:
            executable.close()
            raise VerificationError(f"{now.verdict.text(search.target.options.numerics)}: there is no plan to certify")
        cost = physical if by_physics else bounds
        problem, chosen = certified_problem(now.plan.graph, ledger, now.tuned.chosen, cost)
        highs, until = resources.highs, Deadline.after(seconds)
        certificate = certify(problem, chosen, deadline=until, highs=highs)
        return executable, certificate, _kernels(problem, ledger, cost)


def certified_problem(
    graph: Graph, ledger: Ledger, chosen: Sequence[int], cost: SolveWith
) -> tuple[Problem, tuple[int, ...]]:
    """The problem at `cost` with the plan's own kernels in it, and the ids of these.

    Where another offer for a cone of the plan might be cheaper than its measured kernel, both are candidates.
    """
    costed = Costed(graph, ledger)
    problem = costed.problem(cost)
    at, count = {k.id: k.cost for k in problem.candidates}, len(ledger.cones)
    own = {i: ledger.entry(i).seconds + ledger.price(i) for i in chosen}
    dearer = {i: count + i for i in chosen if at[i] < own[i]}
    more = (replace(costed.free.candidates[i], id=number, cost=own[i]) for i, number in dearer.items())
    return replace(problem, candidates=(*problem.candidates, *more)), tuple(dearer.get(i, i) for i in chosen)


def _kernels(problem: Problem, ledger: Ledger, cost: SolveWith) -> dict[int, str]:
    """The backend and variant of each candidate, and whether it was measured."""
    count = len(ledger.cones)
    known = dict[tuple[int, bool], str]()
    for k in problem.candidates:
        entry = ledger.entry(k.id % count)
        key = id(entry), k.id >= count
        if key not in known:
            known[key] = _kernel(entry, (lambda o: o.seconds) if key[1] else cost)
    return {k.id: known[id(ledger.entry(k.id % count)), k.id >= count] for k in problem.candidates}


def _kernel(entry: LedgerEntry, cost: SolveWith) -> str:
    offer = min(entry.offers, key=cost)
    if isfinite(offer.seconds):
        return f"{offer.backend.name} {offer.variant}".strip() + ", measured"
    return f"{offer.backend.name}, not measured"
