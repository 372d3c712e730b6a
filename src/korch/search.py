"""The search for one model's program: explore, time in place, prove, judge; again where the error is too large."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from korch.backends.table import backends
from korch.candidates import enumerate_cones
from korch.executable import Executable, Profile
from korch.executable.choices import label
from korch.executable.plan import Accuracy
from korch.executable.planned import accounted, planned
from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.ir.primitive import Primitive
from korch.numerics.blame import alike, blames, inexact, to_drop
from korch.numerics.judge import Judge, Verdict
from korch.options import Options
from korch.orchestrate.ledger import Ledger, open_ledger
from korch.orchestrate.solve_highs import Highs
from korch.orchestrate.tuning import State, Tuned, Tuner
from korch.profile.calibrate import machine
from korch.profile.profiler import Profiler

log = logging.getLogger(__name__)

RUNS, BLOCKS = 7, 4
"""Runs of a linked program over which its kernels are timed in place, and how often that is repeated."""
MOST_PLACEMENTS, MOST_PROOFS = 4, 3
SETTLED = 0.02
"""Of the predicted time: if less came off the plan's own kernels since the proof, it stands: no other got cheaper."""
MOST_ATTEMPTS = 3
"""Searches for a program that errs little enough before all choices go that are not exact."""
SUSPICIOUS, PAUSES = 1.15, (0.2, 0.5, 1.0, 2.0)
"""How much slower than the sum of its kernels a program may seem before it is timed again, after so many seconds."""

Report = Callable[[State], None]


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
