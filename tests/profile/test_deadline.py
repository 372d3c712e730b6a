"""Measuring ends when its time is up: what was measured stays, the rest stays open."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from math import inf
from pathlib import Path

import pytest

from korch.profile import Database, Measurement, Profiler
from korch.system.deadline import NEVER, Deadline

from .fodder import several


@pytest.fixture
def profiler(tmp_path: Path) -> Iterator[Profiler]:
    with Database(tmp_path) as database, Profiler(1, database) as profiler:
        yield profiler


def test_nothing_is_built_after_the_deadline(profiler: Profiler, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(profiler.toolchain.__class__, "compile_library", None)
    assert profiler.measure_until(Deadline(0.0), several(3)) == [None] * 3 and profiler.measured == 0


def test_it_stops_between_two_kernels_and_goes_on_later(profiler: Profiler):
    """It looks at the clock before the batch is compiled and before each kernel."""
    looks = count(1)

    class ThreeLooks(Deadline):
        @property
        def passed(self) -> bool:
            return next(looks) > 3

    first = profiler.measure_until(ThreeLooks(inf), several(4))
    assert [r is None for r in first].count(False) == 2 == profiler.measured
    later = profiler.measure_until(NEVER, several(4))
    assert all(isinstance(r, Measurement) for r in later) and profiler.measured == 4
    assert all(a is None or a == b for a, b in zip(first, later, strict=True))


def test_what_is_known_needs_no_time(profiler: Profiler):
    known = profiler.measure(several(2))
    assert profiler.measure_until(Deadline(0.0), several(3))[:2] == known
