"""Times of a linked program: until they agree, and no longer than that is worth."""

from __future__ import annotations

import time
from collections.abc import Mapping

from korch.executable import Executable, Profile
from korch.ir.ops.table import Array
from korch.profile.costs import Costs
from korch.search.steering import (
    BLOCKS,
    MAX_PROFILE_SECONDS,
    MAX_TIMES,
    PAUSES,
    PROFILE_SECONDS,
    RUNS,
    STEADY,
    SUSPICIOUS,
    UNSUSPICIOUS_SECONDS,
)
from korch.system.deadline import NEVER, Deadline
from korch.system.processor import ahead_of_others


def steady(executable: Executable, feeds: Mapping[str, Array], costs: Costs, until: Deadline) -> Profile:
    """The program's times, once two totals agree: of each step the smaller of both; the last known at `until`."""
    with costs.alone(until):
        promised = executable.plan.predicted_seconds / costs.pace()
        profiles = [in_place(executable, feeds, promised, until)]
        while len(profiles) < MAX_TIMES and not until.passed:
            profiles.append(in_place(executable, feeds, profiles[-1].total, until))
            before, now = profiles[-2:]
            if abs(now.total - before.total) <= STEADY * before.total:
                return before.least(now)
    return profiles[-1]


def in_place(executable: Executable, feeds: Mapping[str, Array], promised: float, until: Deadline = NEVER) -> Profile:
    """The program's times, nothing else of ours running and ahead of other programs where this user may ask for that;
    again while they are far from what was promised, but not after `until`."""
    runs = _within(RUNS, PROFILE_SECONDS / BLOCKS[1], promised)
    blocks = _within(BLOCKS, 1.5 * PROFILE_SECONDS, (runs + 1) * promised)
    with ahead_of_others():
        patience, best = until.within(MAX_PROFILE_SECONDS), executable.profile(feeds, runs, blocks)
        for pause in PAUSES:
            if best.total <= SUSPICIOUS * promised + UNSUSPICIOUS_SECONDS or patience.passed:
                break
            time.sleep(pause)
            best = best.better(executable.profile(feeds, runs, blocks))
    return best


def _within(limits: tuple[int, int], seconds: float, each: float) -> int:
    """How often something that takes `each` seconds is done in so many, within limits."""
    return min(max(int(seconds / max(each, 1e-6)), limits[0]), limits[1])
