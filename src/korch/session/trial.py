"""A program that lost its race in the background has another one in use: call by call beside onnxruntime.

On a machine that a server keeps busy, threads of a low priority wait for each other, and a race says little.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle
from statistics import median

CALLS = 8
"""Of each runtime. Their medians decide."""
LATELY = 2.0
"""Seconds without a call after which nobody waits for the end of a trial."""


@dataclass(eq=False)
class Trial:
    """Times of calls in seconds, by turns of the program and of onnxruntime."""

    program: list[float] = field(default_factory=list[float])
    base: list[float] = field(default_factory=list[float])
    _turns: Iterator[bool] = field(default_factory=lambda: cycle((False, True)))
    _last: float = field(default_factory=time.monotonic)

    def turn(self) -> bool:
        """Whether the program answers this call."""
        return next(self._turns)

    def enter(self, program: bool, seconds: float) -> None:
        """Notes what a call took."""
        (self.program if program else self.base).append(seconds)
        self._last = time.monotonic()

    @property
    def under_way(self) -> bool:
        """Whether calls arrive that will decide it."""
        return time.monotonic() - self._last < LATELY

    @property
    def ended(self) -> bool:
        return min(len(self.program), len(self.base)) >= CALLS

    @property
    def won(self) -> bool:
        """Whether the program is not slower."""
        return median(self.program) <= median(self.base)
