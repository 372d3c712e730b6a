"""What a kernel takes on a machine that nobody shares, told by multiply-adds around it."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from types import SimpleNamespace

import pytest

from korch.profile import Database, Profiler
from korch.profile.pace import SHARE, Pace, meanwhile
from korch.profile.task import Now

BEST = 300e9


def _pace(*rates: float) -> Pace:
    """On a machine whose multiply-adds have one rate after another, at first the best."""
    told = iter((BEST, *rates))

    def korch_peak(steps: object, windows: int) -> float:
        return next(told)

    return Pace(SimpleNamespace(korch_peak=korch_peak))  # pyright: ignore[reportArgumentType]


def test_what_a_quiet_machine_takes_counts():
    assert meanwhile(_pace(BEST, BEST).now, lambda pace: pace * 2e-3) == (2e-3, 1.0)


def test_a_busy_machine_is_made_up_for():
    part = pytest.approx(0.5**SHARE)
    assert meanwhile(_pace(BEST / 2, BEST / 2).now, lambda pace: pace) == (part, part)


def test_where_the_pace_changes_it_is_tried_again():
    times = iter([3e-3, 1e-3])
    assert meanwhile(_pace(BEST / 2, BEST, BEST).now, lambda pace: next(times), 2) == (1e-3, 1.0)
    times = iter([3e-3, 2e-3])
    changed = 2e-3, pytest.approx(sqrt(0.5**SHARE))
    assert meanwhile(_pace(BEST / 2, BEST, BEST / 2).now, lambda pace: next(times), 2) == changed
    assert meanwhile(_pace(BEST / 2, BEST).now, lambda pace: 2e-3) == changed


def test_a_better_rate_than_the_best_is_the_best():
    pace = _pace(2 * BEST, BEST)
    assert (pace.now(), pace.now()) == (1.0, pytest.approx(0.5**SHARE))


def test_the_measuring_process_tells(tmp_path: Path):
    with Database(tmp_path) as database, Profiler(1, database) as profiler:
        answers = [profiler._worker.ask(Now()) for _ in range(5)]  # pyright: ignore[reportPrivateUsage]
        assert all(isinstance(a, float) and 0.0 < a <= 1.0 for a in [*answers, profiler.pace()])
