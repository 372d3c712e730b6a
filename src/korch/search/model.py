"""The search for one model's program: explore, time in place, prove, judge; again where the error is too large."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

from korch.backends.contract import Backend
from korch.backends.precision import ROUNDED, precision_of
from korch.candidates import Limits, enumerate_cones, trimmed
from korch.executable import Executable
from korch.executable.plan import Accuracy, Plan
from korch.ir.cone import Cone
from korch.ir.graph import Graph
from korch.ir.macs import total
from korch.ir.primitive import Primitive
from korch.numerics.blame import alike, blames, inexact, to_drop
from korch.numerics.judge import Judge
from korch.numerics.verdict import Verdict
from korch.profile.costs import Costs
from korch.search.accuracy import ban, culprits
from korch.search.attempt import Attempt, Means, is_link, place_links
from korch.search.building import Builder
from korch.search.choices import label
from korch.search.exactness import Exacter
from korch.search.exchange import Exchange, exchanges
from korch.search.in_place import steady_seconds
from korch.search.ledger import Ledger, open_ledger
from korch.search.planned import accounted, paced
from korch.search.spare import without_spare_libraries
from korch.search.tuning import SHORT, Report, State, Tuned
from korch.solve.highs import Highs
from korch.system.processor import processors
from korch.targets import Target

log = logging.getLogger(__name__)

HEAVY = 1 << 30
"""Multiply-adds of a model whose float64 outputs another process evaluates while cones are enumerated and priced and
the first kernels are built: those of 28 billion took 22 seconds when all else was done."""
FINISH = 16.0
"""Seconds kept for what follows the search, of a short time a fifth: to link the program, check it, and time it until
two times agree. (With 6 seconds there was one, taken in a slow moment: 515 ms of `efficientvit`, 433 half a minute
later.)"""
MOST_ATTEMPTS = 3
"""Searches for a program that errs little enough before all choices go that are not exact."""
MOST_BANS = 4
"""Searches without kernels that err too much, where there is no such choice left."""
FAR = 3 << 23
"""Bytes between kernels that come from memory wherever they stand. (`efficientvit` with 30 seconds: 0.70 of the full
search's speed without any chains, 0.84 with these; `segformer` 0.91 and 0.89, 0.78 with those of 16 MB, too.)"""


@dataclass(frozen=True)
class Tried:
    """A plan that a search has found, and what its program errs."""

    tuned: Tuned
    verdict: Verdict
    plan: Plan

    @property
    def rounded(self) -> bool:
        """Whether kernels round the factors of products: that errs more than any choice."""
        return any(precision_of(s.kernel.variant) in ROUNDED for s in self.plan.steps)


@dataclass
class Search:
    """The search for one graph's program, which is to be there at `end`, a time.monotonic() value; the search itself
    has until `deadline`. `judge` has the seeded inputs."""

    graph: Graph
    target: Target
    costs: Costs
    report: Report
    end: float
    judge: Judge
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        left = max(self.end - time.monotonic(), 0.0)
        self.deadline = self.end - min(FINISH, left / 5)
        self.hurried = left < SHORT

    def run(self) -> tuple[Executable, dict[str, float]]:
        """The program, and facts for the summary."""
        self.report(State("enumerating"))
        calibrated = self.target.machine(self.costs)
        heavy = self.target.timed and total(self.graph.plain().primitives) >= HEAVY
        with self.judge.meanwhile() if heavy else nullcontext():
            begin = time.monotonic()
            cones = trimmed(enumerate_cones(self.graph, self.limits), self.graph.outputs)
            enumerating = time.monotonic() - begin
            if self.hurried:
                cones = without_doubtful_chains(cones, self.target.backends())
            ledger = open_ledger(cones, self.target.backends(), calibrated)
            with Highs(self._solver_threads) as highs, Builder() as builder:
                means = Means(self.target, self.costs, self.report, self.judge.feeds, self.deadline, highs, builder)
                executable = self._accurate(ledger, means)
        columns, rows = means.largest
        facts = {"cones": len(cones), "candidates": len(ledger.cones), "distinct": len(ledger.distinct),
                 "columns": columns, "rows": rows, "rounds": means.rounds, "enumeration_s": enumerating,
                 "solver_s": means.solver_seconds, "whole": float(not self.hurried and not means.lost)}  # fmt: skip
        return executable, facts

    def _accurate(self, ledger: Ledger, means: Means) -> Executable:
        """Searches until the program keeps to the numerics: where kernels round, with more exact ones in its plan, then
        each time without the choices that cost most error, in the end without the kernels; where nothing is left to
        drop, the program that errs least."""
        graph, gone, tried = self.graph, list[str](), list[Tried]()
        while True:
            executable, now = self._attempt(graph, ledger, means, gone)
            if now.rounded and not now.verdict.passed:
                executable, now = self._more_exact(ledger, executable, now, gone)
            tried.append(now)
            if now.verdict.passed:
                return executable
            picked = [p for i in now.tuned.chosen for p in ledger.cones[i].primitives]
            banned = self._ban(ledger, tried) if now.rounded else []
            dropped = set() if banned else self._to_drop(graph, picked, now.verdict, _graphs(tried))
            told = banned or (self._names(dropped) if dropped else self._ban(ledger, tried))
            if not told:
                return self._least(executable, tried)
            executable.close()
            log.info("output %r errs by %.1e of %.1e: searching again without %s", now.verdict.output,
                     now.verdict.error, now.verdict.allowed, "; ".join(told))  # fmt: skip
            gone += told
            if dropped:
                graph = graph.without(dropped)
                ledger = ledger.within(set(graph.primitives))

    def _attempt(self, graph: Graph, ledger: Ledger, means: Means, gone: Sequence[str]) -> tuple[Executable, Tried]:
        """One search, and the verdict on its program."""
        if not self.hurried:
            place_links(graph, ledger, means)
        attempt = Attempt(graph, ledger, means)
        tuned = without_spare_libraries(ledger, attempt.best(), self.costs.setting.threads)
        return self._linked(accounted(attempt.plan(tuned), ledger, tuned), tuned, gone)

    def _more_exact(self, ledger: Ledger, executable: Executable, first: Tried,
                    gone: Sequence[str]) -> tuple[Executable, Tried]:  # fmt: skip
        """The plan with as many kernels more exact as it needs; as it is where that does not help."""
        until = max(self.end, time.monotonic() + FINISH) if self.target.timed else 0.0
        plan = Exacter(self._run, until).fitting(Exchange(first.plan, ledger, first.tuned), first.verdict)
        if plan is None:
            return executable, first
        executable.close()
        return self._linked(plan, first.tuned, [*gone, *exchanges(first.plan, plan)])

    def _run(self, plan: Plan) -> tuple[Executable, Verdict]:
        executable = self.target.link(plan, self.costs)
        return executable, self._judged(executable)

    def _linked(self, plan: Plan, tuned: Tuned, gone: Sequence[str]) -> tuple[Executable, Tried]:
        """The program of `plan`, and the verdict on it."""
        executable, verdict = self._run(plan)
        accuracy = Accuracy(verdict.output, verdict.error, verdict.allowed, tuple(gone))
        plan = self._paced(executable) if verdict.passed else executable.plan
        executable.plan = replace(plan, accuracy=accuracy)
        return executable, Tried(tuned, verdict, executable.plan)

    def _judged(self, executable: Executable) -> Verdict:
        self.report(State("checking"))
        return self.judge.verdict(self.target.outputs(executable, self.judge.feeds))

    def _paced(self, executable: Executable) -> Plan:
        """Its plan, which costs what it takes now."""
        if not self.target.timed:
            return executable.plan
        return paced(executable.plan, steady_seconds(executable, self.judge.feeds, self.costs, self.end))

    def _to_drop(self, graph: Graph, picked: Sequence[Primitive], verdict: Verdict, attempt: int) -> set[Primitive]:
        """The choices that cost most error; in the end all that are not exact. Nothing where the plan has none."""
        if loose := set(inexact(graph)).intersection(picked):
            found = blames(graph, loose, picked, self.judge.feeds) if attempt < MOST_ATTEMPTS else []
            return alike(graph, to_drop(found, verdict.excess)) or set(inexact(graph))
        return set()

    def _ban(self, ledger: Ledger, tried: Sequence[Tried]) -> list[str]:
        """Bans the kernels of the last plan that err most and need not; their names. Nothing where there are none, or
        after enough tries with the same choices."""
        now = tried[-1]
        if sum(t.plan.graph is now.plan.graph for t in tried) > MOST_BANS:
            return []
        found = culprits(ledger, now.tuned.chosen, self.costs, now.verdict.excess)
        ban(ledger, found, self.costs.setting.threads)
        return list(dict.fromkeys(map(str, found)))

    def _least(self, executable: Executable, tried: Sequence[Tried]) -> Executable:
        """The program of those `tried` that errs least, the first of equal ones; `executable` is the last of them."""
        best = min(tried, key=lambda t: t.verdict.excess)
        told = best.verdict.told(self.target.options.numerics)
        log.warning("%s: the least of %d tried; nothing was found to err less", told, len(tried))
        if best is not tried[-1]:
            executable.close()
            executable = self.target.link(best.plan, self.costs)
        executable.plan = self._paced(executable)
        return executable

    def _names(self, dropped: Collection[Primitive]) -> list[str]:
        return [f"{p.output.name} by {label(p)}" for p in self.graph.primitives if p in dropped]

    @property
    def _solver_threads(self) -> int:
        """Of this machine, also where kernels are for a device."""
        return min(self.target.options.thread_count, processors())


def _graphs(tried: Sequence[Tried]) -> int:
    """How many sets of choices were tried."""
    return len({id(t.plan.graph) for t in tried})


def without_doubtful_chains(cones: Sequence[Cone], backends: Sequence[Backend]) -> list[Cone]:
    """The `cones` for a short search: of chains, which are dear to measure, and whose links have to be placed before
    they are known to pay, only those that keep from memory what no cache would hold, or that are one kernel for a
    backend that builds links, too: that is no dearer than they are."""
    links = list(filter(is_link, cones))
    quick = [b for b in backends if any(b.declines(c) is None for c in links)]

    def stays(cone: Cone) -> bool:
        between = max(p.output.nbytes for p in cone.primitives if p.output != cone.root)
        return between >= FAR or any(b.declines(cone) is None for b in quick)

    return [c for c in cones if is_link(c) or stays(c)]
