"""A measuring process that is stopped and continued gives right results, and none that no machine could reach."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from korch.profile import Database, Measurement, Profiler, machine
from korch.profile.physics import Work

from .fodder import relu, scaled_product


@pytest.fixture
def profiler(tmp_path: Path) -> Iterator[Profiler]:
    with Database(tmp_path) as database, Profiler(2, database) as profiler:
        machine(2, database, profiler)
        yield profiler


def stop_and_go(profiler: Profiler, done: Event) -> None:
    """Stops the worker for some milliseconds again and again, at whatever it is doing."""
    while not done.wait(0.004):
        if process := profiler._worker._process:  # pyright: ignore[reportPrivateUsage]
            os.kill(process.pid, signal.SIGSTOP)
            done.wait(0.006)
            os.kill(process.pid, signal.SIGCONT)


def test_a_worker_that_is_stopped_and_continued_breaks_no_physics(profiler: Profiler):
    kernels, done = [relu(), scaled_product()], Event()
    stopper = Thread(target=stop_and_go, args=(profiler, done))
    stopper.start()
    try:
        results = profiler.measure(kernels)
    finally:
        done.set()
        stopper.join()
    for kernel, result in zip(kernels, results, strict=True):
        assert isinstance(result, Measurement) and result.seconds >= profiler.physics.seconds(Work.of(kernel.cone)) > 0
    assert profiler.tally.samples > profiler.tally.disturbed > 0
