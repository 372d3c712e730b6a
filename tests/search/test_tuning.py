"""The solve-measure loop on a small attention block, with real kernels and a database of its own."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf

import numpy as np
import pytest
from tests.by_hand import code

from korch.backends.contract import Kernel, Variant
from korch.backends.table import backends
from korch.candidates import enumerate_cones
from korch.errors import NoPlan
from korch.ir import Builder, Graph, Tensor
from korch.machine import Machine
from korch.options import Options
from korch.profile import Database, Failed, Measurement, Profiler
from korch.profile.physics import Physics
from korch.profile.results import Best, Result
from korch.rewrite import add_choices
from korch.rewrite.layouts import add_layouts
from korch.search import tuning
from korch.search.costed import Costed, problem_of
from korch.search.kinds import Kind
from korch.search.ledger import Ledger, open_ledger
from korch.search.memory import InPlace
from korch.search.offers import worthy
from korch.search.phases import EXPLORE, PHASES, PROVE, SKETCH, bounds, expected
from korch.search.planned import planned
from korch.search.remeasure import shares
from korch.search.steering import (
    BYTE_PRICE,
    CHANNELS_FIRST_PENALTY,
    MIN_FOR_BOUNDS,
    MIN_FOR_EXPECTATIONS,
    PRICE_PRECISION,
)
from korch.search.tuning import SearchState, Tuned, Tuner
from korch.solve.rows import all_rows, incidence
from korch.solve.solve import solve
from korch.system.deadline import NEVER, Deadline

ROOFLINE = Machine(1, 1e11, ((1 << 40, 1e11),), 1e-8)
RETRY = next(p for p in PHASES if p.name == "retry outliers")


class Stopped(Exception):
    """Stands for a kill between two batches of measurements."""


@pytest.fixture
def profiler(tmp_path) -> Iterator[Profiler]:
    with Profiler(1, Database(tmp_path)) as p:
        yield p


def attention() -> Graph:
    b = Builder()
    q, k, v = (b.input(n, "float32", (2, 32, 16)) for n in "qkv")
    scores = (q @ b.op("Transpose", k, perm=(0, 2, 1))) * 0.25
    e = b.op("Exp", scores - b.op("ReduceMax", scores, axes=(2,), keepdims=1))
    y = (e / b.op("ReduceSum", e, axes=(2,), keepdims=1)) @ v
    return b.graph([("y", y)])


def ledger_of(graph: Graph) -> Ledger:
    """Physics bar no cost: real kernels may be faster than this test's machine."""
    return open_ledger(enumerate_cones(graph), backends(), ROOFLINE, Physics())


def tuned(profiler: Profiler, deadline: Deadline = NEVER) -> tuple[Tuned, Tuner]:
    graph = attention()
    tuner = Tuner(graph, ledger_of(graph), profiler, lambda state: None, deadline)
    return tuner.run(PROVE), tuner


def test_a_proved_plan_is_measured_and_no_bound_is_cheaper(profiler: Profiler):
    plan, tuner = tuned(profiler)
    assert plan.gap == 0.0 and plan.bound == pytest.approx(plan.cost)
    chosen = [tuner.ledger.entry(i) for i in plan.chosen]
    assert all(e.best.measured for e in chosen)
    assert plan.cost == pytest.approx(sum(e.at(bounds) for e in chosen))
    unmeasured = [o for e in tuner.ledger.distinct for o in e.offers if not o.measured]
    assert unmeasured, "the loop is pointless if everything has to be measured"
    assert solve(tuner._costed.problem(bounds), deadline=Deadline.after(300)).cost == pytest.approx(plan.cost)


