"""The search for one model's program: explore, time in place, prove, judge; again where the error is too large."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from math import inf

from korch.backends.cuda.precision import ROUNDED, precision_of
from korch.candidates import Limits, enumerate_cones, trimmed
from korch.executable import Executable, Profile
from korch.executable.choices import label
from korch.executable.plan import Accuracy, Plan
from korch.executable.planned import accounted, paced, planned
from korch.ir.cone import Cone
from korch.ir.graph import Graph
from korch.ir.macs import total
from korch.ir.ops.table import Array
from korch.ir.primitive import Primitive
from korch.numerics.blame import alike, blames, inexact, to_drop
from korch.numerics.judge import Judge, Verdict
from korch.orchestrate.accuracy import ban, culprits
from korch.orchestrate.building import Builder
from korch.orchestrate.ledger import Ledger, open_ledger
from korch.orchestrate.solve_highs import Highs
from korch.orchestrate.spare import without_spare_libraries
from korch.orchestrate.tuning import SHORT, State, Tuned, Tuner
from korch.processor import processors
from korch.profile.costs import Costs
from korch.targets import Target

log = logging.getLogger(__name__)

RUNS, BLOCKS, ENOUGH, MUCH = (2, 12), (2, 4), 2.0, 6.0
"""Runs of a linked program over which its kernels are timed in place, and how often that is repeated, at least and at
most: as many as take no more than so many seconds; and seconds after which nothing is repeated because of a surprise.
(A program of half a second would have four blocks of three runs, 6 seconds, and five times that after a surprise.)"""
STEADY, MOST_PACES = 0.03, 4
"""How far two times of a program may lie apart, one after the other, before it is timed once more: its plan's costs are
scaled to the last, and a machine that others use has moments of another pace."""
HEAVY = 1 << 30
"""Multiply-adds of a model whose float64 outputs another process evaluates while cones are enumerated and priced and
the first kernels are built: those of 28 billion took 22 seconds when all else was done."""
FINISH = 16.0
"""Seconds kept for what follows the search, of a short time a fifth: to link the program, check it, and time it until
two times agree. (With 6 seconds there was one, taken in a slow moment: 515 ms of `efficientvit`, 433 half a minute
later.)"""
MOST_PLACEMENTS, MOST_HOPES, MOST_DOUBTS, MOST_PROOFS = 4, 3, 3, 3
"""MOST_HOPES: plans that are timed because they might be cheaper in a program than alone; a chain of kernels stood
against its links, whose times in a program were known, with its own alone, and lost by 2%."""
LOOK, EARLY = 25.0, 48
"""Seconds left that are enough for a second look, and kernels of the first one: it comes before the search explores
what else there may be, as time may be over after that, with half of the chains measured in a bad moment."""
LAST = 80.0
"""Seconds kept for second looks and the proof, or a quarter of what is left where that is less."""
SETTLED = 0.02
"""Of the predicted time: if the plan's own kernels differ by less from what the proof knew, it stands."""
MOST_ATTEMPTS = 3
"""Searches for a program that errs little enough before all choices go that are not exact."""
MOST_BANS = 4
"""Searches without kernels that err too much, where there is no such choice left."""
SUSPICIOUS, NOTHING, PAUSES = 1.15, 1e-5, (0.2, 0.5, 1.0, 2.0)
"""How much slower than the sum of its kernels a program may seem before it is timed again, and the seconds that it may
take without any; after so many seconds."""

ROUGHLY, EARLIER = 0.1, 0.25
"""The share of a plan of links that need not be measured, as what it is made of is there to be seen in place; and the
share of the time that it may take. (`efficientvit`: 225 offers in 48 s instead of 397 in 98.)"""
FAR = 3 << 23
"""Bytes between kernels that come from memory wherever they stand. (`efficientvit` with 30 seconds: 0.70 of the full
search's speed without any chains, 0.84 with these; `segformer` 0.91 and 0.89, 0.78 with those of 16 MB, too.)"""

Report = Callable[[State], None]


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


