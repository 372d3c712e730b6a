"""Kernels that are measured again keep the least of their times."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from korch.profile import Database, Failed, Measurement, Profiler
from korch.profile.results import Result
from korch.system.deadline import NEVER, Deadline

from .fodder import several


@pytest.fixture
def profiler(tmp_path: Path) -> Iterator[Profiler]:
    with Database(tmp_path) as database, Profiler(1, database) as profiler:
        yield profiler


def test_the_least_time_counts_and_is_remembered(profiler: Profiler, monkeypatch: pytest.MonkeyPatch):
    kernels = several(3)
    known = {id(k): r for k, r in zip(kernels, profiler.measure(kernels), strict=True)}
    faster, slower, broken = kernels

    def seconds(kernel: object) -> float:
        found = known[id(kernel)]
        assert isinstance(found, Measurement)
        return found.seconds

    told: dict[str, Result] = {
        profiler.key(faster): Measurement(seconds(faster) / 2),
        profiler.key(slower): Measurement(seconds(slower) * 2),
        profiler.key(broken): Failed("the machine was busy", lasting=False),
    }
    monkeypatch.setattr(
        profiler,
        "_results",
        lambda kernels, deadline: ((key, profiler._keep(key, k, told[key])) for key, k in kernels.items()),
    )  # pyright: ignore[reportPrivateUsage]
    again = profiler.measure_again(NEVER, kernels)
    assert [r.seconds for r in again if isinstance(r, Measurement)] == [
        seconds(faster) / 2,
        seconds(slower),
        seconds(broken),
    ]
    assert profiler.measure(kernels) == again


def test_it_really_runs_again_and_counts_once(profiler: Profiler, monkeypatch: pytest.MonkeyPatch):
    kernels = several(2)
    profiler.measure(kernels)
    worker, asked = profiler._worker, []  # pyright: ignore[reportPrivateUsage]
    ask = worker.ask
    monkeypatch.setattr(worker, "ask", lambda task: (asked.append(task), ask(task))[1])
    assert all(isinstance(r, Measurement) for r in profiler.measure_again(NEVER, kernels))
    assert len(asked) == 2 == profiler.measured
    assert profiler.measure_again(Deadline(0.0), kernels) == [None, None]


@pytest.mark.parametrize(("now", "counts"), [(2.0, 1.0 / 1.5), (1.2, 1.0 / 1.2), (0.9, 1.0)])
def test_a_rival_tells_how_busy_the_machine_is(
    profiler: Profiler, monkeypatch: pytest.MonkeyPatch, now: float, counts: float
):
    kernel, rival = several(2)
    known = zip((kernel, rival), profiler.measure([kernel, rival]), strict=True)
    before = {profiler.key(k): r.seconds for k, r in known if isinstance(r, Measurement)}
    took = {profiler.key(kernel): 1.0, profiler.key(rival): now}
    monkeypatch.setattr(
        profiler,
        "_results",
        lambda kernels, deadline: (
            (key, profiler._keep(key, k, Measurement(before[key] * took[key]))) for key, k in kernels.items()
        ),
    )  # pyright: ignore[reportPrivateUsage]
    (again,) = profiler.measure_again(NEVER, [kernel], [rival])
    assert isinstance(again, Measurement) and again.seconds == pytest.approx(before[profiler.key(kernel)] * counts)
