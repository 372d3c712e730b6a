"""The whole pipeline: import, fission, choices, candidates, solve and measure, link."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import onnx

from korch.backends.table import backends
from korch.candidates import enumerate_cones
from korch.executable import Executable, Profile
from korch.executable.choices import label
from korch.executable.feeds import random_feeds
from korch.executable.plan import Accuracy
from korch.executable.planned import accounted, planned
from korch.executable.recall import Recall
from korch.fission import fission
from korch.fission.importer import read
from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.ir.primitive import Primitive
from korch.numerics.blame import alike, blames, inexact, to_drop
from korch.numerics.judge import Judge, Verdict
from korch.options import PATIENCE, Options
from korch.orchestrate.ledger import Ledger, open_ledger
from korch.orchestrate.solve_highs import Highs
from korch.orchestrate.tuning import State, Tuned, Tuner
from korch.profile.calibrate import machine
from korch.profile.database import Database
from korch.profile.profiler import Profiler
from korch.rewrite import add_choices

log = logging.getLogger(__name__)

RUNS, BLOCKS, FEW = 7, 4, 3
"""Runs of a linked program over which its kernels are timed in place, how often that is repeated, and the runs of a
program whose times are known."""
MOST_PLACEMENTS, MOST_PROOFS = 4, 3
SETTLED = 0.02
"""Of the predicted time: if less came off since the proof, it stands."""
MOST_ATTEMPTS = 3
"""Searches for a program that errs little enough before all choices go that are not exact."""
SUSPICIOUS, PAUSES = 1.15, (0.2, 0.5, 1.0, 2.0)
"""How much slower than the sum of its kernels a program may seem before it is timed again, after so many seconds."""

Source = str | Path | bytes | onnx.ModelProto
Report = Callable[[State], None]


@dataclass(frozen=True)
class Summary:
    """What an optimisation did: counts, milliseconds, the proved relative gap, seconds and bytes.

    `error` is that of the output that is worst by its bound, `error_bound`, against float64 (see `Accuracy`).
    """

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
    error: float
    error_bound: float | None
    dropped: tuple[str, ...]


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
    prepared = read(model, options.shapes)
    plain = fission(prepared)
    graph = add_choices(plain, approximate=options.numerics != "strict")
    threads, patience = options.thread_count, options.time_budget or PATIENCE
    feeds = random_feeds(graph.inputs)
    with Database() as database, Profiler(threads, database) as profiler:
        recall = Recall.of(plain, options, profiler.setting, database)
        known = recall.plan(graph, options, patience)
        if known:
            executable, facts = Executable.link(known[0]), known[1]
        else:
            judge = Judge(prepared, feeds, options.numerics)
            executable, facts = Search(graph, options, profiler, report, start + patience, judge).run()
            recall.keep(executable.plan, patience, facts)
        profiler.close()
        plan = executable.plan
        actual = executable.profile(feeds, FEW) if known else in_place(executable, feeds, plan.predicted_seconds)
        measured = profiler.measured
    accuracy = plan.accuracy or Accuracy("", 0.0, None)
    summary = Summary(
        primitives=len(plain.primitives), choices=len(graph.primitives), candidates=int(facts["candidates"]),
        distinct=int(facts["distinct"]), kernels=len(plan.steps), measured=measured, rounds=int(facts["rounds"]),
        predicted_ms=plan.predicted_seconds * 1e3, actual_ms=actual.total * 1e3, gap=plan.gap,
        solver_s=facts["solver_s"], tuning_s=time.monotonic() - start, peak_bytes=executable.peak_bytes,
        error=accuracy.error, error_bound=accuracy.allowed, dropped=accuracy.dropped,
    )  # fmt: skip
    return executable, summary


@dataclass
class Search:
    """The search for one graph's program; `deadline` is a time.monotonic() value, `judge` has the seeded inputs."""

    graph: Graph
    options: Options
    profiler: Profiler
    report: Report
    deadline: float
    judge: Judge
    rounds: int = 0
    solver_seconds: float = 0.0

    def run(self) -> tuple[Executable, dict[str, float]]:
        """The program, and facts for the summary."""
        self.report(State("enumerating"))
        cones = enumerate_cones(self.graph)
        calibrated = machine(self.profiler.setting.threads, self.profiler.database, self.profiler)
        ledger = open_ledger(cones, backends(), calibrated)
        with Highs(self.profiler.setting.threads) as highs:
            executable = self._accurate(ledger, highs)
        facts = {"candidates": len(ledger.cones), "distinct": len(ledger.distinct), "rounds": self.rounds,
                 "solver_s": self.solver_seconds}  # fmt: skip
        return executable, facts

    def _accurate(self, ledger: Ledger, highs: Highs) -> Executable:
        """Searches until the program keeps to the numerics, each time without the choices that cost most error."""
        graph, gone, attempt = self.graph, list[str](), 0
        while True:
            attempt += 1
            tuner = Tuner(graph, ledger, self.profiler, self.report, self.deadline, highs=highs)
            tuned = self._settled(graph, ledger, tuner)
            tuner.rest()
            self._tally(tuned)
            executable = Executable.link(accounted(planned(graph, ledger, tuned, self.options), ledger, tuned))
            verdict = self._judged(executable)
            picked = [p for i in tuned.chosen for p in ledger.cones[i].primitives]
            dropped = set[Primitive]() if verdict.passed else self._to_drop(graph, picked, verdict, attempt)
            if not dropped:
                told = Accuracy(verdict.output, verdict.error, verdict.allowed, tuple(gone))
                executable.plan = replace(executable.plan, accuracy=told)
                return executable
            executable.close()
            gone += self._told(dropped, verdict)
            graph = graph.without(dropped)
            ledger = ledger.within(set(graph.primitives))

    def _judged(self, executable: Executable) -> Verdict:
        self.report(State("checking"))
        return self.judge.verdict(executable.run(self.judge.feeds))

    def _to_drop(self, graph: Graph, picked: Sequence[Primitive], verdict: Verdict, attempt: int) -> set[Primitive]:
        """The choices that cost most error; in the end all that are not exact. Nothing where the plan has none."""
        if loose := set(inexact(graph)).intersection(picked):
            found = blames(graph, loose, picked, self.judge.feeds) if attempt < MOST_ATTEMPTS else []
            return alike(graph, to_drop(found, verdict.excess)) or set(inexact(graph))
        log.warning("output %r errs by %.1e as the model is written, numerics %s allow %.1e", verdict.output,
                    verdict.error, self.options.numerics, verdict.allowed)  # fmt: skip
        return set()

    def _told(self, dropped: Collection[Primitive], verdict: Verdict) -> list[str]:
        names = [f"{p.output.name} by {label(p)}" for p in self.graph.primitives if p in dropped]
        log.info("output %r errs by %.1e of %.1e: searching again without %s", verdict.output, verdict.error,
                 verdict.allowed, "; ".join(names))  # fmt: skip
        return names

    def _tally(self, tuned: Tuned) -> None:
        self.rounds += tuned.rounds
        self.solver_seconds += tuned.solver_seconds

    def _settled(self, graph: Graph, ledger: Ledger, tuner: Tuner) -> Tuned:
        """Explores, times kernels where they stand, explores again with those costs; proves the plan that stays."""
        tuned = tuner.explore()
        for _ in range(MOST_PLACEMENTS):
            if tuner.placed(tuned) or tuner.late:
                break
            tuner.place(tuned, self._steps(graph, ledger, tuner, tuned))
            tuned = tuner.explore()
        for _ in range(MOST_PROOFS):
            if tuner.late:
                break
            tuned = tuner.prove()
            if tuner.lower(tuned, self._steps(graph, ledger, tuner, tuned)) < SETTLED:
                break
        return tuned

    def _steps(self, graph: Graph, ledger: Ledger, tuner: Tuner, tuned: Tuned) -> Sequence[float]:
        """What each kernel takes in the linked program, in seconds."""
        tuner.rest()
        with Executable.link(planned(graph, ledger, tuned, self.options)) as trial:
            return in_place(trial, self.judge.feeds, tuned.cost).steps


def in_place(executable: Executable, feeds: Mapping[str, Array], promised: float) -> Profile:
    """The program's times, nothing else of ours running; again while they are far from what was promised."""
    best = executable.profile(feeds, RUNS, BLOCKS)
    for pause in PAUSES:
        if best.total <= SUSPICIOUS * promised:
            break
        time.sleep(pause)
        best = best.least(executable.profile(feeds, RUNS, BLOCKS))
    return best
