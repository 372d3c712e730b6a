"""Error limits as budgets of the program, corrected by what programs were found to err."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from tests.numerics.loose_runs import convolutions

from korch.backends.cpu.loops.backend import Loops
from korch.candidates import enumerate_cones
from korch.executable.feeds import random_feeds
from korch.executable.plan_json import plan_from_json, plan_to_json
from korch.ir import Cone, Graph, Primitive
from korch.machine import Machine
from korch.numerics.estimate import ErrorEstimate, estimated
from korch.numerics.loose import loose_primitives
from korch.numerics.verdict import Verdict
from korch.options import Options
from korch.profile.results import Measurement
from korch.search.correction import Corrections, gain, next_preset
from korch.search.costed import Costed
from korch.search.error_limit import ErrorLimit, estimated_error, looser
from korch.search.ledger import Ledger, open_ledger
from korch.search.model import Search, Tried
from korch.search.phases import expected
from korch.search.planned import planned
from korch.search.steering import MOST_ATTEMPTS
from korch.search.tuning import Tuned
from korch.solve.highs import Highs
from korch.solve.solve import solve
from korch.system.deadline import NEVER, Deadline

MACHINE = Machine(2, 1e11, ((1 << 40, 1e11),), 1e-8)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return convolutions()


@pytest.fixture(scope="module")
def estimate(graph: Graph) -> ErrorEstimate:
    found = estimated(graph, random_feeds(graph), NEVER)
    assert found
    return found


@pytest.fixture
def ledger(graph: Graph, estimate: ErrorEstimate) -> Ledger:
    """Winograd's algorithm pays on this machine; its error may be no more than that of all layers by F(2, 3)."""
    allowed = 1.01 * estimate.errors(by_tile(graph, 2))[0]
    opened = open_ledger(enumerate_cones(graph), (Loops(),), MACHINE)
    return replace(opened, limit=ErrorLimit(estimate, allowed))


def by_tile(graph: Graph, tile: int) -> list[Primitive]:
    return [p for p in loose_primitives(graph) if p.attr("tile") == tile]


def cheapest(graph: Graph, ledger: Ledger) -> Tuned:
    """The plan at expected costs."""
    found = solve(Costed(graph, ledger).problem(expected), deadline=Deadline.after(300))
    return Tuned(found.chosen, found.cost, found.bound, found.gap, 1, 0, 0.0)


def cones_of(ledger: Ledger, tuned: Tuned) -> list[Cone]:
    return [ledger.cones[i] for i in tuned.chosen]


def limit_of(ledger: Ledger) -> ErrorLimit:
    assert ledger.limit
    return ledger.limit


def tiles(cones: Sequence[Cone]) -> list[int]:
    return sorted(p.attr("tile") for c in cones for p in c.primitives if p.op == "WinogradOutput")


def test_budgets_are_shares_of_the_variance_allowed(graph: Graph, estimate: ErrorEstimate):
    limit = ErrorLimit(estimate, 1e-6)
    p = by_tile(graph, 4)[0]
    (budget,) = limit.budgets({p: 7})
    assert budget.output == graph.outputs[0].name
    assert budget.shares == {7: pytest.approx(estimate.squares[p][0] / 1e-12)}


def test_a_plan_keeps_to_the_limit_and_a_looser_one_is_cheaper(graph: Graph, ledger: Ledger):
    tight = cheapest(graph, ledger)
    limit = limit_of(ledger)
    loose = cheapest(graph, replace(ledger, limit=limit.at(1e-3)))
    assert loose.cost < tight.cost and limit.holds(cones_of(ledger, tight))
    assert not limit.holds(cones_of(ledger, loose)) and tiles(cones_of(ledger, loose)) == [4, 4, 4]


def test_an_underestimated_error_is_corrected_and_the_plan_changes(graph: Graph, ledger: Ledger):
    """By the verdict F(4, 3) errs three times as much as may be: it goes somewhere, and then nothing is left to go."""
    wide, corrections = replace(ledger, limit=limit_of(ledger).at(1e-5)), Corrections()
    verdict = Verdict("y", 3e-5, 1e-5)
    first = cheapest(graph, wide)
    cones = cones_of(wide, first)
    assert tiles(cones) == [4, 4, 4]
    again = corrections.tighter(graph, wide, cones, verdict)
    assert again and limit_of(again).errors(cones) == pytest.approx((3e-5,))
    second = cones_of(again, cheapest(graph, again))
    assert limit_of(again).holds(second) and tiles(second) != [4, 4, 4]
    assert set(by_tile(graph, 4)) & {p for c in cones for p in c.primitives} == corrections.failed
    for _ in range(1, MOST_ATTEMPTS):
        assert corrections.tighter(graph, again, cones, verdict)
    assert corrections.tighter(graph, again, cones, verdict) is None


