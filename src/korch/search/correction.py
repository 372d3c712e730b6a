"""Error limits corrected by a verdict, and the time that other limits would save at the costs that a search knows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from korch.errors import SolverError
from korch.ir.cone import Cone
from korch.ir.graph import Graph
from korch.ir.primitive import Primitive
from korch.numerics.bounds import BOUNDS
from korch.numerics.verdict import Verdict
from korch.search.costed import Costed
from korch.search.error_limit import ErrorLimit, looser
from korch.search.ledger import Ledger
from korch.search.phases import expected
from korch.search.steering import LOOKAHEAD_SECONDS, MOST_ATTEMPTS, WORTH_ANOTHER
from korch.search.tuning import Tuned
from korch.solve.highs import Highs
from korch.solve.problem import Solution
from korch.solve.solve import solve
from korch.system.deadline import Deadline


@dataclass
class Corrections:
    """The corrections of one search. `estimated`: errors have been. `failed`: loose primitives of programs that erred
    more than estimated."""

    estimated: bool = False
    corrected: int = 0
    relaxed: bool = False
    failed: set[Primitive] = field(default_factory=set[Primitive])

    def tighter(self, graph: Graph, ledger: Ledger, cones: Collection[Cone], verdict: Verdict) -> Ledger | None:
        """`ledger` where the loose primitives of a program of `cones` err as much as it was found to. None where there
        are none, or corrections have not helped often enough."""
        limit = ledger.limit.corrected(graph, cones, verdict) if ledger.limit else None
        if limit is None or self.corrected == MOST_ATTEMPTS:
            return None
        self.corrected += 1
        self.failed |= {p for c in cones for p in c.primitives if p in limit.estimate.squares}
        return replace(ledger, limit=limit)

    def wider(
        self, graph: Graph, ledger: Ledger, tuned: Tuned, verdict: Verdict, highs: Highs, until: Deadline
    ) -> Ledger | None:
        """The same where a program errs much less than estimated, if that saves time; once."""
        cones = [ledger.cones[i] for i in tuned.chosen]
        limit = ledger.limit
        if self.relaxed or self.corrected or until.passed or not limit:
            return None
        if not limit.overestimates(graph, cones, verdict) or not (found := limit.corrected(graph, cones, verdict)):
            return None
        self.relaxed = True
        return replace(ledger, limit=found) if gain(graph, ledger, found, highs) >= WORTH_ANOTHER else None


def gain(graph: Graph, ledger: Ledger, limit: ErrorLimit, highs: Highs) -> float:
    """The share of a plan's time that `limit` saves instead of the ledger's, where both plans are the cheapest by
    expected costs: the plan at hand may be dearer for other reasons."""
    wide = _cheapest(graph, ledger, limit, highs)
    if not wide or not ledger.limit or ledger.limit.holds([ledger.cones[i] for i in wide.chosen]):
        return 0.0
    now = _cheapest(graph, ledger, ledger.limit, highs)
    return max(0.0, 1 - wide.cost / now.cost) if now and now.cost > 0 else 0.0


def _cheapest(graph: Graph, ledger: Ledger, limit: ErrorLimit, highs: Highs) -> Solution | None:
    problem = Costed(graph, replace(ledger, limit=limit)).problem(expected)
    try:
        return solve(problem, deadline=Deadline.after(LOOKAHEAD_SECONDS), highs=highs)
    except SolverError:
        return None


def next_preset(graph: Graph, ledger: Ledger, numerics: str, highs: Highs) -> tuple[str, float]:
    """The next looser numerics, and the share of a plan's time that they save among the choices of `graph`; nothing
    where no primitive is loose."""
    preset = looser(numerics)
    if not ledger.limit or not preset:
        return "", 0.0
    return preset, gain(graph, ledger, ledger.limit.at(BOUNDS[preset]), highs)
