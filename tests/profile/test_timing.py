"""Which samples of a kernel count: none below what is possible, and the undisturbed ones where there are enough."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from korch.ir import Builder, Cone
from korch.machine import Machine
from korch.profile import timing
from korch.profile.physics import Physics, Work
from korch.profile.results import Tally
from korch.profile.timing import TimedRuns, timed
from korch.system.samples import CROWDED


def sampler(seconds: list[float], lost: list[float]):
    """Samples that repeat."""

    def samples(calls: int, count: int) -> TimedRuns:
        return np.resize(np.array(seconds), count), np.resize(np.array(lost), count)

    return samples


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that goes on by a hundredth of a second each time it is read."""
    now = [0.0]
    monkeypatch.setattr(timing.time, "monotonic", lambda: now.__setitem__(0, now[0] + 0.01) or now[0])


def test_disturbed_samples_do_not_count():
    found = timed(sampler([1e-3, 9e-3, 1e-3, 1e-3, 7e-3], [0, 0.9, 0, 0, 0.5]), cold=True)
    assert found.seconds == 1e-3 and found.calm and found.tally.disturbed and found.spread < CROWDED


def test_of_a_machine_that_is_never_quiet_the_spread_says_so():
    found = timed(sampler([3e-3, 2e-3, 9e-3], [0.3, 0.2, 0.9]), cold=True)
    assert 2e-3 <= found.seconds <= 9e-3 and not found.calm and found.spread >= CROWDED
    assert found.tally.busy == 1.0


def test_samples_below_the_floor_are_rejected_and_counted():
    found = timed(sampler([1e-7, 1e-3, 1e-3, 1e-3, 1e-3], [0.0]), cold=True, floor=lambda _: 1e-4)
    assert found.seconds == 1e-3 and found.tally.rejected


def test_where_every_sample_is_rejected_there_is_no_time():
    found = timed(sampler([1e-7], [0.0]), floor=lambda _: 1e-4)
    assert found.seconds == inf and found.tally.rejected == found.tally.samples


def test_rounds_that_others_disturb_are_repeated():
    rounds = iter([0.9, 0.9, 0.9])

    def samples(calls: int, count: int) -> TimedRuns:
        return np.full(count, 1e-3), np.full(count, next(rounds, 0.0))

    found = timed(samples, cold=True)
    assert found.calm and found.tally.disturbed == 13 and found.seconds == 1e-3


def test_physics_knows_arithmetic_and_traffic():
    machine = Machine(2, 1e9, ((1 << 15, 8e9), (1 << 20, 4e9)), 1e-6)
    b = Builder()
    y = b.op("MatMul", b.input("x", "float32", (8, 16)), b.input("w", "float32", (16, 4)))
    work = Work.of(Cone.of(b.graph([("y", y)]).primitives))
    assert work == Work(2 * 8 * 16 * 4, 4 * (8 * 16 + 16 * 4 + 8 * 4))
    physics = Physics.of(machine)
    assert physics.seconds(work) == max(work.operations / 1e9, work.moved / 8e9)
    assert not physics.raised(peak=5e8) and physics.raised(peak=2e9) and physics.peak == 2e9
    assert Physics().seconds(work) == 0


def test_tallies_add_up():
    assert Tally(10, 2, 1) + Tally(10, 3, 0) == Tally(20, 5, 1) and Tally(20, 5, 1).busy == 0.25 and Tally().busy == 0