@dataclass(frozen=True)
class Helpers:
    """Processes that tuners share."""

    highs: Highs
    builder: Builder


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
    rounds: int = 0
    solver_seconds: float = 0.0
    largest: tuple[int, int] = (0, 0)
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
                cones = without_doubtful_chains(cones)
            ledger = open_ledger(cones, self.target.backends(), calibrated)
            with Highs(self._solver_threads) as highs, Builder() as builder:
                executable = self._accurate(ledger, Helpers(highs, builder))
        columns, rows = self.largest
        facts = {"cones": len(cones), "candidates": len(ledger.cones), "distinct": len(ledger.distinct),
                 "columns": columns, "rows": rows, "rounds": self.rounds, "enumeration_s": enumerating,
                 "solver_s": self.solver_seconds, "whole": float(not self.hurried)}  # fmt: skip
        return executable, facts

    def _accurate(self, ledger: Ledger, helpers: Helpers) -> Executable:
        """Searches until the program keeps to the numerics, each time without the choices that cost most error, in the
        end without the kernels; where nothing is left to drop, the program that errs least."""
        graph, gone, tried = self.graph, list[str](), list[Tried]()
        while True:
            executable, now = self._attempt(graph, ledger, helpers, gone)
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

    def _attempt(self, graph: Graph, ledger: Ledger, helpers: Helpers, gone: Sequence[str]) -> tuple[Executable, Tried]:
        """One search, and the verdict on its program."""
        self._place_links(graph, ledger, helpers)
        tuner = Tuner(graph, ledger, self.costs, self.report, self.deadline, **vars(helpers))
        tuned = without_spare_libraries(ledger, self._settled(graph, ledger, tuner), self.costs.setting.threads)
        tuner.rest()
        self._tally(tuned, tuner.largest)
        executable = self.target.link(accounted(self._plan(graph, ledger, tuned), ledger, tuned), self.costs)
        verdict = self._judged(executable)
        accuracy = Accuracy(verdict.output, verdict.error, verdict.allowed, tuple(gone))
        plan = self._paced(executable) if verdict.passed else executable.plan
        executable.plan = replace(plan, accuracy=accuracy)
        return executable, Tried(tuned, verdict, executable.plan)

    def _place_links(self, graph: Graph, ledger: Ledger, helpers: Helpers) -> None:
        """Times in place what chains are made of, in the best plan without them: alone, on cold caches, kernels may
        take longer than in a program whose weights stay in the cache, and a chain would win only because of that."""
        links = ledger.where(_is_link)
        late = self.deadline - time.monotonic() < LOOK
        if not self.target.timed or self.hurried or late or len(links.cones) == len(ledger.cones):
            return
        now = time.monotonic()
        tuner = Tuner(graph, links, self.costs, self.report, now + EARLIER * (self.deadline - now), **vars(helpers))
        tuned = tuner.sketch(ROUGHLY)
        tuner.place(tuned, self._steps(graph, links, tuner, tuned))
        self._tally(tuned, tuner.largest)

    def _judged(self, executable: Executable) -> Verdict:
        self.report(State("checking"))
        return self.judge.verdict(self.target.outputs(executable, self.judge.feeds))

    def _paced(self, executable: Executable) -> Plan:
        """Its plan, which costs what it takes now."""
        plan = executable.plan
        if not self.target.timed:
            return plan
        with self.costs.alone(self.end):
            times = [in_place(executable, self.judge.feeds, plan.predicted_seconds, self.end).total]
            while len(times) < MOST_PACES and time.monotonic() < self.end:
                times.append(in_place(executable, self.judge.feeds, times[-1], self.end).total)
                if abs(times[-1] - times[-2]) <= STEADY * times[-2]:
                    break
        return paced(plan, times[-1])

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
        told = best.verdict
        numerics = self.target.options.numerics
        log.warning("output %r errs by %.1e, numerics %s allow %.1e: the least of %d tried; nothing was found to "
                    "err less", told.output, told.error, numerics, told.allowed, len(tried))  # fmt: skip
        if best is not tried[-1]:
            executable.close()
            executable = self.target.link(best.plan, self.costs)
        executable.plan = self._paced(executable)
        return executable

    def _names(self, dropped: Collection[Primitive]) -> list[str]:
        return [f"{p.output.name} by {label(p)}" for p in self.graph.primitives if p in dropped]

    def _tally(self, tuned: Tuned, largest: tuple[int, int]) -> None:
        self.rounds += tuned.rounds
        self.solver_seconds += tuned.solver_seconds
        self.largest = max(self.largest, largest)

    def _settled(self, graph: Graph, ledger: Ledger, tuner: Tuner) -> Tuned:
        """Sketches, and again with second thoughts about what the sketch left out; explores what else there may be,
        with costs of kernels timed where they stand, and of those that might be better there than they seem, and more
        second thoughts; proves the plan that stays, and keeps to what was seen where there was no time for that."""
        if not self.target.timed:
            return self._buildable(ledger, tuner)
        tuned = tuner.sketch()
        if self.deadline - time.monotonic() > 2 * LOOK:
            tuner.doubt(self._placed(graph, ledger, tuner, tuner.sketch, tuned=tuned), EARLY)
            tuner.sketch()
        until = self.deadline - min(LAST, (self.deadline - time.monotonic()) / 4)
        tuned = self._placed(graph, ledger, tuner, lambda: tuner.explore(until))
        if self.deadline - time.monotonic() > LOOK:
            tuner.excuse(tuned)
            self._placed(graph, ledger, tuner, tuner.hope, MOST_HOPES)
            tuned = self._placed(graph, ledger, tuner, tuner.sketch)
        for _ in range(MOST_DOUBTS):
            if self.deadline - time.monotonic() < LOOK or not tuner.doubt(tuned):
                break
            tuned = self._placed(graph, ledger, tuner, tuner.sketch)
        for _ in range(MOST_PROOFS):
            if tuner.late and tuned.bound:
                break
            tuned = tuner.prove()
            if tuner.late:
                break
            tuned, moved = tuner.learn(tuned, self._steps(graph, ledger, tuner, tuned))
            if moved < SETTLED:
                break
        return tuner.certain(tuned)

    def _placed(self, graph: Graph, ledger: Ledger, tuner: Tuner, look: Callable[[], Tuned],
                most: int = MOST_PLACEMENTS, tuned: Tuned | None = None) -> Tuned:  # fmt: skip
        """The plan that stays, however often one looks, when its kernels have been timed where they stand; `tuned` is
        what has been seen."""
        tuned = tuned or look()
        for _ in range(most):
            if tuner.placed(tuned) or tuner.late:
                break
            tuner.place(tuned, self._steps(graph, ledger, tuner, tuned))
            tuned = look()
        return tuned

    def _buildable(self, ledger: Ledger, tuner: Tuner) -> Tuned:
        """The proved plan whose kernels can be built, where nobody has run them."""
        tuner.explore()
        while True:
            tuned, threads = tuner.prove(), self.costs.setting.threads
            chosen = {id(e): e for e in map(ledger.entry, tuned.chosen)}
            kernels = [(e, e.best.kernel(e.cone, threads)) for e in chosen.values()]
            self.report(State("compiling", total=len(kernels)))
            refused = self.target.refused([k for _, k in kernels])
            if not refused:
                return tuned
            for entry, kernel in kernels:
                if kernel in refused:
                    entry.ban([(kernel.backend, kernel.variant)], threads)

    def _steps(self, graph: Graph, ledger: Ledger, tuner: Tuner, tuned: Tuned) -> Sequence[float]:
        """What each kernel takes in the linked program, in seconds."""
        tuner.rest()
        with self.target.trial(self._plan(graph, ledger, tuned), self.costs) as trial, self.costs.alone(self.deadline):
            return in_place(trial, self.judge.feeds, tuned.cost).steps

    def _plan(self, graph: Graph, ledger: Ledger, tuned: Tuned) -> Plan:
        return planned(graph, ledger, tuned, self.target.options, self.costs.setting.threads)

    @property
    def _solver_threads(self) -> int:
        """Of this machine, also where kernels are for a device."""
        return min(self.target.options.thread_count, processors())


