"""From what the search chose to a plan that can be linked."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

from korch.executable.plan import Plan, RunnerUp, Step
from korch.executable.profile import Profile
from korch.ir.graph import Graph
from korch.ir.macs import total
from korch.options import Options
from korch.search.choices import choices
from korch.search.ledger import Ledger
from korch.search.offers import LedgerEntry
from korch.search.phases import bounds
from korch.search.tuning import Tuned


def planned(graph: Graph, ledger: Ledger, tuned: Tuned, options: Options, threads: int = 0) -> Plan:
    """The plan of the cones that `tuned` chose, each with its cheapest kernel; `threads` of the target, those of
    `options` by default."""
    threads = threads or options.thread_count
    cones = [ledger.cones[i] for i in tuned.chosen]
    errors = ledger.limit.of_steps(cones) if ledger.limit else [0.0] * len(cones)
    steps = tuple(replace(_step(ledger, i, threads), error=e) for i, e in zip(tuned.chosen, errors, strict=True))
    predicted, asked = sum(s.cost for s in steps), tuple(options.texts().items())
    return Plan(graph, steps, threads, options.numerics, predicted, tuned.gap, asked, gap_physical=tuned.gap_physical)


def accounted(plan: Plan, ledger: Ledger, tuned: Tuned) -> Plan:
    """The plan with the model's own multiply-adds and the choices that it left."""
    made = choices(plan.graph, ledger, tuned.chosen)
    return replace(plan, as_written=total(plan.graph.plain().primitives), choices=made)


def as_timed(plan: Plan, profile: Profile) -> Plan:
    """The plan whose steps cost what they took in its program, by `profile`.

    Equal kernels share one measurement in the search, but not one time in a program: their inputs come from different
    caches. What was not run, runners-up and margins, is scaled as the whole. No cost falls below what physics allow.
    """
    costs = [s.cost if s.idle else max(t, s.lower) for s, t in zip(plan.steps, profile.steps, strict=True)]
    pace = sum(costs) / plan.predicted_seconds if plan.predicted_seconds else 1.0
    steps = tuple(
        replace(s, cost=c, runner_up=_paced(s.runner_up, pace)) for s, c in zip(plan.steps, costs, strict=True)
    )
    made = tuple(replace(c, margin=None if c.margin is None else c.margin * pace) for c in plan.choices)
    return replace(plan, steps=steps, choices=made, predicted_seconds=sum(costs))


def _paced(other: RunnerUp | None, pace: float) -> RunnerUp | None:
    return other and replace(other, cost=other.cost * pace)


def _step(ledger: Ledger, i: int, threads: int) -> Step:
    """The kernel is built for this cone: equal cones differ in names, and flat ones in shapes."""
    cone, entry = ledger.cones[i], ledger.entry(i)
    kernel = entry.best.kernel(cone, threads)
    return replace(Step.at(cone, kernel, entry.best.seconds, _runner_up(entry)), lower=entry.best.lower)


def _runner_up(entry: LedgerEntry) -> RunnerUp | None:
    """The next best offer for the same cone."""
    others = sorted((o for o in entry.offers if o is not entry.best and isfinite(bounds(o))), key=bounds)
    if not others:
        return None
    return RunnerUp(others[0].backend.name, "" if others[0].measured else "bound", bounds(others[0]))
