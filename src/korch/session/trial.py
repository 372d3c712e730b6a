"""A program whose race says little has another one in use: a few calls in turn with onnxruntime.

On a machine that a server keeps busy, threads of a low priority wait for each other; and random inputs are not data.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

CALLS = 8
"""Of each runtime that count. Their medians decide."""
TURN = 3
"""Calls that count of one runtime before the other has its turn."""
SPINNING = 0.05
"""Seconds after the last call of the other runtime in which no call counts: threads of onnxruntime spin for some 30 ms
after a run. (Zen 4, two threads: a program of 3.6 ms whose threads meet 160 times took 13 ms beside them.)"""
LATELY = 2.0
"""Seconds without a call after which nobody waits for the end of a trial."""


class TrialCall(NamedTuple):
    """Of one call: whether the program answers, and whether its time counts."""

    program: bool
    counts: bool


@dataclass(eq=False)
class Trial:
    """Times of calls in seconds, alternately of the program and of onnxruntime."""

    program: list[float] = field(default_factory=list[float])
    base: list[float] = field(default_factory=list[float])
    _of_program: bool = False
    _left: int = TURN
    _warm: bool = False
    _last: float = field(default_factory=time.monotonic)
    _last_of_other: float = field(default_factory=time.monotonic)

    def turn(self) -> TrialCall:
        """Whether the program answers this call, and whether the call counts."""
        if not self._left:
            self._of_program, self._left, self._warm = not self._of_program, TURN, False
        rested = time.monotonic() - self._last_of_other >= SPINNING
        return TrialCall(self._of_program, self._warm and rested)

    def enter(self, turn: TrialCall, seconds: float) -> None:
        """Notes what the call of a turn took."""
        self._last = time.monotonic()
        if turn.program != self._of_program or not self._left:
            self._last_of_other = self._last  # of another thread, begun in the turn before
            return
        self._warm = True
        if turn.counts:
            (self.program if turn.program else self.base).append(seconds)
            self._left -= 1
            if not self._left:
                self._last_of_other = self._last

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
