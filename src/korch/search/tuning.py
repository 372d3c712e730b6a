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

from korch.backends.contract import Kernel
from korch.errors import NoPlan
from korch.ir.graph import Graph
from korch.ir.tensor import Tensor
from korch.profile.costs import Costs
from korch.profile.results import Failed, Measurement
from korch.search.building import Builder
from korch.search.costed import Cost, Costed
from korch.search.ledger import Ledger
from korch.search.memory import Memory, Placed
from korch.search.offers import Entry, Offer
from korch.search.price import TRIES
from korch.search.remeasure import DOUBTED, WORTH, doubted
from korch.solve.highs import Highs
from korch.solve.problem import Problem, Solution
from korch.solve.solve import PROVED, solve
from korch.system.deadline import Deadline

BATCH, SKETCHED, HURRIED = 80, 30, 48
"""Offers measured between two solutions, those picked and as many that came near; fewer for a sketch, or where time is
short."""
SHORT = 90.0
"""Seconds left below which time is short."""
ROUGH, FINE = 0.02, 0.002
"""Relative gap at which a solution is good enough to say what to measure next, and to be the plan when time is over."""
SLIGHT = 0.03
"""The share of a sketch that need not be measured."""
SHARE, PROOF_SHARE = 0.25, 0.75
HOLDS, ANYWAY = 2.5, 1 << 27
"""How many times the model's own constants a plan may hold, and bytes that it may hold whatever the model has.
(`yolov4` with Winograd's F(4, 3) wherever it gained a little held three times its 257 MB.)"""
LEAST = 4.0
"""Seconds that any solution may take: without a relaxation it would be blind."""


@dataclass(frozen=True)
class State:
    """Where the search stands; `incumbent` and `bound` in seconds."""

    phase: str
    done: int = 0
    total: int = 0
    incumbent: float = inf
    bound: float = 0.0
    rounds: int = 0


Report = Callable[[State], None]


@dataclass(frozen=True)
class Tuned:
    """The chosen cones (numbers in the ledger, in an order in which they can run) and how good they are.

    `cost`: of its kernels, and what their memory is worth. `bound`: what no plan can be cheaper than; 0 where nobody
    asked.
    """

    chosen: tuple[int, ...]
    cost: float
    bound: float
    gap: float
    rounds: int
    measured: int
    solver_seconds: float


@dataclass(frozen=True)
class Costing:
    """What an entry of the ledger costs, the offers that must be measured before that is known, how many are measured
    between two solutions, and what share of a plan may stay open."""

    of: Cost
    open: Callable[[Entry], list[Offer]]
    batch: int
    slight: float


BOUNDS = Costing(lambda e: e.cost, lambda e: e.open, BATCH, 0.0)
"""No less than is possible: what they settle on is the cheapest plan."""
GUESSES = Costing(lambda e: e.guess, lambda e: e.promising, SKETCHED, SLIGHT)
HOPES = Costing(lambda e: e.hoped, lambda e: e.promising, SKETCHED, SLIGHT)
"""Less than is known, for whatever has not been timed in a program: what they settle on is worth that."""


