"""How a kernel is timed: long enough to trust the median, again where the machine was not quiet."""

from __future__ import annotations

import ctypes
import math
import os
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from korch.backends.program import include
from korch.backends.toolchain import Toolchain
from korch.system.digest import digest
from korch.system.processor import cache_bytes, processor

SAMPLE = 200e-6  # seconds a sample should take, so that the clock costs nothing
BUDGET = 15e-3  # seconds of samples a kernel
SLOW = 50e-3  # kernels above this have 3 samples
NOISY = 0.05  # relative median deviation above which the machine was not quiet
RETRIES = 3
CROWDED_RETRIES = 30
PATIENCE = 0.1  # seconds to wait for a crowd to go
SWITCHES, SWITCH_RATE = 1, 20  # forced context switches, and those a second, that a quiet machine has too
COLD_SAMPLES = 5
COLD = 512 << 10  # bytes moved from which on a kernel would keep the caches for itself if it ran again and again
COLD_WEIGHTS = 256 << 10  # bytes of constants from which on they count as cold

try:
    import resource
except ImportError:  # Windows
    resource = None

Samples = NDArray[np.float64]
Sampler = Callable[[int, int], Samples]
"""(calls a sample, samples) -> seconds of one call, by sample."""


def timed(sampler: Sampler, cold: bool = False, enough: float = math.inf) -> tuple[float, float]:
    """Seconds of a call and their spread: of the best round, which is the first one where that was quiet, or where no
    call took as little as is `enough` to know.

    Rounds that others disturbed are repeated, longer where others took the processors away: a wait for one thread's
    turn makes a kernel of microseconds take milliseconds. `cold` samples have one call each; three that agree are
    enough, as each of them reads more memory than most kernels.
    """
    start = time.monotonic()
    seconds, spread, crowded = _round(sampler, 1, 3)
    calm = spread <= NOISY and not crowded and (cold or seconds > SLOW)
    if calm or (1 - 3 * spread) * seconds > enough:
        return seconds, spread
    best = (max(seconds, 1e-9), 1.0)
    for attempt in range(CROWDED_RETRIES):
        seconds, spread, crowded = _round(sampler, *_plan(best[0], cold))
        best = (seconds, spread) if attempt == 0 else min(best, (seconds, spread))
        calm = spread <= NOISY or attempt == RETRIES
        if (calm and not crowded) or time.monotonic() - start > PATIENCE:
            break
    return best


def _plan(seconds: float, cold: bool) -> tuple[int, int]:
    """Calls a sample, and samples, for a call of `seconds`."""
    calls = 1 if cold else min(max(math.ceil(SAMPLE / seconds), 1), 2000)
    count = min(max(int(BUDGET / (calls * seconds)), 5), COLD_SAMPLES if cold else 50)
    return calls, 3 if seconds > SLOW else count


def _round(sampler: Sampler, calls: int, count: int) -> tuple[float, float, bool]:
    """Seconds, spread, and whether other programs took the processors away meanwhile.

    Seconds is the median; in a crowd the least, as then most samples may hold a wait.
    """
    before, start = _switches(), time.monotonic()
    samples = sampler(calls, count)
    crowded = _switches() - before > SWITCHES + SWITCH_RATE * (time.monotonic() - start)
    middle = float(np.median(samples))
    spread = float(np.median(np.abs(samples - middle))) / max(middle, 1e-12)
    return float(samples.min()) if crowded else middle, spread, crowded


def _switches() -> int:
    """How often this process had to make way for another."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw if resource else 0


def timing_library(folder: Path, toolchain: Toolchain) -> Path:
    """The compiled timing.c and calibrate.c, kept in the cache folder."""
    texts = {name: Path(__file__).with_name(name).read_text() for name in ("timing.c", "calibrate.c")}
    texts |= {name: include(name) for name in ("korch_rt.h", "korch_team.h")}
    key = digest(*texts.values(), toolchain.command, toolchain.flags, toolchain.version, processor())
    path = folder / f"timing-{key[:24]}.so"
    if not path.exists():
        with suppress(OSError):  # what is wrong with the folder is said where the library cannot be written
            folder.mkdir(parents=True, exist_ok=True)
        toolchain.compile_library(texts, path)
    return path


@cache
def scrub_size() -> int:
    """Bytes to read so that nothing else is left in the caches."""
    return min(max(3 * cache_bytes(3, 32 << 20) // 2, 16 << 20), 96 << 20)


def load(path: str | Path) -> ctypes.CDLL:
    """Loads a library; what it leaves undefined is looked up when it is called."""
    return ctypes.CDLL(os.fspath(path), mode=ctypes.RTLD_LOCAL | getattr(os, "RTLD_LAZY", 0))
