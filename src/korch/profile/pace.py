"""How fast the machine is at the moment: others who share its cores take a part of every kernel's time.

A virtual machine's neighbours do so for minutes, and kernels that are measured in different minutes could not be
compared. (Two threads of Cascade Lake, 25 seconds of runs between windows of multiply-adds, which had 57 to 100% of
their best rate: times went with its power of -0.70 for `candy`, -0.63 for `segformer`, -0.42 for `yolox_nano`, at
correlations of 0.88, 0.83 and 0.69. As if alone they scatter by 7, 8 and 7% instead of 14, 14 and 8.)
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from math import sqrt
from typing import TypeVar

Timed = TypeVar("Timed")
SHARE = 0.6
"""The power: of most kernels' time a part goes to caches and memory."""
STEPS, AT_FIRST, WINDOWS = 100_000, 300, 3
"""Steps of a window, some tenths of a millisecond, and windows of which the best tells."""
STEADY = 0.9
"""How alike the machine must be before and behind what is timed."""


class Pace:
    """`now` tells, of what a kernel takes at the moment, the part that it would take on the machine alone: 1 at the
    best rate of multiply-adds that was ever seen."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._best = peak(library)

    @property
    def best(self) -> float:
        """Operations a second, the most that was ever seen."""
        return self._best

    def now(self) -> float:
        rate = peak(self._library, WINDOWS)
        self._best = max(self._best, rate)
        return (rate / self._best) ** SHARE


def peak(library: ctypes.CDLL, windows: int = AT_FIRST) -> float:
    """Operations a second of all threads, of the best of so many windows."""
    library.korch_peak.restype = ctypes.c_double
    return float(library.korch_peak(ctypes.c_long(STEPS), windows))


def meanwhile(now: Callable[[], float], timed: Callable[[float], Timed], tries: int = 1) -> tuple[Timed, float]:
    """What `timed` gives at a pace, and the pace meanwhile; tried again where that has changed."""
    before = now()
    for _ in range(tries - 1):
        found, after = timed(before), now()
        if min(before, after) >= STEADY * max(before, after):
            return found, sqrt(before * after)
        before = after
    return timed(before), sqrt(before * now())
