"""A program whose race says little has another one in use: a few calls in turn with onnxruntime.

On a machine that a server keeps busy, threads of a low priority wait for each other; and random inputs are not data.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from statistics import median
from typing import NamedTuple

CALLS = 8
"""Of each runtime that count. Their medians decide."""
TURN = 4
"""Calls that one runtime answers before the other does. The first of them does not count: threads of onnxruntime spin
for tens of milliseconds after a run. (A program of 29 ms takes 60 after one of onnxruntime, and 29 the next time.)"""
LATELY = 2.0
"""Seconds without a call after which nobody waits for the end of a trial."""


class Turn(NamedTuple):
    """Of one call: whether the program answers, and whether its time counts."""

    program: bool
    counts: bool


@dataclass(eq=False)
class Trial:
    """Times of calls in seconds, by turns of the program and of onnxruntime."""

    program: list[float] = field(default_factory=list[float])
    base: list[float] = field(default_factory=list[float])
    _calls: Iterator[int] = field(default_factory=count)
    _last: float = field(default_factory=time.monotonic)

    def turn(self) -> Turn:
        """Whether the program answers this call, and whether the call counts."""
        number = next(self._calls)
        return Turn(number // TURN % 2 == 1, number % TURN > 0)

    def enter(self, turn: Turn, seconds: float) -> None:
        """Notes what the call of a turn took."""
        if turn.counts:
            (self.program if turn.program else self.base).append(seconds)
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
