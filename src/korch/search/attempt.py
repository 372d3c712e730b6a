"""One search among the choices of a graph: the phases in turn, until the plan that stays is proved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from korch.executable.plan import Plan
from korch.ir.cone import Cone
from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.ir.primitive import Primitive
from korch.profile.costs import Costs
from korch.profile.pace import meanwhile
from korch.profile.results import Tally
from korch.search.building import KernelBuilder
from korch.search.in_place import in_place
from korch.search.ledger import Ledger
from korch.search.memory import InPlace
from korch.search.phases import EXPLORE, LINKS, PHASES, PROVE, First, Phase
from korch.search.planned import planned
from korch.search.steering import CHAINS_TRIED, EARLIER, LINKS_FIRST, LOOK, MOVED
from korch.search.tuning import Report, SearchState, Tuned, Tuner
from korch.solve.highs import Highs
from korch.system.deadline import NEVER, Deadline
from korch.targets import Target


@dataclass
class Resources:
    """Shared by the attempts of one search. `feeds`: seeded inputs. `rounds` and `solver_seconds` of all of them;
    `largest`: columns and rows of the largest program solved; `lost`: whether kernels failed by no fault of their
    own."""

    target: Target
    costs: Costs
    report: Report
    feeds: Mapping[str, Array]
    deadline: Deadline
    highs: Highs
    builder: KernelBuilder
    rounds: int = 0
    solver_seconds: float = 0.0
    largest: tuple[int, int] = (0, 0)
    lost: bool = False


class Attempt:
    """One search among the kernels of `ledger` for a plan of `graph`, by `deadline` or that of its `resources`."""

    def __init__(
        self,
        graph: Graph,
        ledger: Ledger,
        resources: Resources,
        deadline: Deadline = NEVER,
        phases: Sequence[Phase] = PHASES,
    ) -> None:
        self.graph, self.ledger, self.resources, self.phases = graph, ledger, resources, phases
        self.deadline = deadline.earlier(resources.deadline)
        self.tuner = Tuner(
            graph,
            ledger,
            resources.costs,
            resources.report,
            self.deadline,
            highs=resources.highs,
            builder=resources.builder,
        )

    def best(self) -> Tuned:
        """The plan that stays."""
        tuned = self._searched() if self.resources.target.timed else self._buildable()
        return self._counted(self.tuner.with_physical_bound(tuned))

    def plan(self, tuned: Tuned) -> Plan:
        """The chosen cones as kernels in their order."""
        options, threads = self.resources.target.options, self.resources.costs.setting.threads
        return planned(self.graph, self.ledger, tuned, options, threads)

    def place_roughly(self) -> Tuned:
        """A first plan, whose kernels were timed in place where there was time."""
        tuned = self.tuner.run(LINKS)
        if not self.resources.deadline.passed:
            self.tuner.place(tuned, self._steps(tuned))
        return self._counted(tuned)

    def _searched(self) -> Tuned:
        """The plan after all phases for which there is time; without a proof, the best by what was seen."""
        tuned: Tuned | None = None
        for phase in self.phases:
            for _ in range(phase.times):
                if tuned and (self.deadline.left < phase.needs or (phase is PROVE and self._late(tuned))):
                    break
                if tuned and not self._prepared(phase, tuned):
                    break
                tuned, settled = self._proved() if phase is PROVE else (self._placed(phase), False)
                if settled:
                    break
        assert tuned, "the first phase needs no time"
        return self.tuner.certain(tuned)

    def _late(self, tuned: Tuned) -> bool:
        """Whether no time is left, and there is a bound."""
        return self.tuner.late and bool(tuned.bound)

    def _prepared(self, phase: Phase, tuned: Tuned) -> bool:
        """Does what comes first in `phase`; whether the phase is worth while then."""
        if phase.first is First.RETRY_OUTLIERS:
            self.tuner.retry_outliers(tuned)
        return phase.first is not First.REMEASURE or self.tuner.remeasure(tuned, phase.most)

    def _placed(self, phase: Phase) -> Tuned:
        """The plan that stays, however often one looks, when its kernels have been timed where they stand."""
        until = Deadline.after(self.deadline.left - min(phase.keeps, self.deadline.left / 4)) if phase.keeps else NEVER
        tuned = self.tuner.run(phase, until)
        for _ in range(phase.placed):
            if self.tuner.placed(tuned) or self.tuner.late:
                break
            self.tuner.place(tuned, self._steps(tuned))
            tuned = self.tuner.run(phase, until)
        return tuned

    def _proved(self) -> tuple[Tuned, bool]:
        """The proved plan, and whether it stands: not where its kernels take something else than the proof knew."""
        tuned = self.tuner.run(PROVE)
        if self.tuner.late:
            return tuned, True
        tuned, moved = self.tuner.learn(tuned, self._steps(tuned))
        return tuned, moved < MOVED

    def _buildable(self) -> Tuned:
        """The proved plan whose kernels can be built, where nobody has run them."""
        self.tuner.run(EXPLORE)
        while True:
            tuned, threads = self.tuner.run(PROVE), self.resources.costs.setting.threads
            chosen = {id(e): e for e in map(self.ledger.entry, tuned.chosen)}
            kernels = [(e, e.best.kernel(e.cone, threads)) for e in chosen.values()]
            self.resources.report(SearchState("compiling", total=len(kernels)))
            refused = self.resources.target.refused([k for _, k in kernels])
            if not refused:
                return tuned
            for entry, kernel in kernels:
                if kernel in refused:
                    entry.ban([(kernel.backend, kernel.variant)], threads)

    def _steps(self, tuned: Tuned) -> Sequence[InPlace]:
        """The time of each kernel in the linked program, on a machine that nobody shares."""
        self.tuner.rest()
        resources, costs = self.resources, self.resources.costs
        with resources.target.trial(self.plan(tuned), costs) as trial, costs.alone(resources.deadline):
            profile, pace = meanwhile(costs.pace, lambda pace: in_place(trial, resources.feeds, tuned.cost / pace))
        samples = profile.runs * len(profile.steps)
        costs.tally += Tally(samples, round(profile.disturbed * samples))
        spreads = profile.spreads or (0.0,) * len(profile.steps)
        lower = [self.ledger.entry(i).best.lower for i in tuned.chosen]
        return [
            InPlace(seconds if seconds < least else max(pace * seconds, least), spread)
            for seconds, least, spread in zip(profile.steps, lower, spreads, strict=True)
        ]

    def _counted(self, tuned: Tuned) -> Tuned:
        """The same, entered in the account of the resources."""
        self.tuner.rest()
        self.resources.rounds += tuned.rounds
        self.resources.solver_seconds += tuned.solver_seconds
        self.resources.largest = max(self.resources.largest, self.tuner.largest)
        self.resources.lost |= self.tuner.lost
        return tuned


def place_links(graph: Graph, ledger: Ledger, resources: Resources) -> None:
    """Times in place what chains are made of, in the best plan without them: alone, on cold caches, kernels may take
    longer than in a program whose weights stay in the cache, and a chain would win only because of that."""
    links = ledger.where(is_link)
    enough = resources.deadline.left >= LOOK
    if resources.target.timed and enough and len(links.cones) < len(ledger.cones):
        Attempt(graph, links, resources, resources.deadline.share(EARLIER)).place_roughly()


def with_few_chains(graph: Graph, ledger: Ledger, chains: Sequence[Cone], resources: Resources) -> Ledger:
    """The ledger of a short search: of all `chains` those that are made of links which the best plan of the ledger
    holds, and of these the few that keep most bytes between links from memory."""
    if not resources.target.timed or not chains:
        return ledger
    tuned = Attempt(graph, ledger, resources, resources.deadline.share(LINKS_FIRST)).place_roughly()
    if resources.deadline.passed:
        return ledger
    found = chains_of([ledger.cones[i] for i in tuned.chosen], chains, CHAINS_TRIED)
    wanted = {c.signature for c in found}
    return ledger.extended(c for c in chains if c.signature in wanted)


def chains_of(links: Sequence[Cone], chains: Sequence[Cone], most: int) -> list[Cone]:
    """At most so many of the `chains` that are made of `links`, by the bytes between these in all equal chains; no two
    hold the same primitive."""
    held, roots = {p for c in links for p in c.primitives}, {c.root for c in links}
    inside = [c for c in chains if held.issuperset(c.primitives)]
    equal = Counter(c.signature for c in inside)

    def between(cone: Cone) -> int:
        return sum(p.output.nbytes for p in cone.primitives if p.output in roots and p.output != cone.root)

    found, taken = list[Cone](), set[Primitive]()
    for cone in sorted(inside, key=lambda c: -equal[c.signature] * between(c)):
        if between(cone) and taken.isdisjoint(cone.primitives):
            taken.update(p for c in inside if c.signature == cone.signature for p in c.primitives)
            found.append(cone)
    return found[:most]


def is_link(cone: Cone) -> bool:
    """Whether a kernel is no chain."""
    return len(cone.linear) < 2
