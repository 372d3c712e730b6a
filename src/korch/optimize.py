"""The whole pipeline: import, fission, choices, candidates, solve and measure, link."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import onnx

from korch.backends.table import backends
from korch.candidates import enumerate_cones
from korch.executable import Executable, Profile
from korch.executable.feeds import random_feeds
from korch.executable.plan import Plan
from korch.executable.planned import planned
from korch.executable.recall import Recall
from korch.fission import fission
from korch.fission.importer import read
from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.options import PATIENCE, Options
from korch.orchestrate.ledger import Ledger, open_ledger
from korch.orchestrate.solve_highs import Highs
from korch.orchestrate.tuning import State, Tuned, Tuner
from korch.profile.calibrate import machine
from korch.profile.database import Database
from korch.profile.profiler import Profiler
from korch.rewrite import add_choices

RUNS, BLOCKS = 7, 4
"""Runs of a linked program over which its kernels are timed in place, and how often that is repeated."""
MOST_PLACEMENTS = 4
SUSPICIOUS, PAUSES = 1.15, (0.2, 0.5, 1.0, 2.0)
"""How much slower than the sum of its kernels a program may seem before it is timed again, after so many seconds."""

Source = str | Path | bytes | onnx.ModelProto
Report = Callable[[State], None]


@dataclass(frozen=True)
class Summary:
    """What an optimisation did: counts, milliseconds, the proved relative gap, seconds and bytes."""

    primitives: int
    choices: int
    candidates: int
    distinct: int
    kernels: int
    measured: int
    rounds: int
    predicted_ms: float
    actual_ms: float
    gap: float
    solver_s: float
    tuning_s: float
    peak_bytes: int


def optimize(
    model: Source,
    *,
    threads: int = 0,
    time_budget: float | None = None,
    numerics: str = "default",
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    report: Report | None = None,
) -> Executable:
    """The fastest program for `model` (path, bytes or ModelProto) that the search can prove or find in time."""
    options = Options(threads, time_budget, numerics, dict(shapes or {}))
    return optimized(model, options, report or (lambda state: None))[0]


def optimized(model: Source, options: Options, report: Report) -> tuple[Executable, Summary]:
    """`optimize`, with a summary of what was done."""
    start = time.monotonic()
    report(State("reading"))
    plain = fission(read(model, options.shapes))
    graph = add_choices(plain, approximate=options.numerics != "strict")
    threads, patience = options.thread_count, options.time_budget or PATIENCE
    with Database() as database, Profiler(threads, database) as profiler:
        recall = Recall.of(plain, options, profiler.setting, database)
        known = recall.plan(graph, options, patience)
        plan, facts = known or _Search(graph, options, profiler, report, start + patience).run()
        if not known:
            recall.keep(plan, patience, facts)
        profiler.close()
        executable = Executable.link(plan)
        actual = in_place(executable, random_feeds(graph.inputs), plan.predicted_seconds, BLOCKS if not known else 1)
        measured = profiler.measured
    summary = Summary(
        primitives=len(plain.primitives), choices=len(graph.primitives), candidates=int(facts["candidates"]),
        distinct=int(facts["distinct"]), kernels=len(plan.steps), measured=measured, rounds=int(facts["rounds"]),
        predicted_ms=plan.predicted_seconds * 1e3, actual_ms=actual.total * 1e3, gap=plan.gap,
        solver_s=facts["solver_s"], tuning_s=time.monotonic() - start, peak_bytes=executable.peak_bytes,
    )  # fmt: skip
    return executable, summary


@dataclass
class _Search:
    """The search for one graph's plan; `deadline` is a time.monotonic() value."""

    graph: Graph
    options: Options
    profiler: Profiler
    report: Report
    deadline: float

    def run(self) -> tuple[Plan, dict[str, float]]:
        """The plan, and facts for the summary."""
        self.report(State("enumerating"))
        cones = enumerate_cones(self.graph)
        calibrated = machine(self.profiler.setting.threads, self.profiler.database, self.profiler)
        ledger = open_ledger(cones, backends(), calibrated)
        with Highs(self.profiler.setting.threads) as highs:
            tuner = Tuner(self.graph, ledger, self.profiler, self.report, self.deadline, highs=highs)
            tuned = self._settled(ledger, tuner)
        facts = {"candidates": len(ledger.cones), "distinct": len(ledger.distinct), "rounds": tuned.rounds,
                 "solver_s": tuned.solver_seconds}  # fmt: skip
        return planned(self.graph, ledger, tuned, self.options), facts

    def _settled(self, ledger: Ledger, tuner: Tuner) -> Tuned:
        """Explores, times kernels where they stand, explores again with those costs; proves the plan that stays."""
        feeds = random_feeds(self.graph.inputs)
        tuned = tuner.explore()
        for _ in range(MOST_PLACEMENTS):
            if tuner.placed(tuned) or tuner.late:
                break
            tuner.rest()
            with Executable.link(planned(self.graph, ledger, tuned, self.options)) as trial:
                tuner.place(tuned, in_place(trial, feeds, tuned.cost).steps)
            tuned = tuner.explore()
        return tuned if tuner.late else tuner.prove()


def in_place(executable: Executable, feeds: Mapping[str, Array], promised: float, blocks: int = BLOCKS) -> Profile:
    """The program's times, nothing else of ours running; again while they are far from what was promised."""
    best = executable.profile(feeds, RUNS, blocks)
    for pause in PAUSES:
        if best.total <= SUSPICIOUS * promised:
            break
        time.sleep(pause)
        best = best.least(executable.profile(feeds, RUNS, blocks))
    return best