@pytest.mark.slow
def test_a_broken_search_ends_where_it_would_have_ended(profiler: Profiler, monkeypatch: pytest.MonkeyPatch):
    whole = profiler.measure_until
    calls = iter(range(100))

    def broken(deadline, kernels):
        if next(calls) == 2:
            raise Stopped
        return whole(deadline, kernels)

    kept, keep = list[str](), profiler._keep
    monkeypatch.setattr(profiler, "_keep", lambda key, *rest: (kept.append(key), keep(key, *rest))[1])
    monkeypatch.setattr(profiler, "measure_until", broken)
    with pytest.raises(Stopped):
        tuned(profiler)
    before = profiler.measured
    monkeypatch.setattr(profiler, "measure_until", whole)
    resumed, _ = tuned(profiler)
    assert before > 0 and len(kept) == len(set(kept)), "nothing is measured twice"
    repeated, _ = tuned(profiler)
    assert repeated.chosen == resumed.chosen and repeated.cost == resumed.cost


def test_where_there_is_no_plan_the_reason_is_told(profiler: Profiler, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(profiler, "measure_until", lambda _, kernels: [Failed("no luck")] * len(kernels))
    with pytest.raises(NoPlan, match=r"^no plan exists: tensor \w+ .*\(\w+: no luck\)$"):
        tuned(profiler)


@pytest.mark.slow
def test_what_nearly_is_in_the_plan_gets_a_second_look(profiler: Profiler, monkeypatch: pytest.MonkeyPatch):
    plan, tuner = tuned(profiler)
    own = {id(tuner.ledger.entry(i).best) for i in plan.chosen}
    for i in plan.chosen:
        tuner.ledger.entry(i).best.place(tuner.ledger.entry(i).best.seconds)
    before = {id(o): o.alone for e in tuner.ledger.entries for o in e.offers}
    monkeypatch.setattr(profiler, "measure_again", lambda _, kernels, rivals: [Measurement(1e-9) for _ in kernels])
    assert tuner.remeasure(plan)
    lowered = {id(o) for e in tuner.ledger.entries for o in e.offers if o.alone != before[id(o)]}
    assert lowered and lowered.isdisjoint(own)
    assert tuner.run(PROVE).cost < plan.cost


@pytest.mark.onednn
@pytest.mark.slow
def test_what_took_far_longer_than_its_kind_gets_a_second_look(profiler: Profiler, monkeypatch: pytest.MonkeyPatch):
    """A rival that was measured in a moment which the machine spent elsewhere."""
    plan, tuner = tuned(profiler)
    entry = next(e for e in map(tuner.ledger.entry, plan.chosen) if len(e.offers) > 1)
    rival = next(o for o in entry.offers if o is not entry.best)
    rival.roofline = 0.1 * entry.best.seconds
    rival.kind = Kind(alone=[5.0] * MIN_FOR_EXPECTATIONS)
    rival.alone, rival.variant = 20 * entry.best.seconds, rival.kernels(entry.cone, 1)[0].variant
    again: list[Kernel] = []
    monkeypatch.setattr(profiler, "measure_again", lambda _, kernels, rivals: [again.append(k) for k in kernels])
    tuner.remeasure(plan)
    assert any(k.cone == entry.cone and k.backend == rival.backend.name for k in again)


@pytest.mark.slow
def test_what_seems_dearer_than_its_parts_gets_a_second_look(profiler: Profiler, monkeypatch: pytest.MonkeyPatch):
    """No solution comes near such a kernel, however wrong its measurement."""
    plan, tuner = tuned(profiler)
    share = shares(tuner.ledger, plan.chosen)
    assert sum(share.values()) == pytest.approx(plan.cost)
    own = {id(tuner.ledger.entry(i)) for i in plan.chosen}
    spent = {
        i: sum(share.get(p, 0.0) for p in c.primitives)
        for i, c in enumerate(tuner.ledger.cones)
        if id(tuner.ledger.entry(i)) not in own
    }
    i = max(spent, key=lambda i: spent[i])
    entry, warm = tuner.ledger.entry(i), tuner._warm  # pyright: ignore[reportPrivateUsage]
    offer = entry.offers[0]
    offer.kind, offer.roofline = Kind(), 0.5 * spent[i]  # real kernels may be faster than this test's machine
    offer.settle(Best(offer.kernels(entry.cone, 1)[0].variant, 1.8 * spent[i]))
    assert warm
    monkeypatch.setattr(tuner, "_warm", replace(warm, near={}))
    again: list[Kernel] = []
    monkeypatch.setattr(profiler, "measure_again", lambda _, kernels, rivals: [again.append(k) for k in kernels])
    tuner.remeasure(plan)
    assert any(k.cone == entry.cone and k.backend == offer.backend.name for k in again)


@pytest.mark.slow
@pytest.mark.onednn
def test_rivals_for_one_cone_run_beside_the_kernel_of_the_plan(profiler: Profiler, monkeypatch: pytest.MonkeyPatch):
    plan, tuner = tuned(profiler)
    for i in plan.chosen:
        entry = tuner.ledger.entry(i)
        for o in [o for o in entry.offers if o is not entry.best]:
            o.settle(Best(o.kernels(entry.cone, 1)[0].variant, 1.1 * entry.best.seconds))
    pairs: list[tuple[Kernel, Kernel | None]] = []
    monkeypatch.setattr(
        profiler,
        "measure_again",
        lambda _, kernels, rivals: [pairs.append(pair) for pair in zip(kernels, rivals, strict=True)],
    )
    assert not tuner.remeasure(plan)
    rivals = [(k, rival) for k, rival in pairs if rival]
    assert rivals and all(k.cone == rival.cone and k.backend != rival.backend for k, rival in rivals)


def test_out_of_time_the_best_measured_plan_is_taken_with_its_gap(profiler: Profiler):
    plan, tuner = tuned(profiler, deadline=Deadline(0.0))
    assert all(tuner.ledger.entry(i).best.measured for i in plan.chosen)
    assert 0.0 <= plan.gap < 1.0 and plan.bound <= plan.cost


def test_measuring_ends_at_the_deadline_and_the_rest_stays_open(profiler: Profiler, monkeypatch: pytest.MonkeyPatch):
    """Until there is a plan, everything picked is measured; from then on only what there is time for."""
    asked: list[Deadline] = []
    graph = attention()
    tuner = Tuner(graph, ledger_of(graph), profiler, lambda state: None, deadline=Deadline.after(1e4))
    whole, clock = profiler.measure_until, time.monotonic

    def measured_until(deadline: Deadline, kernels):
        asked.append(deadline)
        if deadline != NEVER:
            monkeypatch.setattr(time, "monotonic", lambda: clock() + 2e4)
        return whole(deadline, kernels)

    monkeypatch.setattr(profiler, "measure_until", measured_until)
    before = tuner.deadline
    plan = tuner.run(EXPLORE)
    assert len(asked) > 1 and set(asked[:-1]) == {NEVER} and asked[-1] == before
    assert tuner.measured == profiler.measured == plan.measured
    assert all(tuner.ledger.entry(i).best.measured for i in plan.chosen) and plan.bound <= plan.cost


@pytest.mark.slow
def test_a_sketch_measures_what_is_expected_to_be_good(profiler: Profiler):
    """And says nothing of what is possible: that the bounds do."""
    graph = attention()
    sketcher, explorer = (Tuner(graph, ledger_of(graph), profiler, lambda state: None) for _ in range(2))
    for tuner in (sketcher, explorer):
        for offer in {id(o): o for e in tuner.ledger.entries if len(e.cone.primitives) > 1 for o in e.offers}.values():
            offer.kind.prior = 50.0
    sketch, plan = sketcher.run(SKETCH), explorer.run(EXPLORE)
    assert all(sketcher.ledger.entry(i).best.measured for i in sketch.chosen)
    assert sketch.bound == 0.0 < plan.bound <= plan.cost and sketch.measured < plan.measured
    assert sketcher.run(EXPLORE).bound > 0


@pytest.mark.onednn
def test_a_plan_holds_measured_kernels_where_others_may_be_cheaper(profiler: Profiler):
    """What is not expected to win need not be measured, although its bound is below what is."""
    graph = attention()
    tuner = Tuner(graph, ledger_of(graph), profiler, lambda state: None)
    entry = next(e for e in tuner.ledger.distinct if len(e.offers) > 1)
    first, second = entry.offers[:2]
    assert entry.best is min(entry.offers, key=lambda o: (bounds(o), o.backend.name)) and not entry.best.measured
    second.settle(Best(second.kernels(entry.cone, 1)[0].variant, 100 * first.extrapolated))
    assert entry.best is second and first in entry.open(bounds)
    assert entry.at(bounds) == first.extrapolated < entry.best.seconds
    first.settle(Best(Variant(), inf))
    assert entry.best is second and not entry.open(bounds)
    for offer in {id(o): o for e in tuner.ledger.entries for o in e.offers}.values():
        offer.kind.prior = 50.0 if offer.backend is first.backend else 1.0
    plan = planned(graph, tuner.ledger, tuner.run(SKETCH), Options(threads=1))
    assert all(step.cost < inf for step in plan.steps)


def two_ways() -> tuple[Graph, dict[str, Tensor]]:
    """A sum with a row, or with a whole matrix."""
    b = Builder()
    x = b.input("x", "float32", (512, 512))
    small, large = (b.constant(np.ones((n, 512), np.float32)) for n in (1, 512))
    graph = b.graph([("y", x + small), ("z", x + large)])
    first, second = graph.primitives
    primitives = (first, replace(second, output=first.output))
    graph = replace(graph, outputs=graph.outputs[:1], output_names=("y",), primitives=primitives)
    return graph, {"small": first.inputs[1], "large": second.inputs[1]}


def takes(profiler: Profiler, patch: pytest.MonkeyPatch, seconds: dict[Tensor, float]) -> None:
    """Has a kernel measured at the seconds of that one of its leaves."""
    patch.setattr(
        profiler,
        "measure_until",
        lambda _, kernels: [Measurement(next(s for t, s in seconds.items() if t in k.cone.leaves)) for k in kernels],
    )


def choosing(
    profiler: Profiler, patch: pytest.MonkeyPatch, small: float, large: float
) -> tuple[Tuner, dict[str, Tensor]]:
    """Who chooses between two ways that take so many seconds, and these."""
    graph, ways = two_ways()
    takes(profiler, patch, {ways["small"]: small, ways["large"]: large})
    return Tuner(graph, ledger_of(graph), profiler, lambda state: None), ways


def way(tuner: Tuner, plan: Tuned, ways: dict[str, Tensor]) -> str:
    (i,) = plan.chosen
    return next(name for name, t in ways.items() if t in tuner.ledger.cones[i].leaves)


@pytest.mark.parametrize(("less", "wins"), [(0.5, "small"), (2.0, "large")])
def test_memory_is_worth_some_time(less: float, wins: str, profiler: Profiler, monkeypatch: pytest.MonkeyPatch):
    """The matrix is to save more than the time of its bytes."""
    graph, ways = two_ways()
    price = BYTE_PRICE * ways["large"].nbytes / ROOFLINE.bandwidths[-1][1]
    takes(profiler, monkeypatch, {ways["small"]: 1e-3, ways["large"]: 1e-3 - less * price})
    tuner = Tuner(graph, ledger_of(graph), profiler, lambda state: None)
    plan = tuner.run(PROVE)
    assert way(tuner, plan, ways) == wins
    assert plan.cost == pytest.approx(sum(e.at(bounds) + e.price for e in map(tuner.ledger.entry, plan.chosen)))


def test_memory_becomes_dearer_where_a_plan_holds_too_much(profiler: Profiler, monkeypatch: pytest.MonkeyPatch):
    graph, ways = two_ways()
    price = BYTE_PRICE * ways["large"].nbytes / ROOFLINE.bandwidths[-1][1]
    takes(profiler, monkeypatch, {ways["small"]: 1e-3, ways["large"]: 1e-3 - 3 * price})
    monkeypatch.setattr(tuning, "ANYWAY", ways["large"].nbytes - 1)
    monkeypatch.setattr(tuning, "HOLDS", 0.0)
    for tries, wins in (1, "large"), (8, "small"):
        tuner = Tuner(graph, ledger_of(graph), profiler, lambda state: None)
        tuner.ledger.pricing.tries = tries
        assert way(tuner, tuner.run(PROVE), ways) == wins
    assert 3 < tuner.ledger.pricing.factor < 3 * PRICE_PRECISION


@pytest.mark.parametrize(("in_place", "wins"), [(0.9e-3, "large"), (1.05e-3, "small")])
def test_what_may_be_better_in_a_program_is_tried_there(
    in_place: float, wins: str, profiler: Profiler, monkeypatch: pytest.MonkeyPatch
):
    tuner, ways = choosing(profiler, monkeypatch, 1e-3, 1.05e-3)
    plan = tuner.run(EXPLORE)
    assert way(tuner, plan, ways) == "small"
    tuner.place(plan, [InPlace(1e-3)])
    hoped = tuner.run(RETRY)
    assert way(tuner, hoped, ways) == "large"
    tuner.place(hoped, [InPlace(in_place)])
    assert way(tuner, tuner.run(RETRY), ways) == way(tuner, tuner.run(PROVE), ways) == wins


@pytest.mark.onednn
def test_channels_first_convolutions_are_expected_to_be_slow():
    b = Builder()
    x, w = b.input("x", "float32", (1, 16, 9, 9)), b.constant(np.ones((32, 16, 3, 3), np.float32))
    y = b.op("Conv", x, w, strides=(1, 1), dilations=(1, 1), pads=(1,) * 4, group=1, channels_last=0)
    ledger = ledger_of(add_layouts(b.graph([("y", y)])))
    first = {e.cone.signature for e in ledger.entries if any(not p.attr("channels_last") for p in e.cone.linear)}
    raised = {e.cone.signature for e in ledger.entries if e.at(expected) >= CHANNELS_FIRST_PENALTY * e.at(bounds) > 0}
    assert raised == first and 0 < len(first) < len(ledger.distinct)


@pytest.mark.onednn
def test_channels_first_convolutions_to_few_channels_are_not():
    b = Builder()
    x, w = b.input("x", "float32", (1, 16, 9, 40)), b.constant(np.ones((2, 16, 3, 3), np.float32))
    y = b.op("Conv", x, w, strides=(1, 1), dilations=(1, 1), pads=(1,) * 4, group=1, channels_last=0)
    (entry,) = ledger_of(b.graph([("y", y)])).distinct
    assert {o.backend.name: o.kind.prior for o in entry.offers} == {"loops": 1.0, "onednn": CHANNELS_FIRST_PENALTY}


def test_what_nobody_has_timed_is_expected_to_compute_and_to_move_in_turn():
    b = Builder()
    x, w = b.input("x", "float32", (64, 512)), b.constant(np.ones((512, 256), np.float32))
    (entry,) = ledger_of(b.graph([("y", x @ w)])).distinct
    moving = ROOFLINE.moving(4 * (64 * 512 + 512 * 256 + 64 * 256))
    offer = next(o for o in entry.offers if o.backend.name == "loops")
    assert bounds(offer) == offer.roofline > 2 * moving
    for _ in range(MIN_FOR_EXPECTATIONS):
        assert expected(offer) == offer.roofline + moving
        offer.kind.learn(1.5 * offer.roofline, offer.roofline)
    assert expected(offer) == 1.5 * offer.roofline


def test_what_a_kind_usually_takes_is_what_its_better_kernels_take():
    kind = Kind(prior=7.0)
    for seconds in (9.0, 2.0, 4.0, 8.0, 3.0):
        assert kind.usual == 7.0 or len(kind.alone) >= MIN_FOR_EXPECTATIONS
        kind.learn(seconds, 1.0)
    assert kind.usual == 3.0


def test_what_proves_faster_on_a_second_look_counts_for_its_kind():
    kind = Kind(alike=Kind())
    for seconds in (2.0, 2.1, 2.2, 2.3, 2.4, 2.5):
        kind.learn(seconds, 1.0)
    before = kind.factor
    kind.learn(1.5, 1.0, instead=2.3)
    assert len(kind.alone) == 6 and kind.factor == pytest.approx(before * 1.5 / 2.0)
    assert kind.alike and kind.alike.alone == kind.alone


def test_who_beats_the_roofline_lowers_it_for_the_others():
    kind = Kind()
    kind.learn(0.8, 1.0)
    assert kind.factor < 0.8


@pytest.mark.slow
def test_a_kernel_that_fails_for_want_of_memory_is_no_proof(profiler: Profiler, monkeypatch: pytest.MonkeyPatch):
    whole, first = profiler.measure_until, [True]

    def failing(deadline: Deadline, kernels: Sequence[Kernel]) -> list[Result | None]:
        results = whole(deadline, kernels)
        if first:
            first.pop()
            results[0] = Failed("killed", lasting=False)
        return results

    assert not tuned(profiler)[1].lost
    monkeypatch.setattr(profiler, "measure_until", failing)
    assert tuned(profiler)[1].lost


def test_a_kind_that_nobody_knows_is_like_those_with_as_many_linear_primitives():
    alike = Kind()
    known, unknown, slower = Kind(alike=alike), Kind(alike=alike), Kind(9.0, alike)
    for seconds in (2.0, 3.0, 4.0, 8.0):
        known.learn(seconds, 1.0)
    assert known.usual == unknown.usual == 3.0 and slower.usual == 9.0
    unknown.learn(20.0, 1.0)
    assert unknown.usual == 3.0  # one is too few


@pytest.mark.parametrize(("alone", "wins"), [(0.95e-3, "small"), (0.8e-3, "large")])
def test_in_the_end_what_was_timed_alone_must_be_far_better(
    alone: float, wins: str, profiler: Profiler, monkeypatch: pytest.MonkeyPatch
):
    """Else the luckiest of all that nobody has seen in a program would win."""
    tuner, ways = choosing(profiler, monkeypatch, 1e-3, 1.1e-3)
    seen = tuner.run(PROVE)
    tuner.place(seen, [InPlace(1e-3)])
    assert tuner.certain(seen) == seen and way(tuner, seen, ways) == "small"
    (offer,) = [e.best for e in tuner.ledger.distinct if ways["large"] in e.cone.leaves and e.best.measured]
    offer.remeasured(alone)
    assert alone / offer.roofline in offer.kind.alone
    lucky = tuner.run(PROVE)
    assert way(tuner, lucky, ways) == "large" and way(tuner, tuner.certain(lucky), ways) == wins


def test_what_a_proved_plan_takes_in_its_program_is_learnt(profiler: Profiler, monkeypatch: pytest.MonkeyPatch):
    """More than alone, once; later only less, which comes off what any plan might cost."""
    tuner, ways = choosing(profiler, monkeypatch, 1e-3, 1.1e-3)
    plan = tuner.run(PROVE)
    known = replace(plan, bound=0.9 * plan.cost, gap=0.1)
    slower, moved = tuner.learn(known, [InPlace(1.05e-3)])
    assert moved == pytest.approx(0.05e-3 / plan.cost)
    assert tuner.placed(slower) and slower.cost - plan.cost == pytest.approx(0.05e-3) and slower.bound == known.bound
    faster, _ = tuner.learn(slower, [InPlace(0.95e-3)])
    assert faster.cost - plan.cost == pytest.approx(-0.05e-3)
    assert faster.bound < slower.bound and faster.gap == pytest.approx(slower.gap, rel=1e-4)
    assert tuner.learn(faster, [InPlace(2e-3)]) == (faster, 0.0)
    tuner, ways = choosing(profiler, monkeypatch, 1e-3, 1.1e-3)
    tuner.memory = replace(tuner.memory, context="another model")
    tuner.learn(tuner.run(PROVE), [InPlace(1.2e-3)])
    assert way(tuner, tuner.run(PROVE), ways) == "large"


def test_what_a_proved_plan_takes_says_nothing_of_others(profiler: Profiler, monkeypatch: pytest.MonkeyPatch):
    """Its bound stands on what they cost."""
    tuner, _ = choosing(profiler, monkeypatch, 1e-3, 1.1e-3)
    plan = tuner.run(PROVE)
    own = {id(tuner.ledger.entry(i)) for i in plan.chosen}
    others = [e for e in tuner.ledger.distinct if id(e) not in own and e.best.measured]
    for o in (o for e in tuner.ledger.distinct for o in e.offers):
        o.kind.placed, o.kind.slowdown = [1.0, 1.25], 1.25
    costs = [e.at(bounds) for e in others]
    tuner.learn(plan, [InPlace(1e-3)] * len(plan.chosen))
    assert others and [e.at(bounds) for e in others] == costs


def test_a_bound_falls_by_the_share_of_one_kernel_or_by_what_came_off_all():
    graph = attention()
    costed = Costed(graph, ledger_of(graph))
    now = costed.costs(bounds)
    before = [2 * now[0], 1.25 * now[1], now[2] / 2, *now[3:]]
    off = now[0] + 0.25 * now[1]
    assert costed.lowered(1.5 * off, before, bounds) == pytest.approx(0.75 * off)  # half: the share of the first
    assert costed.lowered(4 * off, before, bounds) == pytest.approx(3 * off)
    assert costed.lowered(1.0, now, bounds) == 1.0


def test_states_tell_what_is_done(profiler: Profiler):
    graph, seen = attention(), list[SearchState]()
    Tuner(graph, ledger_of(graph), profiler, seen.append).run(EXPLORE)
    assert {s.phase for s in seen} == {"solving", "measuring"}
    assert seen[-1].done == seen[-1].total > 0 and seen[-1].bound > 0


def test_equal_cones_share_an_entry():
    b = Builder()
    x, y = b.input("x", "float32", (4, 8)), b.input("y", "float32", (8, 4))
    graph = b.graph([("a", b.op("Exp", x)), ("b", b.op("Exp", y))])
    assert len(ledger_of(graph).distinct) == 1  # only the number of elements matters


def test_efficiency_calibrates_bounds_only_after_enough_measurements():
    kind = Kind()
    for i in range(MIN_FOR_BOUNDS):
        assert kind.factor == 1.0
        kind.learn((2.0 + i) * 1e-6, 1e-6)
    assert 1.5 < kind.factor <= 2.0
    kind.learn(inf, 1e-6)
    assert len(kind.alone) == MIN_FOR_BOUNDS


def test_the_best_variant_counts_and_failures_cost_infinitely_much():
    graph = attention()
    kernels = next(k for e in ledger_of(graph).distinct for o in e.offers for k in [o.backend.build(e.cone, 1)])
    assert worthy(kernels[:1], [Failed("wrong")]) == ()
    assert [b.seconds for b in worthy(kernels[:1], [Measurement(2e-6)])] == [2e-6]


def test_nobody_has_to_make_the_layout_twin_of_an_input():
    """A row that asks for a maker of the input would exclude every plan that reads its other layout."""
    b = Builder()
    x = b.input("x", "float32", (1, 16, 12, 12))
    w = b.constant(np.ones((16, 16, 3, 3), np.float32))
    y = b.op("Conv", x, w, strides=(1, 1), pads=(1, 1, 1, 1), dilations=(1, 1), group=1, channels_last=0)
    graph = add_choices(b.graph([("y", b.op("Relu", y))]))
    ledger = ledger_of(graph)
    problem = problem_of(graph, ledger)
    priced = replace(
        problem,
        candidates=tuple(
            replace(c, cost=e.at(bounds)) for c, e in zip(problem.candidates, ledger.entries, strict=True)
        ),
    )
    plan = set(solve(priced, deadline=Deadline.after(300)).chosen)
    assert any(c.reads == ("x_nhwc",) for c in priced.candidates)
    for row in all_rows(priced, incidence(priced)):
        held = sum(v for k, v in row.terms if priced.candidates[k].id in plan)
        assert row.lower <= held <= row.upper, row.name


def test_what_kernels_lose_in_place_is_expected_of_their_kind():
    """Else each plan would be left for kernels that nobody has seen in place."""
    graph = attention()
    offers = [o for e in ledger_of(graph).distinct for o in e.offers][: MIN_FOR_EXPECTATIONS + 1]
    kind = Kind()
    for offer in offers:
        offer.kind = kind
        offer.settle(Best(Variant(), 1e-6))
    for offer in offers[:MIN_FOR_EXPECTATIONS]:
        assert offers[-1].seconds == 1e-6
        offer.place(1.2e-6)
    assert offers[-1].seconds == pytest.approx(1.2e-6) and offers[0].seconds == 1.2e-6


def test_a_primitive_that_its_backends_fail_to_compute_falls_back(profiler: Profiler, monkeypatch: pytest.MonkeyPatch):
    """Whatever goes wrong with all kernels of one primitive, something runs it."""
    b = Builder()
    graph = b.graph([("y", b.op("Exp", b.input("x", "float32", (64, 64))))])
    loops = next(x for x in backends() if x.name == "loops")
    build = type(loops).build

    def broken(self, cone, threads):
        return tuple(replace(k, body=code("this is no C")) for k in build(self, cone, threads))

    monkeypatch.setattr(type(loops), "build", broken)
    ledger = ledger_of(graph)
    assert [o.backend.name for o in ledger.entries[0].offers] == ["loops"]
    plan = Tuner(graph, ledger, profiler, lambda state: None).run(PROVE)
    assert [ledger.entry(i).best.backend.name for i in plan.chosen] == ["onnxruntime"]


@pytest.mark.parametrize(("again", "wins"), [(0.99e-3, "small"), (1.9e-3, "large")])
def test_a_slow_moment_in_a_program_is_doubted_once(
    again: float, wins: str, profiler: Profiler, monkeypatch: pytest.MonkeyPatch
):
    tuner, ways = choosing(profiler, monkeypatch, 1e-3, 1.05e-3)
    slow = tuner.run(SKETCH)
    assert way(tuner, slow, ways) == "small"
    tuner.place(slow, [InPlace(2e-3)])
    other = tuner.run(SKETCH)
    assert way(tuner, other, ways) == "large"
    tuner.place(other, [InPlace(1.05e-3)])
    tuner.retry_outliers(other)
    excused = tuner.run(SKETCH)
    assert way(tuner, excused, ways) == "small" and not tuner.placed(excused)
    assert way(tuner, tuner.certain(excused), ways) == "large"  # of what nobody saw again, the first time counts
    tuner.place(excused, [InPlace(again)])
    last = tuner.run(SKETCH)
    assert way(tuner, last, ways) == wins and last.cost == pytest.approx(min(again, 1.05e-3), rel=0.01)
    tuner.retry_outliers(last)
    assert way(tuner, tuner.run(SKETCH), ways) == wins
