"""Estimates, and the costs that phases solve with."""

from __future__ import annotations

from math import inf

import pytest

from korch.backends.contract import Variant
from korch.backends.cpu.loops.backend import BACKEND as LOOPS
from korch.profile.physics import Physics, Work
from korch.profile.results import Best
from korch.search.estimate import Estimate, Evidence
from korch.search.kinds import Kind
from korch.search.offers import LedgerEntry, Offer
from korch.search.phases import (
    PHASES,
    PROVE,
    SKETCH,
    bounds,
    expected,
    measured,
    optimistic,
    pessimistic,
    physical,
)
from korch.search.steering import SPREAD


def offer(**fields: object) -> Offer:
    """Its roofline is 2 us, and physics allow 1 us."""
    return Offer(LOOPS, 2e-6, Kind(), work=Work(1e3, 0.0), physics=Physics(1e9, 1e9), **fields)  # pyright: ignore


def test_without_a_measurement_physics_are_below_the_extrapolated_bound_and_that_below_the_expectation():
    o = offer(beside=1e-6)
    assert o.estimate == Estimate(1e-6, 3e-6, SPREAD, Evidence.NONE)
    assert physical(o) == 1e-6 < bounds(o) == 2e-6 < expected(o) == 3e-6
    assert measured(o) == pessimistic(o) == inf


def test_a_time_alone_may_be_less_or_more_in_a_program_and_a_time_in_a_program_is_it():
    o = offer()
    o.settle(Best(Variant(), 5e-6, 0.0, 0.01))
    assert o.estimate.evidence is Evidence.ALONE
    assert physical(o) == bounds(o) == expected(o) == measured(o) == 5e-6
    assert optimistic(o) == pytest.approx((1 - SPREAD) * 5e-6) and pessimistic(o) == pytest.approx((1 + SPREAD) * 5e-6)
    o.place(6e-6)
    assert o.estimate == Estimate(1e-6, 6e-6, 0.0, Evidence.IN_PROGRAM)
    assert {f(o) for f in (physical, bounds, expected, measured, optimistic, pessimistic)} == {6e-6}


def test_a_noisy_time_has_its_own_spread_and_no_expectation_lies_below_physics():
    o = offer()
    o.settle(Best(Variant(), 1.1e-6, 0.0, 0.5))
    assert optimistic(o) == 1e-6 and pessimistic(o) == pytest.approx(1.5 * 1.1e-6)
    assert Estimate(1e-6, inf, 0.5, Evidence.ALONE).optimistic == inf


def test_an_outlying_time_counts_as_pessimism_until_the_kernel_is_timed_again():
    o = offer()
    o.settle(Best(Variant(), 2e-6))
    o.place(9e-6, telling=False)
    assert o.is_outlier(1e-6)
    o.retry()
    assert expected(o) == 2e-6 and pessimistic(o) == 9e-6 and not o.is_outlier(1e-6)
    o.place(10e-6)
    assert expected(o) == 9e-6


def test_what_may_be_an_alias_has_no_physical_bound():
    assert Offer(LOOPS, 0.0, Kind(), work=Work(0.0, 1e6), physics=Physics(1e9, 1e9)).lower == 0.0


def test_better_rates_lower_all_physical_bounds():
    o = offer()
    o.physics.raised(peak=4e9)
    assert o.lower == 2.5e-7


def test_only_what_might_be_cheaper_than_the_measured_is_open():
    near, far = offer(beside=1e-6), offer(beside=9e-6)
    entry = LedgerEntry(None, [near, far])  # pyright: ignore[reportArgumentType]
    assert entry.open(bounds) == [near, far] and entry.at(bounds) == 2e-6 and entry.seconds == inf
    known = offer()
    known.settle(Best(Variant(), 4e-6))
    entry = LedgerEntry(None, [known, near, far])  # pyright: ignore[reportArgumentType]
    assert entry.open(bounds) == [near, far] and entry.open(expected) == [near] and entry.best is known


def test_the_table_begins_with_a_sketch_and_ends_with_the_only_proof():
    assert PHASES[0] is SKETCH and not SKETCH.needs and PHASES[-1] is PROVE
    assert [p for p in PHASES if not p.gap] == [PROVE] and PROVE.solve_with is bounds and not PROVE.settle
    assert len({p.name for p in PHASES}) == len(PHASES)
