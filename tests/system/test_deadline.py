"""Deadlines: how much time is left, and parts of it, by a clock that the test moves."""

from __future__ import annotations

from math import inf

import pytest

from korch.system.deadline import Deadline


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("time.monotonic", clock)
    return clock


def test_time_runs_out(clock: Clock) -> None:
    deadline = Deadline.after(10)
    assert (deadline.left, deadline.passed) == (10, False)
    clock.now += 4
    assert (deadline.left, deadline.passed) == (6, False)
    clock.now += 6
    assert (deadline.left, deadline.passed) == (0, True)
    clock.now += 1
    assert (deadline.left, deadline.passed) == (0, True)


def test_no_deadline_never_passes(clock: Clock) -> None:
    never = Deadline.never()
    clock.now = 1e12
    assert (never.left, never.passed) == (inf, False)
    assert never.share(0.0) == never.share(0.5) == never
    assert never.within(3) == Deadline.after(3)


def test_nothing_is_left_of_no_time(clock: Clock) -> None:
    assert Deadline.after(0).passed and Deadline.after(-5).left == 0
    assert Deadline.after(-5).share(0.5) == Deadline.after(0)


def test_within_and_earlier_never_add_time(clock: Clock) -> None:
    near, far = Deadline.after(1), Deadline.after(9)
    assert far.within(5) == Deadline.after(5) and near.within(5) == near
    assert near.earlier(far) == far.earlier(near) == near == min(near, far)


def test_a_share_is_of_what_is_left_now(clock: Clock) -> None:
    deadline = Deadline.after(10)
    clock.now += 2
    assert deadline.share(0.25).at == pytest.approx(104)
    assert deadline.share(1.0).at == pytest.approx(deadline.at)


def test_the_wall_clock_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    deadline = Deadline.after(1000)
    monkeypatch.setattr("time.time", lambda: 0.0)  # set back by decades
    assert 900 < deadline.left <= 1000 and not deadline.passed
