"""Times of runs, side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

ROUNDS, ROUND_SECONDS = 4, 0.06
"""Alternating blocks of runs, and the seconds that each takes; the least median of a runtime's blocks counts."""
PAUSE = 0.05
"""Seconds between blocks, in which the threads of the one before fall asleep: those of onnxruntime after some 30 ms."""


def race(runs: Sequence[Callable[[], Any]]) -> list[float]:
    """Milliseconds of each."""
    blocks = [[_block(run) for run in runs] for _ in range(ROUNDS)]
    return [min(times) for times in zip(*blocks, strict=True)]


def _block(run: Callable[[], Any]) -> float:
    """The median of runs for a while, in milliseconds."""
    time.sleep(PAUSE)
    run()
    times, end = list[float](), time.perf_counter() + ROUND_SECONDS
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e3)
    return median(times)
