"""What a kernel takes on a machine that nobody shares, told by multiply-adds around it."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from korch.profile import Database, Profiler
from korch.profile.pace import SHARE, Pace

BEST = 300e9


class _Library:
    """A machine whose multiply-adds have one rate after another; at first the best."""

    def __init__(self, rates: Sequence[float]) -> None:
        self._rates = iter((BEST, *rates))
        self.korch_peak: Any = lambda steps, windows: next(self._rates)  # pyright: ignore[reportUnknownLambdaType]


def test_what_a_quiet_machine_takes_counts():
    assert Pace(_Library([BEST, BEST])).alone(lambda pace: (pace * 2e-3, 0.01)) == (2e-3, 0.01)  # pyright: ignore[reportArgumentType]


def test_a_busy_machine_is_made_up_for():
    part, asked = 0.5**SHARE, list[float]()
    library = _Library([BEST / 2, BEST / 2])

    def timed(pace: float) -> tuple[float, float]:
        asked.append(pace)
        return 2e-3, 0.01

    assert Pace(library).alone(timed)[0] == pytest.approx(part * 2e-3)  # pyright: ignore[reportArgumentType]
    assert asked == [pytest.approx(part)]


def test_where_the_pace_changes_it_is_tried_again():
    times = iter([3e-3, 1e-3])
    library = _Library([BEST / 2, BEST, BEST])
    assert Pace(library).alone(lambda pace: (next(times), 0.0))[0] == 1e-3  # pyright: ignore[reportArgumentType]
    library, times = _Library([BEST / 2, BEST, BEST / 2]), iter([3e-3, 2e-3])
    seconds, _ = Pace(library).alone(lambda pace: (next(times), 0.0))  # pyright: ignore[reportArgumentType]
    assert seconds == pytest.approx(sqrt(0.5**SHARE) * 2e-3)


def test_a_better_rate_than_the_best_is_the_best():
    pace = Pace(_Library([2 * BEST, BEST]))  # pyright: ignore[reportArgumentType]
    assert (pace.now(), pace.now()) == (1.0, pytest.approx(0.5**SHARE))


def test_the_measuring_process_tells(tmp_path: Path):
    with Database(tmp_path) as database, Profiler(1, database) as profiler:
        assert all(0.2 < profiler.pace() <= 1.0 for _ in range(5))
