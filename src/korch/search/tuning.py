"""Solve and measure in turn until every kernel of the plan is measured: optimal without measuring everything.

Each round solves with lower bounds for what is not measured and measurements for what is, then measures what the
solution picked and what came near. When a solution has only measured kernels, it is optimal for the measured costs
among all candidates, because no other candidate can be cheaper than its bound.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from statistics import fmean

from korch.backends.contract import Kernel
from korch.errors import NoPlan
from korch.ir.graph import Graph
from korch.ir.tensor import Tensor
from korch.profile.costs import Costs
from korch.profile.results import Failed, Measurement, Tally
from korch.search.building import KernelBuilder
from korch.search.costed import Costed
from korch.search.ledger import Ledger
from korch.search.memory import InPlace, Memory, Placed
from korch.search.offers import LedgerEntry, Offer
from korch.search.phases import Phase, bounds, measured, pessimistic, physical
from korch.search.remeasure import promising
from korch.search.steering import (
    ANYWAY,
    CLOSE_BY,
    FINE,
    HOLDS,
    HURRIED,
    LEAST_SOLVING,
    PHYSICAL_SECONDS,
    PRICES_TRIED,
    PROOF_SHARE,
    REMEASURED,
    ROUGH,
    SHARE,
    SHORT,
    SOLVER_SECONDS,
    WORTH,
)
from korch.solve.budgets import binding
from korch.solve.highs import Highs
from korch.solve.problem import Problem, Solution
from korch.solve.solve import PROVED, solve
from korch.system.deadline import NEVER, Deadline


@dataclass(frozen=True)
class SearchState:
    """Where the search stands; `incumbent` and `bound` in seconds."""

    phase: str
    done: int = 0
    total: int = 0
    incumbent: float = inf
    bound: float = 0.0
    rounds: int = 0


Report = Callable[[SearchState], None]


@dataclass(frozen=True)
class Tuned:
    """The chosen cones (numbers in the ledger, in an order in which they can run) and how good they are.

    `cost`: of its kernels, and what their memory is worth. `bound`: what no plan can be cheaper than; 0 where nobody
    asked. It stands on costs extrapolated from kernels of the same kind, `physical` on physics for those that were not
    measured; `gap` and `gap_physical` are the plan's relative distances from them.
    """

    chosen: tuple[int, ...]
    cost: float
    bound: float
    gap: float
    rounds: int
    measured: int
    solver_seconds: float
    physical: float = 0.0

    @property
    def gap_physical(self) -> float:
        return max(0.0, 1 - self.physical / self.cost) if self.cost > 0 else 0.0


class Tuner:
    """The loop over one ledger, until `deadline`; the solver as a whole has its own limit, in seconds."""

    def __init__(
        self,
        graph: Graph,
        ledger: Ledger,
        profiler: Costs,
        report: Report,
        deadline: Deadline = NEVER,
        solver_limit: float = SOLVER_SECONDS,
        highs: Highs | None = None,
        builder: KernelBuilder | None = None,
    ) -> None:
        self.graph = graph
        self.ledger = ledger
        self.profiler = profiler
        self.memory = Memory.of(graph, profiler)
        self.report = report
        self.deadline = deadline
        self.solver_left = solver_limit
        self.highs = highs
        self.builder = builder
        self.solver_seconds = 0.0
        self.measured = 0
        self.rounds = 0
        self.largest = (0, 0)
        """Columns and rows of the largest program solved."""
        self.state = SearchState("solving")
        self._costed = Costed(graph, ledger)
        self._failures: dict[int, str] = {}
        self.lost = False
        """Whether a kernel has failed by no fault of its own, and might be in a better plan."""
        self._warm: Solution | None = None
        self._incumbent: tuple[int, ...] = ()
        self._room = max(HOLDS * _bytes(p.inputs for p in graph.primitives if not p.rule), ANYWAY)
        ledger.pricing.tries = PRICES_TRIED

    def run(self, phase: Phase, until: Deadline = NEVER) -> Tuned:
        """The plan that `phase` settles on, of measured kernels; at `until` as good as it is. Expectations bound
        nothing: where the phase solves with them, there is no bound."""
        solution, complete = self._settle(phase, until.earlier(self.deadline))
        return self._tuned(solution if phase.solve_with is bounds else replace(solution, bound=0.0), complete)

    def with_physical_bound(self, tuned: Tuned) -> Tuned:
        """The plan with the bound that holds whatever its kind suggests of a kernel: unmeasured ones cost what physics
        allow."""
        problem = self._costed.problem(physical)
        limit = Deadline.after(PHYSICAL_SECONDS)
        bound = solve(problem, deadline=limit, warm=self._warm, gap=ROUGH, highs=self.highs).bound
        return replace(tuned, physical=min(tuned.cost, bound))

    def certain(self, tuned: Tuned) -> Tuned:
        """The plan if it is proved and has been timed in place, or one that is nearly the cheapest where what has not
        counts for more; with the bound that is known."""
        if tuned.gap <= FINE and self.placed(tuned):
            return tuned
        solution = self._solve(self._costed.problem(pessimistic), None, FINE)
        chosen = min(tuned.chosen, solution.chosen, key=self._pessimistic)
        return self._judged(chosen, self._known(chosen), tuned.bound)

    def _pessimistic(self, chosen: Sequence[int]) -> float:
        return sum(self.ledger.entry(i).at(pessimistic) + self.ledger.price(i) for i in chosen)

    def _settle(self, phase: Phase, until: Deadline) -> tuple[Solution, bool]:
        """Solves and measures until all that is picked is measured, or time or the solver's share of it is used up."""
        cost = phase.solve_with
        if phase.gap:  # a proof is of one price: for a lower one there would be another
            self.ledger.pricing.reopen()
        while True:
            solution = self._warm = self._solve(self._costed.problem(cost), self._warm, phase.gap)
            if cost is bounds:
                self._tell(bound=solution.bound)
            self.rounds += 1
            picked = [e for i in solution.chosen if (e := self.ledger.entry(i)).open(cost)]
            enough = sum(e.at(cost) for e in picked) < phase.settle * solution.cost or until.passed
            if not picked or ((enough or self.solver_left <= 0) and self._has_plan()):
                if until.passed or not self._repriced(solution.chosen):
                    return solution, not picked
                continue
            before = self._costed.costs(cost)
            self._measure(self._to_measure(solution, phase, picked), until)
            self._keep(solution.chosen)
            if until.passed and isfinite(self._known(self._incumbent)):
                return replace(solution, bound=self._costed.lowered(solution.bound, before, cost)), False

    def _repriced(self, chosen: Sequence[int]) -> bool:
        """Whether memory has another price now, as the plan holds more constants than it may, or might hold more: with
        a high enough price, the cheapest plan is the cheapest of those that keep within bounds."""
        held = _bytes(self.ledger.cones[i].leaves for i in chosen)
        return self.ledger.pricing.moved(held / self._room)

    def _keep(self, chosen: tuple[int, ...]) -> None:
        """Remembers the plan if it is the cheapest of measured kernels so far, at the costs of today."""
        if self._known(chosen) < self._known(self._incumbent):
            self._incumbent = chosen
        self._tell(incumbent=self._known(self._incumbent))

    def _known(self, chosen: tuple[int, ...]) -> float:
        """The cost of a plan by measured kernels only; infinite without a plan."""
        return sum(self.ledger.entry(i).seconds + self.ledger.price(i) for i in chosen) if chosen else inf

    def _tuned(self, solution: Solution, complete: bool) -> Tuned:
        """The solution where it is `complete` (all measured) and cheapest so far; else the best measured plan."""
        chosen, cost = solution.chosen, solution.cost
        if not complete and self._has_plan():
            chosen = self._solve(self._costed.problem(measured), None, ROUGH).chosen
            cost = self._known(chosen)
        if self._known(self._incumbent) < cost:
            chosen, cost = self._incumbent, self._known(self._incumbent)
        self._keep(chosen)
        return self._judged(chosen, cost, solution.bound)

    def _judged(self, chosen: tuple[int, ...], cost: float, bound: float) -> Tuned:
        """The plan, and how far it may be from the cheapest."""
        bound = min(bound, cost)
        gap = (cost - bound) / cost if cost > 0 else 0.0
        gap = gap if gap > PROVED else 0.0
        return Tuned(chosen, cost, bound, gap, self.rounds, self.measured, self.solver_seconds)

    def rest(self) -> None:
        """Ends the processes that solve and measure; they start again when they are asked."""
        self.profiler.rest()
        if self.highs:
            self.highs.close()

    @property
    def late(self) -> bool:
        """Whether the time budget is used up."""
        return self.deadline.passed

    def placed(self, tuned: Tuned) -> bool:
        """Whether every kernel of the plan has been timed in place."""
        return all(self.ledger.entry(i).best.in_place is not None for i in tuned.chosen)

    def place(self, tuned: Tuned, timed: Sequence[InPlace]) -> None:
        """Enters what the plan's kernels took in place, where no earlier plan has shown that."""
        self.memory.place(self._mean_times(tuned, timed))

    def retry_outliers(self, tuned: Tuned) -> None:
        """Gives kernels that are not in the plan another chance, once, where they took much longer in a program than
        alone: a machine that others use is slow for seconds."""
        kept = {id(self.ledger.entry(i).best) for i in tuned.chosen}
        for o in (o for e in self.ledger.distinct for o in e.offers):
            if id(o) not in kept and o.is_outlier(WORTH * tuned.cost):
                o.retry()

    def remeasure(self, tuned: Tuned, most: int = REMEASURED) -> bool:
        """Measures again what would be in the plan if it took a little less: the plan's own kernels have been timed
        many times, all others once. Whether something takes less."""
        near = self._warm.near if self._warm else dict[int, float]()
        found = promising(self.ledger, tuned.chosen, tuned.cost, near)[:most]
        threads = self.profiler.setting.threads
        kernels = [o.kernel(e.cone, threads) for e, o in found]
        rivals = [e.best.kernel(e.cone, threads) if o is not e.best else None for e, o in found]
        self._tell(phase="measuring", done=self.measured, total=self.measured + len(kernels))
        results, lower = self.profiler.measure_again(self.deadline, kernels, rivals), False
        for (_, offer), result in zip(found, results, strict=True):
            if isinstance(result, Measurement):
                lower |= result.seconds < (offer.alone or 0.0)
                offer.remeasured(result.seconds)
        self.measured += len(kernels)
        return lower

    def learn(self, tuned: Tuned, timed: Sequence[InPlace]) -> tuple[Tuned, float]:
        """Enters what the plan's kernels took in place: for the first time, or less than was known, as a busy machine
        only ever adds. The plan at these costs, and the share by which they changed. Of others it says nothing, whose
        costs the bound stands on."""
        before, least = self._each(tuned), self._costed.costs(bounds)
        means = self._mean_times(tuned, timed)
        self.memory.place(means, telling=False)
        self.memory.lower(means)
        changes = [b - a for b, a in zip(before, self._each(tuned), strict=True)]
        bound = self._costed.lowered(tuned.bound, least, bounds)
        learnt = self._judged(tuned.chosen, self._known(tuned.chosen), bound)
        return learnt, sum(map(abs, changes)) / max(tuned.cost, 1e-12)

    def _each(self, tuned: Tuned) -> list[float]:
        """Seconds of each kernel of the plan."""
        return [self.ledger.entry(i).best.seconds for i in tuned.chosen]

    def _mean_times(self, tuned: Tuned, timed: Sequence[InPlace]) -> list[Placed]:
        """The kernels of the plan, each with its time, the mean where several are equal. A time below what physics
        allow is no time: it is rejected."""
        own: dict[int, list[InPlace]] = {}
        for i, time_ in zip(tuned.chosen, timed, strict=True):
            if time_.seconds >= self.ledger.entry(i).best.lower:
                own.setdefault(id(self.ledger.entry(i)), []).append(time_)
            else:
                self.profiler.tally += Tally(rejected=1)
        entries = {id(self.ledger.entry(i)): self.ledger.entry(i) for i in tuned.chosen}
        return [
            Placed(e := entries[key], e.best, fmean(x.seconds for x in times), max(x.spread for x in times))
            for key, times in own.items()
        ]

    def _solve(self, problem: Problem, warm: Solution | None, gap: float) -> Solution:
        """Each call has a share of what the solver may still use, the proof the largest."""
        self._tell(phase="solving" if gap else "proving")
        share = self.solver_left * (SHARE if gap else PROOF_SHARE)
        limit = max(LEAST_SOLVING, min(share, self.deadline.left))
        begin = time.monotonic()
        try:
            solution = solve(problem, deadline=Deadline.after(limit), warm=warm, gap=gap, highs=self.highs)
        except NoPlan as e:
            raise NoPlan(f"{e}{self._why(e.tensor)}", e.tensor) from None
        seconds = time.monotonic() - begin
        self.solver_left -= seconds
        self.solver_seconds += seconds
        self.largest = max(self.largest, (solution.columns, solution.rows))
        return solution

    def _has_plan(self) -> bool:
        """Whether there is a plan of measured kernels; those of an earlier one may have been banned since."""
        return isfinite(self._known(self._incumbent)) or self._feasible()

    def _feasible(self) -> bool:
        """Whether the measured kernels alone can make the outputs, those without error where that is limited."""
        made, free = {t.name for t in self.graph.inputs}, self._costed.free
        loose = {q for b in binding(free) for q in b.shares}
        entries = zip(free.candidates, self.ledger.entries, strict=True)
        ready = [c for c, e in entries if isfinite(e.seconds) and loose.isdisjoint(c.holds)]
        while True:
            new = {c.root for c in ready if all(r in made for r in c.reads)} - made
            if not new:
                return all(o in made for o in self._costed.free.outputs)
            made |= new

    def _to_measure(
        self, solution: Solution, phase: Phase, picked: Sequence[LedgerEntry]
    ) -> list[tuple[LedgerEntry, Offer]]:
        """Open offers of the kernels picked, then of those that came near."""
        cost = phase.solve_with
        near = [self.ledger.entry(i) for i, extra in solution.near.items() if extra <= CLOSE_BY * solution.cost]
        first = {id(o): (e, o) for e in picked for o in e.open(cost)}
        todo = first | {id(o): (e, o) for e in near for o in e.open(cost)}
        left = self.deadline.left
        most = 0 if not left else phase.batch if left > SHORT else min(phase.batch, HURRIED)
        return list(todo.values())[: max(most, len(first))]

    def _measure(self, todo: Sequence[tuple[LedgerEntry, Offer]], until: Deadline) -> None:
        """Measures the offers, but where there is a plan no longer than until then; single primitives that none of
        theirs computes are offered to whoever takes any."""
        kernels = self._kernels(todo)
        flat = [k for _, o in todo for k in kernels[id(o)]]
        self._tell(phase="measuring", done=self.measured, total=self.measured + len(flat))
        until = until if self._has_plan() else NEVER
        results = iter(self.profiler.measure_until(until, flat))
        for entry, offer in todo:
            own = kernels[id(offer)]
            known = [r for r in [next(results) for _ in own] if r]
            self.measured += len(known)
            failed = [r for r in known if isinstance(r, Failed)]
            self._failures.update({id(entry): r.reason for r in failed})
            self.lost |= not all(r.lasting for r in failed)
            if len(known) == len(own):
                offer.learn(own, known, self.profiler.setting.threads)
        for entry, _ in todo:
            if len(entry.cone.primitives) == 1 and all(o.alone == inf for o in entry.offers):
                entry.add(self.ledger.fallbacks(entry.cone))
        self._tell(done=self.measured)

    def _why(self, tensor: str) -> str:
        """The node of the model that makes the tensor, and why its kernel failed or none was built, as far as that is
        known."""
        for cone, entry in zip(self.ledger.cones, self.ledger.entries, strict=True):
            if cone.root.name == tensor and (reason := self._failures.get(id(entry))):
                return f" ({cone.primitives[-1].origin or cone.primitives[-1].op}: {reason})"
        return f" ({refusal})" if (refusal := self.ledger.refusals.get(tensor)) else ""

    def _kernels(self, todo: Sequence[tuple[LedgerEntry, Offer]]) -> dict[int, list[Kernel]]:
        """The kernels of each offer that are worth measuring, by its identity."""
        threads = self.profiler.setting.threads
        if self.builder is None:
            return {id(o): o.kernels(e.cone, threads) for e, o in todo}
        built = self.builder.build([(o.backend, e.cone) for e, o in todo], threads)
        return {id(o): o.worthwhile(some) for (_, o), some in zip(todo, built, strict=True)}

    def _tell(self, **changes: object) -> None:
        self.state = replace(self.state, rounds=self.rounds, **changes)  # pyright: ignore[reportArgumentType]
        self.report(self.state)


def _bytes(tensors: Iterable[Iterable[Tensor]]) -> int:
    """Of the distinct constants among `tensors`, single numbers left out."""
    return sum(t.nbytes for t in {t for some in tensors for t in some if t.const and t.value is None})
