"""From what the search chose to a plan that can be linked."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

from korch.executable.plan import Plan, RunnerUp, Step
from korch.ir.graph import Graph
from korch.options import Options
from korch.orchestrate.ledger import Entry, Ledger
from korch.orchestrate.tuning import Tuned


def planned(graph: Graph, ledger: Ledger, tuned: Tuned, options: Options) -> Plan:
    """The plan of the cones that `tuned` chose, each with its cheapest kernel."""
    steps = tuple(_step(ledger, i) for i in tuned.chosen)
    return Plan(graph, steps, options.thread_count, options.numerics, sum(s.cost for s in steps), tuned.gap)


def _step(ledger: Ledger, i: int) -> Step:
    cone, entry = ledger.cones[i], ledger.entry(i)
    best = entry.best
    assert best.kernel is not None, "the search returns measured kernels only"
    kernel = replace(best.kernel, cone=cone)
    if kernel.host:  # a host model states shapes, which equal cones need not share
        kernel = best.backend.build(cone, 1)[0]
    return Step(kernel, cone.leaves, cone.root, best.seconds, _runner_up(entry))


def _runner_up(entry: Entry) -> RunnerUp | None:
    """The next best offer for the same cone."""
    others = sorted((o for o in entry.offers if o is not entry.best and isfinite(o.cost)), key=lambda o: o.cost)
    if not others:
        return None
    return RunnerUp(others[0].backend.name, "" if others[0].measured else "bound", others[0].cost)
