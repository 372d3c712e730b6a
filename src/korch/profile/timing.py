"""How a kernel is timed: long enough to trust the median, again where others disturbed it."""

from __future__ import annotations

import ctypes
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from korch.backends.program import include
from korch.backends.toolchain import Toolchain
from korch.errors import BackendError
from korch.profile.database import Database
from korch.profile.results import Tally
from korch.system.digest import digest
from korch.system.processor import cache_bytes, processor
from korch.system.samples import CROWDED, Floats, counting, disturbed, spread_of

SAMPLE = 200e-6  # seconds a sample should take, so that the clock costs nothing
BUDGET = 15e-3  # seconds of samples a kernel
SLOW = 50e-3  # kernels above this have 3 samples
NOISY = 0.05  # relative median deviation above which a round is repeated
RETRIES = 3  # of noisy rounds
PATIENCE = 0.1
"""Seconds for which rounds are repeated that others disturbed."""
COLD_SAMPLES = 5
COLD = 512 << 10  # bytes moved from which on a kernel would keep the caches for itself if it ran again and again
COLD_WEIGHTS = 256 << 10  # bytes of constants from which on they count as cold

TimedRuns = tuple[Floats, Floats]
"""Seconds of one call, by sample, and the largest share of each sample in which a thread lacked its processor."""
Sampler = Callable[[int, int], TimedRuns]
"""(calls a sample, samples) -> the samples."""
Floor = Callable[[float], float]
"""What no call can take less than, in seconds; asked with the least sample, as it may make one look again."""


def NO_FLOOR(_: float) -> float:
    return 0.0


@dataclass(frozen=True)
class Timing:
    """Seconds of a call and their relative spread; infinitely many where every sample was rejected."""

    seconds: float
    spread: float
    tally: Tally
    calm: bool = True
    """Whether enough samples were undisturbed."""


def timed(sampler: Sampler, cold: bool = False, enough: float = math.inf, floor: Floor = NO_FLOOR) -> Timing:
    """The time of a call: of the first round that was calm and not noisy, else of the best one.

    A round counts with the median of its undisturbed samples. A sample below `floor` is a fault of the clock or of the
    machine, and is rejected. `cold` samples have one call each; three that agree are enough, as each of them reads more
    memory than most kernels. Three are enough, too, where no call took as little as is `enough` to know.
    """
    start = time.monotonic()
    best = first = _round(sampler, 1, 3, floor)
    steady = first.calm and first.spread <= NOISY and (cold or first.seconds > SLOW)
    if steady or (1 - 3 * first.spread) * first.seconds > enough:
        return first
    tally, rounds = first.tally, list[Timing]()
    while True:
        known = best.seconds if math.isfinite(best.seconds) else SAMPLE
        rounds.append(_round(sampler, *_plan(max(known, 1e-9), cold), floor))
        tally += rounds[-1].tally
        best = min(rounds, key=lambda r: (not r.calm, r.seconds))
        settled = best.calm and (rounds[-1].spread <= NOISY or len(rounds) > RETRIES)
        if settled or time.monotonic() - start > PATIENCE:
            return replace(best, tally=tally)


def _plan(seconds: float, cold: bool) -> tuple[int, int]:
    """Calls a sample, and samples, for a call of `seconds`."""
    calls = 1 if cold else min(max(math.ceil(SAMPLE / seconds), 1), 2000)
    count = min(max(int(BUDGET / (calls * seconds)), 5), COLD_SAMPLES if cold else 50)
    return calls, 3 if seconds > SLOW else count


def _round(sampler: Sampler, calls: int, count: int, floor: Floor) -> Timing:
    """The time by one call of `sampler`."""
    seconds, lost = sampler(calls, count)
    possible = seconds >= floor(float(seconds.min()))
    tally = Tally(count, int(disturbed(lost).sum()), int((~possible).sum()))
    if not possible.any():
        return Timing(math.inf, CROWDED, tally, False)
    used, calm = counting(seconds[possible], lost[possible])
    middle = float(np.median(used))
    return Timing(middle, spread_of(used, middle, calm), tally, calm)


def timing_library(database: Database, toolchain: Toolchain, folder: Path) -> Path:
    """The compiled timing.c and calibrate.c, written into the private `folder`: the database keeps them, and compares
    them with their digest. BackendError where they cannot be compiled or written."""
    texts = {name: Path(__file__).with_name(name).read_text() for name in ("timing.c", "calibrate.c")}
    texts |= {name: include(name) for name in ("korch_rt.h", "korch_team.h")}
    key = digest("timing", *texts.values(), toolchain.command, toolchain.flags, toolchain.version, processor())
    path = folder / "timing.so"
    if kept := database.library(key):
        try:
            path.write_bytes(kept)
        except OSError as e:
            raise BackendError(f"cannot write {path}: {e.strerror or e}; set TMPDIR to a folder with room") from None
    else:
        toolchain.compile_library(texts, path)
        database.record_library(key, path.read_bytes())
    return path


@cache
def scrub_size() -> int:
    """Bytes to read so that nothing else is left in the caches."""
    return min(max(3 * cache_bytes(3, 32 << 20) // 2, 16 << 20), 96 << 20)


def load(path: str | Path) -> ctypes.CDLL:
    """Loads a library; what it leaves undefined is looked up when it is called."""
    return ctypes.CDLL(os.fspath(path), mode=ctypes.RTLD_LOCAL | getattr(os, "RTLD_LAZY", 0))
