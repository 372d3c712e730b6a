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
from korch.executable.planned import planned
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
    report(State("enumerating"))
    cones = enumerate_cones(graph)
    threads = options.thread_count
    with Database() as database, Profiler(threads, database) as profiler, Highs(threads) as highs:
        ledger = open_ledger(cones, backends(), machine(threads, database, profiler))
        deadline = start + (options.time_budget or PATIENCE)
        tuner = Tuner(graph, ledger, profiler, report, deadline, highs=highs)
        executable, tuned, actual = _tune_in_place(graph, ledger, tuner, options)
    plan = executable.plan
    summary = Summary(
        primitives=len(plain.primitives), choices=len(graph.primitives), candidates=len(ledger.cones),
        distinct=len(ledger.distinct), kernels=len(plan.steps), measured=tuner.measured, rounds=tuned.rounds,
        predicted_ms=plan.predicted_seconds * 1e3, actual_ms=actual * 1e3, gap=plan.gap,
        solver_s=tuner.solver_seconds, tuning_s=time.monotonic() - start, peak_bytes=executable.peak_bytes,
    )  # fmt: skip
    return executable, summary


def _tune_in_place(graph: Graph, ledger: Ledger, tuner: Tuner, options: Options) -> tuple[Executable, Tuned, float]:
    """The linked plan of an earlier search or of one made now, and the seconds of a run."""
    feeds = random_feeds(graph.inputs)
    tuned = tuner.recalled or _searched(graph, ledger, tuner, options, feeds)
    executable = Executable.link(planned(graph, ledger, tuned, options))
    return executable, tuned, _in_place(executable, feeds, tuner, tuned.cost).total


def _searched(graph: Graph, ledger: Ledger, tuner: Tuner, options: Options, feeds: Mapping[str, Array]) -> Tuned:
    """Explores, times every kernel where it stands, explores again with those costs; proves the plan that stays."""
    tuned = tuner.explore()
    for _ in range(MOST_PLACEMENTS):
        if tuner.placed(tuned) or tuner.late:
            break
        with Executable.link(planned(graph, ledger, tuned, options)) as trial:
            tuner.place(tuned, _in_place(trial, feeds, tuner, tuned.cost).steps)
        tuned = tuner.explore()
    if not tuner.late:
        tuned = tuner.prove()
    tuner.finish(tuned)
    return tuned


def _in_place(executable: Executable, feeds: Mapping[str, Array], tuner: Tuner, promised: float) -> Profile:
    """The program's times with nothing else of ours running; again while they are far from what was promised."""
    tuner.rest()
    best = executable.profile(feeds, RUNS, BLOCKS)
    for pause in PAUSES:
        if best.total <= SUSPICIOUS * promised:
            break
        time.sleep(pause)
        best = best.least(executable.profile(feeds, RUNS, BLOCKS))
    return best