class Analytic(Search):
    """A search whose programs cost what is expected of them, and err five times as much as `first` estimates."""

    first: ErrorLimit

    def attempt(self, graph: Graph, ledger: Ledger, *_: object, **__: object) -> tuple[Any, Tried]:
        tuned = cheapest(graph, ledger)
        verdict = Verdict("y", 5 * self.first.errors(cones_of(ledger, tuned))[0], self.first.allowed)
        plan: Any = SimpleNamespace(graph=graph, steps=())
        return SimpleNamespace(close=lambda: None), Tried(tuned, verdict, plan)


def test_the_search_corrects_its_estimate_until_a_program_passes(graph: Graph, ledger: Ledger):
    target: Any = SimpleNamespace(options=Options(threads=1))
    nothing: Any = SimpleNamespace(highs=None)
    search = Analytic(graph, target, nothing, nothing, Deadline.after(300), nothing)
    search.first = limit_of(ledger).at(1e-6)
    _, now, corrected = search.accurate(replace(ledger, limit=search.first), nothing)
    assert now.verdict.passed and 1 <= search.corrections.corrected < MOST_ATTEMPTS
    cones = cones_of(corrected, now.tuned)
    assert limit_of(corrected).errors(cones) == pytest.approx((now.verdict.error,)), "the estimate is right by then"
    assert corrected.cones == ledger.cones, "no choice had to be dropped"


def test_a_program_without_loose_primitives_is_not_corrected(graph: Graph, ledger: Ledger):
    plain = [Cone.of([p]) for p in graph.plain().primitives]
    assert Corrections().tighter(graph, ledger, plain, Verdict("y", 1.0, 1e-5)) is None
    assert Corrections().tighter(graph, replace(ledger, limit=None), plain, Verdict("y", 1.0, 1e-5)) is None


def test_an_overestimated_error_is_corrected_where_that_saves_time(graph: Graph, ledger: Ledger):
    tuned, limit = cheapest(graph, ledger), limit_of(ledger)
    with Highs() as highs:
        far = Verdict("y", 0.01 * limit.allowed, limit.allowed)
        near = Verdict("y", 0.9 * limit.allowed, limit.allowed)
        assert Corrections().wider(graph, ledger, tuned, near, highs, NEVER) is None
        corrections = Corrections()
        wide = corrections.wider(graph, ledger, tuned, far, highs, NEVER)
        assert wide and cheapest(graph, wide).cost < tuned.cost
        assert corrections.wider(graph, ledger, tuned, far, highs, NEVER) is None, "once"


def test_the_gain_of_the_next_preset(graph: Graph, ledger: Ledger):
    limit = limit_of(ledger)
    with Highs() as highs:
        wide, now = (cheapest(graph, replace(ledger, limit=x)).cost for x in (limit.at(1e-4), limit))
        assert gain(graph, ledger, limit.at(1e-4), highs) == pytest.approx(1 - wide / now, abs=1e-6)
        assert next_preset(graph, ledger, "1e-7", highs) == ("default", pytest.approx(1 - wide / now, abs=1e-6))
        assert gain(graph, replace(ledger, limit=limit.at(1e-4)), limit.at(1e-3), highs) == 0.0
        assert next_preset(graph, replace(ledger, limit=None), "default", highs) == ("", 0.0)


@pytest.mark.parametrize(
    ("numerics", "next_"),
    [("strict", "default"), ("1e-6", "default"), ("default", "fast"), ("fast", "relaxed"), ("relaxed", None)],
)
def test_the_next_looser_numerics(numerics: str, next_: str | None):
    assert looser(numerics) == next_


def test_steps_of_a_plan_know_their_error(graph: Graph, ledger: Ledger):
    tuned = cheapest(graph, ledger)
    for i in tuned.chosen:
        entry = ledger.entry(i)
        offer = entry.offers[0]
        offer.learn(built := offer.kernels(entry.cone, 1), [Measurement(1e-6, 0.0, 1e-7)] * len(built), 1)
    plan = planned(graph, ledger, tuned, Options(threads=1))
    (whole,) = limit_of(ledger).errors(cones_of(ledger, tuned))
    assert estimated_error(plan) == pytest.approx(whole)
    assert [s.error > 0 for s in plan.steps] == [bool(tiles([s.kernel.cone])) for s in plan.steps]
    back = plan_from_json(plan_to_json(plan), {t.name: graph.constants[t.name] for t in plan.constants})
    assert [s.error for s in back.steps] == [s.error for s in plan.steps]
