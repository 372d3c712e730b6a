"""How a kernel is timed: long enough to trust the median, again where the machine was not quiet."""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from korch.backends.toolchain import Toolchain
from korch.profile.setting import digest, processor

SAMPLE = 200e-6  # seconds a sample should take, so that the clock costs nothing
BUDGET = 30e-3  # seconds of samples a kernel
SLOW = 50e-3  # kernels above this have 3 samples
NOISY = 0.05  # relative median deviation above which the machine was not quiet
RETRIES = 3
COLD_SAMPLES = 9
COLD_WEIGHTS = 256 << 10  # bytes of constants from which on they count as cold

Samples = NDArray[np.float64]
Sampler = Callable[[int, int], Samples]
"""(calls a sample, samples) -> seconds of one call, by sample."""


def timed(sampler: Sampler, calls: int = 0, count: int = 0) -> tuple[float, float]:
    """Median seconds of a call and its spread: of the quietest round, the first one where that was quiet.

    `calls` a sample and `count` of samples are found from a first run where they are 0.
    """
    first = max(float(sampler(1, 2).min()), 1e-9)
    calls = calls or min(max(math.ceil(SAMPLE / first), 1), 2000)
    count = 3 if first > SLOW else count or min(max(int(BUDGET / (calls * first)), 5), 50)
    best = _median(sampler(calls, count))
    for _ in range(RETRIES):
        if best[1] <= NOISY:
            break
        best = min(best, _median(sampler(calls, count)))
    return best


def _median(samples: Samples) -> tuple[float, float]:
    middle = float(np.median(samples))
    return middle, float(np.median(np.abs(samples - middle))) / max(middle, 1e-12)


def timing_library(folder: Path, toolchain: Toolchain) -> Path:
    """The compiled timing.c and calibrate.c, kept in the cache folder."""
    texts = {name: Path(__file__).with_name(name).read_text() for name in ("timing.c", "calibrate.c")}
    key = digest(*texts.values(), toolchain.command, toolchain.flags, toolchain.version, processor())
    path = folder / f"timing-{key[:24]}.so"
    if not path.exists():
        toolchain.compile_library(texts, path)
    return path


@cache
def scrub_size() -> int:
    """Bytes to read so that nothing else is left in the caches."""
    try:
        text = Path("/sys/devices/system/cpu/cpu0/cache/index3/size").read_text().strip()
        last_level = int(text.removesuffix("K")) << 10
    except (OSError, ValueError):
        last_level = 32 << 20
    return min(max(3 * last_level // 2, 16 << 20), 96 << 20)


def load(path: str | Path) -> ctypes.CDLL:
    """Loads a library; what it leaves undefined is looked up when it is called."""
    return ctypes.CDLL(os.fspath(path), mode=ctypes.RTLD_LOCAL | getattr(os, "RTLD_LAZY", 0))
