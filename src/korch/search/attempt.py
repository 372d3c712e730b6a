"""One search among the choices of a graph: its plans are timed in place until one stays, which is proved."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from korch.executable.plan import Plan
from korch.ir.cone import Cone
from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.profile.costs import Costs
from korch.profile.pace import meanwhile
from korch.search.building import Builder
from korch.search.in_place import in_place
from korch.search.ledger import Ledger
from korch.search.planned import planned
from korch.search.tuning import Report, State, Tuned, Tuner
from korch.solve.highs import Highs
from korch.targets import Target

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
ROUGHLY, EARLIER = 0.1, 0.25
"""The share of a plan of links that need not be measured, as what it is made of is there to be seen in place; and the
share of the time that it may take. (`efficientvit`: 225 offers in 48 s instead of 397 in 98.)"""


@dataclass
class Means:
    """What the attempts of one search work with, and what they have taken together. `feeds`: seeded inputs;
    `deadline`: a time.monotonic() value; `largest`: columns and rows of the largest program solved; `lost`: whether
    kernels failed by no fault of their own."""

    target: Target
    costs: Costs
    report: Report
    feeds: Mapping[str, Array]
    deadline: float
    highs: Highs
    builder: Builder
    rounds: int = 0
    solver_seconds: float = 0.0
    largest: tuple[int, int] = (0, 0)
    lost: bool = False


class Attempt:
    """One search among the kernels of `ledger` for a plan of `graph`, by `deadline` or when its `means` end."""

    def __init__(self, graph: Graph, ledger: Ledger, means: Means, deadline: float = inf) -> None:
        self.graph, self.ledger, self.means = graph, ledger, means
        self.deadline = min(deadline, means.deadline)
        self.tuner = Tuner(graph, ledger, means.costs, means.report, self.deadline, highs=means.highs,
                           builder=means.builder)  # fmt: skip

    def best(self) -> Tuned:
        """The plan that stays."""
        return self._tallied(self._settled())

    def plan(self, tuned: Tuned) -> Plan:
        """What of the ledger was chosen, as kernels in their order."""
        return planned(self.graph, self.ledger, tuned, self.means.target.options, self.means.costs.setting.threads)

    def place_roughly(self) -> None:
        """Times the kernels of a first plan in place."""
        tuned = self.tuner.sketch(ROUGHLY)
        self.tuner.place(tuned, self._steps(tuned))
        self._tallied(tuned)

    def _settled(self) -> Tuned:
        """Sketches, and again with second thoughts about what the sketch left out; explores what else there may be,
        with costs of kernels timed where they stand, and of those that might be better there than they seem, and more
        second thoughts; proves the plan that stays, and keeps to what was seen where there was no time for that."""
        if not self.means.target.timed:
            return self._buildable()
        tuned = self.tuner.sketch()
        if self._left > 2 * LOOK:
            self.tuner.doubt(self._placed(self.tuner.sketch, tuned=tuned), EARLY)
            self.tuner.sketch()
        until = self.deadline - min(LAST, self._left / 4)
        tuned = self._placed(lambda: self.tuner.explore(until))
        if self._left > LOOK:
            self.tuner.excuse(tuned)
            self._placed(self.tuner.hope, MOST_HOPES)
            tuned = self._placed(self.tuner.sketch)
        for _ in range(MOST_DOUBTS):
            if self._left < LOOK or not self.tuner.doubt(tuned):
                break
            tuned = self._placed(self.tuner.sketch)
        for _ in range(MOST_PROOFS):
            if self.tuner.late and tuned.bound:
                break
            tuned = self.tuner.prove()
            if self.tuner.late:
                break
            tuned, moved = self.tuner.learn(tuned, self._steps(tuned))
            if moved < SETTLED:
                break
        return self.tuner.certain(tuned)

    def _placed(self, look: Callable[[], Tuned], most: int = MOST_PLACEMENTS, tuned: Tuned | None = None) -> Tuned:
        """The plan that stays, however often one looks, when its kernels have been timed where they stand; `tuned` is
        what has been seen."""
        tuned = tuned or look()
        for _ in range(most):
            if self.tuner.placed(tuned) or self.tuner.late:
                break
            self.tuner.place(tuned, self._steps(tuned))
            tuned = look()
        return tuned

    def _buildable(self) -> Tuned:
        """The proved plan whose kernels can be built, where nobody has run them."""
        self.tuner.explore()
        while True:
            tuned, threads = self.tuner.prove(), self.means.costs.setting.threads
            chosen = {id(e): e for e in map(self.ledger.entry, tuned.chosen)}
            kernels = [(e, e.best.kernel(e.cone, threads)) for e in chosen.values()]
            self.means.report(State("compiling", total=len(kernels)))
            refused = self.means.target.refused([k for _, k in kernels])
            if not refused:
                return tuned
            for entry, kernel in kernels:
                if kernel in refused:
                    entry.ban([(kernel.backend, kernel.variant)], threads)

    def _steps(self, tuned: Tuned) -> Sequence[float]:
        """What each kernel takes in the linked program, in seconds of a machine that nobody shares."""
        self.tuner.rest()
        means, costs = self.means, self.means.costs
        with means.target.trial(self.plan(tuned), costs) as trial, costs.alone(means.deadline):
            profile, pace = meanwhile(costs.pace, lambda pace: in_place(trial, means.feeds, tuned.cost / pace))
            return [pace * seconds for seconds in profile.steps]

    def _tallied(self, tuned: Tuned) -> Tuned:
        """The same, entered in the means' account."""
        self.tuner.rest()
        self.means.rounds += tuned.rounds
        self.means.solver_seconds += tuned.solver_seconds
        self.means.largest = max(self.means.largest, self.tuner.largest)
        self.means.lost |= self.tuner.lost
        return tuned

    @property
    def _left(self) -> float:
        """Seconds."""
        return self.deadline - time.monotonic()


def place_links(graph: Graph, ledger: Ledger, means: Means) -> None:
    """Times in place what chains are made of, in the best plan without them: alone, on cold caches, kernels may take
    longer than in a program whose weights stay in the cache, and a chain would win only because of that."""
    links = ledger.where(is_link)
    left = means.deadline - time.monotonic()
    if means.target.timed and left >= LOOK and len(links.cones) < len(ledger.cones):
        Attempt(graph, links, means, time.monotonic() + EARLIER * left).place_roughly()


def is_link(cone: Cone) -> bool:
    """Whether a kernel is no chain."""
    return len(cone.linear) < 2
