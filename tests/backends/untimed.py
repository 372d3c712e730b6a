"""A measuring process that checks kernels and times none: `python -m backends.untimed` instead of
`korch.profile.worker`, with the same arguments.

Timing takes most of the seconds of a small kernel, and all compilers of the machine wait for it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import inf

from korch.profile import worker
from korch.profile.results import Tally
from korch.profile.runners import Native
from korch.profile.timing import NO_FLOOR, Floor, Timing

RUNS = 4
"""Of a kernel before its output is compared again."""


def some_runs(self: Native, enough: float = inf, floor: Floor = NO_FLOOR) -> Timing:
    """A second, after a few runs."""
    for _ in range(RUNS):
        self.run()
    return Timing(1.0, 0.0, Tally())


def at_once(now: Callable[[], float], timed: Callable[[float], Timing], tries: int = 1) -> tuple[Timing, float]:
    """The result of `timed`, without asking how fast the machine is."""
    return timed(1.0), 1.0


if __name__ == "__main__":
    Native.time, worker.meanwhile = some_runs, at_once
    worker.main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
