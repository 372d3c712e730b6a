"""The search for one model's program: explore, time in place, prove, judge; again where the error is too large."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from math import inf

from korch.backends.contract import Backend
from korch.backends.precision import ROUNDED
from korch.candidates import Limits, enumerate_cones, trimmed
from korch.executable import Executable
from korch.executable.by_step import first_wrong, rounds_to_bytes
from korch.executable.plan import Accuracy, Plan
from korch.ir.cone import Cone
from korch.ir.graph import Graph
from korch.ir.macs import total
from korch.ir.ops.table import Array
from korch.ir.primitive import Primitive
from korch.numerics.blame import alike, blames, inexact, to_drop
from korch.numerics.bounds import own_bound
from korch.numerics.error import amplifies
from korch.numerics.estimate import estimated
from korch.numerics.judge import Judge
from korch.numerics.verdict import Verdict
from korch.profile.costs import Costs
from korch.search.accuracy import ban, culprits
from korch.search.attempt import Attempt, Resources, is_link, place_links, with_few_chains
from korch.search.building import KernelBuilder
from korch.search.choices import label
from korch.search.correction import Corrections, next_preset
from korch.search.error_limit import ErrorLimit, estimated_error
from korch.search.exactness import Refinement
from korch.search.exchange import Exchange, exchanges
from korch.search.in_place import steady
from korch.search.ledger import Ledger, open_ledger
from korch.search.phases import PHASES, RIVALS, TRANSFER, Phase
from korch.search.planned import accounted, as_timed
from korch.search.spare import without_spare_libraries
from korch.search.steering import (
    FAR,
    FINISH,
    HEAVY,
    LOOK,
    MOST_ATTEMPTS,
    MOST_BANS,
    PROBE_SECONDS,
    PROBE_SHARE,
    SHORT,
    TAKEN_OVER_TIMED,
    UNLIKELY_ERROR,
)
from korch.search.transfer import Sketch, TakenOver, covers, found_in, others_for
from korch.search.tuning import Report, SearchState, Tuned
from korch.solve.highs import Highs
from korch.system.deadline import Deadline
from korch.system.processor import processors
from korch.system.throttle import paced
from korch.targets import Target

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Facts:
    """Figures of a finished search. `columns`, `rows`: of the largest program solved. `whole`: whether no candidate was
    left out for lack of time, nor by a failure that was not its own. `rejected_samples`: below what physics allow.
    `busy`: the share of samples that other programs disturbed. `looser`: the next numerics that would save time, and
    the share that they would save, among the same choices."""

    cones: int
    candidates: int
    distinct: int
    columns: int
    rows: int
    rounds: int
    enumeration_s: float
    solver_s: float
    whole: bool
    rejected_samples: int = 0
    busy: float = 0.0
    looser: str = ""
    looser_gain: float = 0.0


@dataclass(frozen=True)
class Tried:
    """A plan that a search has found, and what its program errs."""

    tuned: Tuned
    verdict: Verdict
    plan: Plan

    @property
    def rounded(self) -> bool:
        """Whether kernels round the factors of products: that errs more than any choice."""
        return any(s.kernel.variant.precision in ROUNDED for s in self.plan.steps)


@dataclass
class Search:
    """The search for one graph's program, which is to be there at `end`; the search itself has until `deadline`.
    `judge` has the seeded inputs. With a `sketch` of a plan for other extents, its kernels are the candidates."""

    graph: Graph
    target: Target
    costs: Costs
    report: Report
    end: Deadline
    judge: Judge
    limits: Limits = field(default_factory=Limits)
    sketch: Sketch = ()

    def __post_init__(self) -> None:
        self.corrections = Corrections()
        left = self.end.left
        self.deadline = Deadline(self.end.at - min(FINISH, left / 5))
        self.hurried = left < SHORT

    def run(self) -> tuple[Executable, Facts]:
        """The program, and facts for the summary."""
        with self.opened() as (ledger, resources):
            executable, now, ledger = self.accurate(ledger, resources)
            looser = "", 0.0
            if now.verdict.passed:
                looser = next_preset(now.plan.graph, ledger, self.target.options.numerics, resources.highs)
        facts = Facts(
            self._enumerated,
            len(ledger.cones),
            len(ledger.distinct),
            *resources.largest,
            resources.rounds,
            self._enumerating,
            resources.solver_seconds,
            not self.hurried and not resources.lost,
            self.costs.tally.rejected,
            self.costs.tally.busy,
            *looser,
        )
        return executable, facts

    @contextmanager
    def opened(self, estimates: bool = False) -> Generator[tuple[Ledger, Resources]]:
        """The candidates, none of them measured, and what attempts share. `estimates`: errors are estimated at once."""
        self.report(SearchState("enumerating"))
        calibrated = self.target.machine(self.costs)
        heavy = self.target.timed and total(self.graph.plain().primitives) >= HEAVY
        with self.judge.reference.meanwhile() if heavy else nullcontext():
            begin = time.monotonic()
            with paced():
                cones, later = self._cones()
            self._enumerated, self._enumerating = len(cones) + len(later), time.monotonic() - begin
            ledger = open_ledger(cones, self.target.backends(), calibrated, self.costs.physics, self.target.way_out)
            if estimates or (own_bound(self.target.options.numerics) or inf) < UNLIKELY_ERROR:
                ledger = self._limited(ledger)
            self._taken_over = TakenOver(self.graph, self.sketch, ledger)
            with Highs(self._solver_threads) as highs, KernelBuilder() as builder:
                resources = Resources(
                    self.target, self.costs, self.report, self.judge.feeds, self.deadline, highs, builder
                )
                yield with_few_chains(self.graph, ledger, later, resources), resources

    def _cones(self) -> tuple[list[Cone], list[Cone]]:
        """The cones to begin with, and chains that wait until it is known which of them may pay."""
        found = found_in(self.graph, self.sketch)
        if found and covers(self.graph, found):
            return list(found), []
        cones = trimmed(enumerate_cones(self.graph, self.limits), self.graph.outputs)
        if found and covers(self.graph, mended := [*found, *others_for(self.graph, found, cones)]):
            return mended, []
        return surely_paying(cones, self.target.backends()) if self.hurried else (list(cones), [])

    def _limited(self, ledger: Ledger) -> Ledger:
        """`ledger` with a limit of the error of plans, where some primitives are loose. A plan that is taken over has
        its own."""
        allowed = own_bound(self.target.options.numerics)
        if self.sketch or allowed is None or ledger.limit or self.corrections.estimated:
            return ledger
        self.corrections.estimated = True
        with paced():
            until = Deadline.after(min(PROBE_SECONDS, PROBE_SHARE * self.end.left))
            estimate = estimated(self.graph, self.judge.feeds, until)
        return replace(ledger, limit=ErrorLimit(estimate, allowed) if estimate else None)

    def accurate(self, ledger: Ledger, resources: Resources) -> tuple[Executable, Tried, Ledger]:
        """Searches until the program keeps to the numerics: where kernels round, with more exact ones in its plan;
        where loose primitives err more than estimated, with the estimate corrected; then each time without the choices
        that cost most error, in the end without the kernels; where nothing is left to drop, the program that errs
        least. And the ledger then."""
        graph, gone, tried = self.graph, list[str](), list[Tried]()
        while True:
            executable, now = self.attempt(graph, ledger, resources, gone)
            if now.rounded and now.verdict.judged and not now.verdict.passed:
                executable, now = self._more_exact(ledger, executable, now, gone)
            tried.append(now)
            if not now.verdict.judged:
                log.warning("%s", now.verdict.text(self.target.options.numerics))
            if now.verdict.passed or not now.verdict.judged:
                until = Deadline(self.deadline.at - LOOK)
                wider = self.corrections.wider(graph, ledger, now.tuned, now.verdict, resources.highs, until)
                if not wider:
                    return executable, now, ledger
                ledger = self._again(executable, now, wider)
                continue
            cones = [ledger.cones[i] for i in now.tuned.chosen]
            banned = self._ban(ledger, tried) if now.rounded else []
            ledger = self._limited(ledger)
            if not banned and (tighter := self.corrections.tighter(graph, ledger, cones, now.verdict)):
                ledger = self._again(executable, now, tighter)
                continue
            picked = [p for c in cones for p in c.primitives]
            dropped = set[Primitive]() if banned else self._to_drop(graph, picked, now.verdict, _graphs(tried))
            names = banned or (self._names(dropped) if dropped else self._ban(ledger, tried))
            if not names:
                return self._least(executable, tried), now, ledger
            executable.close()
            log.info(
                "output %r errs by %.1e of %.1e: searching again without %s",
                now.verdict.output,
                now.verdict.error,
                now.verdict.allowed,
                "; ".join(names),
            )
            gone += names
            if dropped:
                graph = graph.without(dropped)
                ledger = ledger.within(set(graph.primitives))

    def _again(self, executable: Executable, now: Tried, ledger: Ledger) -> Ledger:
        """`ledger`, with which the search goes on instead of with the program that it has found."""
        executable.close()
        estimate = estimated_error(now.plan)
        log.info("%s, %.1e were estimated: searching again", now.verdict.text(self.target.options.numerics), estimate)
        return ledger

    def attempt(
        self, graph: Graph, ledger: Ledger, resources: Resources, gone: Sequence[str], phases: Sequence[Phase] = PHASES
    ) -> tuple[Executable, Tried]:
        """One search, and the verdict on its program."""
        if not self.hurried and phases is PHASES:
            place_links(graph, ledger, resources)
        attempt = Attempt(graph, ledger, resources, phases=TRANSFER if self.sketch else phases)
        tuned = attempt.best()
        if self._taken_over.reopened(map(ledger.entry, tuned.chosen), tuned.cost):
            attempt = Attempt(graph, ledger, resources, phases=(RIVALS,))
            tuned = attempt.best()
        tuned = without_spare_libraries(ledger, tuned, self.costs.setting.threads)
        picked = {p for i in tuned.chosen for p in ledger.cones[i].primitives}
        lost = self._names(self.corrections.failed - picked)
        return self._linked(accounted(attempt.plan(tuned), ledger, tuned), tuned, [*gone, *lost])

    def _more_exact(
        self, ledger: Ledger, executable: Executable, first: Tried, gone: Sequence[str]
    ) -> tuple[Executable, Tried]:
        """The plan with as many kernels more exact as it needs; as it is where that does not help."""
        until = max(self.end, Deadline.after(FINISH)) if self.target.timed else Deadline(0.0)
        plan = Refinement(self._run, until).fitting(Exchange(first.plan, ledger, first.tuned), first.verdict)
        if plan is None:
            return executable, first
        executable.close()
        return self._linked(plan, first.tuned, [*gone, *exchanges(first.plan, plan)])

    def _run(self, plan: Plan) -> tuple[Executable, Verdict]:
        executable = self.target.link(plan, self.costs)
        return executable, self.judged(executable)

    def _linked(self, plan: Plan, tuned: Tuned, gone: Sequence[str]) -> tuple[Executable, Tried]:
        """The program of `plan`, and the verdict on it."""
        executable, verdict = self._run(plan)
        accuracy = Accuracy(**asdict(verdict), dropped=tuple(gone))
        plan = self._timed(executable) if verdict.passed or not verdict.judged else executable.plan
        executable.plan = replace(plan, accuracy=accuracy)
        return executable, Tried(tuned, verdict, executable.plan)

    def judged(self, executable: Executable) -> Verdict:
        """The verdict on a program for this graph."""
        self.report(SearchState("checking"))
        verdict = self.judge.verdict(partial(self.target.outputs, executable))
        raised = amplifies(self.judge.numerics, verdict.allowed)
        if verdict.passed or not (raised and rounds_to_bytes(executable.plan)):
            return verdict
        if wrong := first_wrong(executable.plan, self.judge.feeds, self._outputs):
            log.info("%s; %s", verdict.text(self.target.options.numerics), wrong)
        return replace(verdict, by_step=not wrong)

    def _outputs(self, plan: Plan) -> Mapping[str, Array]:
        with self.target.link(plan, self.costs) as program:
            return self.target.outputs(program, self.judge.feeds)

    def _timed(self, executable: Executable) -> Plan:
        """Its plan, which costs what it takes now."""
        if not self.target.timed:
            return executable.plan
        until = Deadline.after(TAKEN_OVER_TIMED) if self.sketch else self.end
        return as_timed(executable.plan, steady(executable, self.judge.feeds, self.costs, until))

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
        text = best.verdict.text(self.target.options.numerics)
        log.warning("%s: the least of %d tried; nothing was found to err less", text, len(tried))
        if best is not tried[-1]:
            executable.close()
            executable = self.target.link(best.plan, self.costs)
        executable.plan = self._timed(executable)
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


def surely_paying(cones: Sequence[Cone], backends: Sequence[Backend]) -> tuple[list[Cone], list[Cone]]:
    """The cones with which a short search begins, and chains that may wait. It begins with links; and of chains, which
    are dear to measure, and whose links have to be placed before they are known to pay, with those that keep from
    memory what no cache would hold, or that are one kernel for a backend that builds links, too: that is no dearer than
    they are."""
    quick = [b for b in backends if any(b.refuses(c) is None for c in cones if is_link(c))]
    parts: tuple[list[Cone], list[Cone]] = [], []
    known = dict[str, bool]()
    for cone in cones:
        if cone.signature not in known:
            between = max((p.output.nbytes for p in cone.primitives if p.output != cone.root), default=0)
            pays = is_link(cone) or between >= FAR or any(b.refuses(cone) is None for b in quick)
            known[cone.signature] = pays
        parts[not known[cone.signature]].append(cone)
    return parts
