"""The caches that kernels of processors are shaped for."""

from __future__ import annotations

import math
from collections.abc import Sequence

from korch.system.processor import cache_bytes

L1 = cache_bytes(1, 1 << 15)
"""Bytes of a core's first-level cache of data."""
L2 = cache_bytes(2, 1 << 20)
"""Bytes of a core's second-level cache."""
SCRATCH = 4 * L2
"""Bytes of what strips pass on that are worth trying: a share of the third-level cache."""
OUTGROWN = max(min(cache_bytes(3, 32 << 20) // 4, 80 << 20), SCRATCH)
"""Bytes of a result beyond which it is stored past the caches. Half of it would have left them before anybody reads it,
and a processor fetches each line into which it stores any other way. (`efficientvit`, 32 MB, takes 0.92 to 0.94 of its
time on Zen 4; with half of the cache as the limit 0.97. On Zen 5, a quarter against a sixth: `candy`, whose largest has
6.4 MB, 0.945, `efficientvit` 0.98, `segformer` 0.994. 80 MB is a sixth of Granite Rapids' 480, which many cores share:
`efficientvit` takes 2 to 6% longer there with 30; more was not tried.)"""


SETS = 64
"""Sets of a core's first-level cache, into which lines go by turns: it finds them while it looks up pages of 4 KB."""
WAYS = L1 // (64 * SETS)
"""Lines that a set has room for."""


def lines_in_a_set(count: int, step: int) -> float:
    """Lines that meet in one set, of `count` that are `step` floats apart."""
    return count * math.gcd(4 * step, 64 * SETS) / (64 * SETS)


def outgrows(shape: Sequence[int]) -> bool:
    """Whether a float32 tensor of that shape is stored past the caches."""
    return 4 * math.prod(shape) > OUTGROWN