class Tuner:
    """The loop over one ledger. `deadline` is a time.monotonic() value; the solver as a whole has its own limit."""

    def __init__(self, graph: Graph, ledger: Ledger, profiler: Costs, report: Report, deadline: float = inf,
                 solver_limit: float = 100.0, highs: Highs | None = None,
                 builder: Builder | None = None) -> None:  # fmt: skip
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
        self.state = State("solving")
        self._costed = Costed(graph, ledger)
        self._failures: dict[int, str] = {}
        self.lost = False
        """Whether a kernel has failed by no fault of its own, and might be in a better plan."""
        self._warm: Solution | None = None
        self._incumbent: tuple[int, ...] = ()
        self._room = max(HOLDS * _bytes(p.inputs for p in graph.primitives if not p.rule), ANYWAY)
        ledger.pricing.tries = TRIES

    def sketch(self, slight: float = SLIGHT) -> Tuned:
        """A plan of measured kernels that no others are expected to beat by more than a `slight` share: soon there,
        without a bound."""
        return self._unbounded(replace(GUESSES, slight=slight))

    def hope(self) -> Tuned:
        """A plan that would be cheaper if its kernels that have not been timed in place took less there than alone."""
        return self._unbounded(HOPES)

    def explore(self, until: float = inf) -> Tuned:
        """A good plan of measured kernels, by rough solutions; at `until` (of time.monotonic()) as good as it is."""
        return self._tuned(*self._settle(BOUNDS, ROUGH, until))

    def prove(self) -> Tuned:
        """The cheapest plan for the costs as they are known now, with its proof."""
        return self._tuned(*self._settle(BOUNDS, 0.0))

    def certain(self, tuned: Tuned) -> Tuned:
        """The plan if it is proved and has been timed in place, or one that is nearly the cheapest where what has not
        counts for more; with the bound that is known."""
        if tuned.gap <= FINE and self.placed(tuned):
            return tuned
        solution = self._solve(self._costed.problem(lambda e: e.feared), None, FINE)
        chosen = min(tuned.chosen, solution.chosen, key=self._feared)
        return self._judged(chosen, self._known(chosen), tuned.bound)

    def _feared(self, chosen: Sequence[int]) -> float:
        return sum(self.ledger.entry(i).feared + self.ledger.price(i) for i in chosen)

    def _unbounded(self, costs: Costing) -> Tuned:
        """A plan by costs that bound nothing."""
        solution, measured = self._settle(costs, ROUGH)
        return self._tuned(replace(solution, bound=0.0), measured)

    def _settle(self, costs: Costing, gap: float, until: float = inf) -> tuple[Solution, bool]:
        """Solves and measures until all that is picked is measured, or time or the solver's share of it is used up."""
        if gap:  # a proof is of one price: for a lower one there would be another
            self.ledger.pricing.reopen()
        while True:
            solution = self._warm = self._solve(self._costed.problem(costs.of), self._warm, gap)
            if costs is BOUNDS:
                self._tell(bound=solution.bound)
            self.rounds += 1
            picked = [e for i in solution.chosen if costs.open(e := self.ledger.entry(i))]
            enough = sum(map(costs.of, picked)) < costs.slight * solution.cost or self._over(until)
            if not picked or ((enough or self.solver_left <= 0) and self._has_plan()):
                if self._over(until) or not self._repriced(solution.chosen):
                    return solution, not picked
                continue
            before = self._costed.costs(costs.of)
            self._measure(self._to_measure(solution, costs, picked), min(until, self.deadline))
            self._keep(solution.chosen)
            if self._over(until) and isfinite(self._known(self._incumbent)):
                return replace(solution, bound=self._costed.lowered(solution.bound, before, costs.of)), False

    def _repriced(self, chosen: Sequence[int]) -> bool:
        """Whether memory has another price now, as the plan holds more constants than it may, or might hold more: with
        a high enough price, the cheapest plan is the cheapest of those that keep within bounds."""
        held = _bytes(self.ledger.cones[i].leaves for i in chosen)
        return self.ledger.pricing.moved(held / self._room)

    def _over(self, until: float) -> bool:
        return time.monotonic() > min(until, self.deadline)

    def _keep(self, chosen: tuple[int, ...]) -> None:
        """Remembers the plan if it is the cheapest of measured kernels so far, at the costs of today."""
        if self._known(chosen) < self._known(self._incumbent):
            self._incumbent = chosen
        self._tell(incumbent=self._known(self._incumbent))

    def _known(self, chosen: tuple[int, ...]) -> float:
        """What a plan costs with measured kernels only; infinitely much without a plan."""
        return sum(self.ledger.entry(i).best_measured + self.ledger.price(i) for i in chosen) if chosen else inf

    def _tuned(self, solution: Solution, measured: bool) -> Tuned:
        """The solution where it is all measured and no earlier plan is cheaper; else the best measured plan."""
        chosen, cost = solution.chosen, solution.cost
        if not measured and self._has_plan():
            chosen = self._solve(self._costed.problem(lambda e: e.best_measured), None, ROUGH).chosen
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
        return self._over(inf)

    def placed(self, tuned: Tuned) -> bool:
        """Whether every kernel of the plan has been timed in place."""
        return all(self.ledger.entry(i).best.in_place is not None for i in tuned.chosen)

    def place(self, tuned: Tuned, seconds: Sequence[float]) -> None:
        """Enters what the plan's kernels took in place, where no earlier plan has shown that."""
        self.memory.place(self._means(tuned, seconds))

    def excuse(self, tuned: Tuned) -> None:
        """Gives kernels that are not in the plan another chance, once, where they took much longer in a program than
        alone: a machine that others use is slow for seconds."""
        kept = {id(self.ledger.entry(i).best) for i in tuned.chosen}
        for o in (o for e in self.ledger.distinct for o in e.offers):
            if id(o) not in kept and o.doubtful(WORTH * tuned.cost):
                o.excuse()

    def doubt(self, tuned: Tuned, most: int = DOUBTED) -> bool:
        """Measures again what would be in the plan if it took a little less: the plan's own kernels have been timed
        many times, all others once. Whether something takes less."""
        near = self._warm.near if self._warm else {}
        found = doubted(self.ledger, tuned.chosen, tuned.cost, near)[:most]
        threads = self.profiler.setting.threads
        kernels = [o.kernel(e.cone, threads) for e, o in found]
        rivals = [e.best.kernel(e.cone, threads) if o is not e.best else None for e, o in found]
        self._tell(phase="measuring", done=self.measured, total=self.measured + len(kernels))
        results, lower = self.profiler.measure_again(self.deadline, kernels, rivals), False
        for (_, offer), result in zip(found, results, strict=True):
            if isinstance(result, Measurement):
                lower |= result.seconds < (offer.alone or 0.0)
                offer.lower(result.seconds)
        self.measured += len(kernels)
        return lower

    def learn(self, tuned: Tuned, seconds: Sequence[float]) -> tuple[Tuned, float]:
        """Enters what the plan's kernels took in place: for the first time, or less than was known, as a busy machine
        only ever adds. The plan at these costs, and the share by which they changed. Of others it says nothing, whose
        costs the bound stands on."""
        before, least = self._each(tuned), self._costed.costs(BOUNDS.of)
        means = self._means(tuned, seconds)
        self.memory.place(means, telling=False)
        self.memory.lower(means)
        changes = [b - a for b, a in zip(before, self._each(tuned), strict=True)]
        bound = self._costed.lowered(tuned.bound, least, BOUNDS.of)
        learnt = self._judged(tuned.chosen, self._known(tuned.chosen), bound)
        return learnt, sum(map(abs, changes)) / max(tuned.cost, 1e-12)

    def _each(self, tuned: Tuned) -> list[float]:
        """What each kernel of the plan costs."""
        return [self.ledger.entry(i).best.seconds for i in tuned.chosen]

    def _means(self, tuned: Tuned, seconds: Sequence[float]) -> list[Placed]:
        """The kernels of the plan, each with its time, the mean where several are equal."""
        own: dict[int, list[float]] = {}
        for i, s in zip(tuned.chosen, seconds, strict=True):
            own.setdefault(id(self.ledger.entry(i)), []).append(s)
        entries = {id(self.ledger.entry(i)): self.ledger.entry(i) for i in tuned.chosen}
        return [Placed(e := entries[key], e.best, sum(times) / len(times)) for key, times in own.items()]

    def _solve(self, problem: Problem, warm: Solution | None, gap: float) -> Solution:
        """Each call has a share of what the solver may still use, the proof the largest."""
        self._tell(phase="solving" if gap else "proving")
        share = self.solver_left * (SHARE if gap else PROOF_SHARE)
        limit = max(LEAST, min(share, self.deadline - time.monotonic()))
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
        """Whether the measured kernels alone can make the outputs."""
        made = {t.name for t in self.graph.inputs}
        ready = [c for c, e in zip(self._costed.free.candidates, self.ledger.entries, strict=True)
                 if isfinite(e.best_measured)]  # fmt: skip
        while True:
            new = {c.root for c in ready if all(r in made for r in c.reads)} - made
            if not new:
                return all(o in made for o in self._costed.free.outputs)
            made |= new

    def _to_measure(self, solution: Solution, costs: Costing, picked: Sequence[Entry]) -> list[tuple[Entry, Offer]]:
        """Open offers of the kernels picked, then of those that came near."""
        near = [self.ledger.entry(i) for i, extra in solution.near.items() if extra <= 0.002 * solution.cost]
        first = {id(o): (e, o) for e in picked for o in costs.open(e)}
        todo = first | {id(o): (e, o) for e in near for o in costs.open(e)}
        left = self.deadline - time.monotonic()
        most = 0 if left < 0 else costs.batch if left > SHORT else min(costs.batch, HURRIED)
        return list(todo.values())[: max(most, len(first))]

    def _measure(self, todo: Sequence[tuple[Entry, Offer]], until: float) -> None:
        """Measures the offers, but where there is a plan no longer than until then; single primitives that none of
        theirs computes are offered to whoever takes any."""
        kernels = self._kernels(todo)
        flat = [k for e, o in todo for k in kernels[id(o)]]
        self._tell(phase="measuring", done=self.measured, total=self.measured + len(flat))
        until = until if self._has_plan() else inf
        results = iter(self.profiler.measure_until(until, flat))
        for entry, offer in todo:
            own = kernels[id(offer)]
            told = [r for r in [next(results) for _ in own] if r]
            self.measured += len(told)
            failed = [r for r in told if isinstance(r, Failed)]
            self._failures.update({id(entry): r.reason for r in failed})
            self.lost |= not all(r.lasting for r in failed)
            if len(told) == len(own):
                offer.learn(own, told, self.profiler.setting.threads)
        for entry, _ in todo:
            if len(entry.cone.primitives) == 1 and all(o.alone == inf for o in entry.offers):
                entry.add(self.ledger.fallbacks(entry.cone))
        self._tell(done=self.measured)

    def _why(self, tensor: str) -> str:
        """Which node of the model makes the tensor, and why its kernel failed, as far as that is known."""
        for cone, entry in zip(self.ledger.cones, self.ledger.entries, strict=True):
            if cone.root.name == tensor and (reason := self._failures.get(id(entry))):
                return f" ({cone.primitives[-1].origin or cone.primitives[-1].op}: {reason})"
        return ""

    def _kernels(self, todo: Sequence[tuple[Entry, Offer]]) -> dict[int, list[Kernel]]:
        """What is worth measuring of each offer, by its identity."""
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