def _graphs(tried: Sequence[Tried]) -> int:
    """How many sets of choices were tried."""
    return len({id(t.plan.graph) for t in tried})


def _is_link(cone: Cone) -> bool:
    """Whether a kernel is no chain."""
    return len(cone.linear) < 2


def without_doubtful_chains(cones: Iterable[Cone]) -> list[Cone]:
    """The `cones` for a short search: of chains, which are dear to measure, and whose links have to be placed before
    they are known to pay, only those that keep from memory what no cache would hold."""
    return [c for c in cones if _is_link(c) or max(p.output.nbytes for p in c.primitives if p.output != c.root) >= FAR]


def in_place(executable: Executable, feeds: Mapping[str, Array], promised: float, until: float = inf) -> Profile:
    """The program's times, nothing else of ours running; again while they are far from what was promised, but not
    after `until` (of time.monotonic())."""
    runs = _within(RUNS, ENOUGH / BLOCKS[1], promised)
    blocks = _within(BLOCKS, 1.5 * ENOUGH, (runs + 1) * promised)
    begin, best = time.monotonic(), executable.profile(feeds, runs, blocks)
    for pause in PAUSES:
        if best.total <= SUSPICIOUS * promised + NOTHING or time.monotonic() > min(until, begin + MUCH):
            break
        time.sleep(pause)
        best = best.least(executable.profile(feeds, runs, blocks))
    return best


def _within(limits: tuple[int, int], seconds: float, each: float) -> int:
    """How often something that takes `each` seconds is done in so many, within limits."""
    return min(max(int(seconds / max(each, 1e-6)), limits[0]), limits[1])
