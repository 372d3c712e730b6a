"""Which samples of a time count on a machine that others use.

A sample is disturbed if a thread lost its processor in it: its own clock then advances less than the wall clock.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
QUIET = 0.02
"""The share of a sample for which a thread may lack its processor. Interrupts take up to a hundredth on a quiet
machine; a scheduler's time slice takes all of it."""
ENOUGH = 3
"""Quiet samples from which on the disturbed ones do not count."""
CROWDED = 0.25
"""The least relative spread of a time without enough quiet samples: nobody knows whether it is right."""


def disturbed(lost: Floats) -> NDArray[np.bool_]:
    """[samples] from the share of each sample in which a thread did not have its processor."""
    return lost > QUIET


def counting(seconds: Floats, lost: Floats) -> tuple[Floats, bool]:
    """The quiet samples of `seconds` [n], and that they are enough; or those in which threads lost least, and that they
    are not."""
    quiet = ~disturbed(lost)
    if int(quiet.sum()) >= min(ENOUGH, len(seconds)):
        return seconds[quiet], True
    return seconds[np.argsort(lost, kind="stable")[: max(ENOUGH, len(seconds) // 4)]], False


def spread_of(samples: Floats, middle: float, enough: bool) -> float:
    """The relative median deviation from `middle`, large where there were not enough quiet samples."""
    spread = float(np.median(np.abs(samples - middle))) / max(middle, 1e-12)
    return spread if enough else max(spread, CROWDED)
