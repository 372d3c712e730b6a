"""Times of a linked program: until they agree, and no longer than that is worth."""

from __future__ import annotations

import time
from collections.abc import Mapping

from korch.executable import Executable, Profile
from korch.ir.ops.table import Array
from korch.profile.costs import Costs
from korch.system.deadline import NEVER, Deadline
from korch.system.processor import ahead_of_others

RUNS, BLOCKS, ENOUGH, MUCH = (2, 12), (2, 4), 2.0, 6.0
"""Runs of a linked program over which its kernels are timed in place, and how often that is repeated, at least and at
most: as many as take no more than so many seconds; and seconds after which nothing is repeated because of a surprise.
(A program of half a second would have four blocks of three runs, 6 seconds, and five times that after a surprise.)"""
STEADY, MOST_PACES = 0.03, 4
"""How far two times of a program may lie apart, one after the other, before it is timed once more: its plan's costs are
scaled to the last, and a machine that others use has moments of another pace."""
SUSPICIOUS, NOTHING, PAUSES = 1.15, 1e-5, (0.2, 0.5, 1.0, 2.0)
"""How much slower than the sum of its kernels a program may seem before it is timed again, and the seconds that it may
take without any; after so many seconds."""


def steady_seconds(executable: Executable, feeds: Mapping[str, Array], costs: Costs, until: Deadline) -> float:
    """Seconds of a run, as two times agree on; what is known at `until`."""
    with costs.alone(until.at):
        promised = executable.plan.predicted_seconds / costs.pace()
        times = [in_place(executable, feeds, promised, until).total]
        while len(times) < MOST_PACES and not until.passed:
            times.append(in_place(executable, feeds, times[-1], until).total)
            if abs(times[-1] - times[-2]) <= STEADY * times[-2]:
                break
    return times[-1]


def in_place(executable: Executable, feeds: Mapping[str, Array], promised: float, until: Deadline = NEVER) -> Profile:
    """The program's times, nothing else of ours running and ahead of other programs where this user may ask for that;
    again while they are far from what was promised, but not after `until`."""
    runs = _within(RUNS, ENOUGH / BLOCKS[1], promised)
    blocks = _within(BLOCKS, 1.5 * ENOUGH, (runs + 1) * promised)
    with ahead_of_others():
        patience, best = until.within(MUCH), executable.profile(feeds, runs, blocks)
        for pause in PAUSES:
            if best.total <= SUSPICIOUS * promised + NOTHING or patience.passed:
                break
            time.sleep(pause)
            best = best.better(executable.profile(feeds, runs, blocks))
    return best


def _within(limits: tuple[int, int], seconds: float, each: float) -> int:
    """How often something that takes `each` seconds is done in so many, within limits."""
    return min(max(int(seconds / max(each, 1e-6)), limits[0]), limits[1])
