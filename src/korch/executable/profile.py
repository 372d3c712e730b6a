"""Times of a program's steps, from runs some of which other programs disturbed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from korch.system.samples import Floats, counting, disturbed, spread_of


@dataclass(frozen=True)
class Profile:
    """Seconds of each step of the plan and of an undisturbed run: the steps, and copies of inputs and outputs.

    A step lasts from the end of the step before to the moment when its last thread has ended. `spreads`: relative
    median deviations, by step. `disturbed`: the share of the samples during which a thread lost its processor. On a
    device the total has no copies.
    """

    steps: tuple[float, ...]
    total: float
    runs: int
    spreads: tuple[float, ...] = ()
    disturbed: float = 0.0

    def better(self, other: Profile) -> Profile:
        """The one of the two of the smaller total, whole, so that its steps still add up: a busy machine only adds."""
        return self if self.total <= other.total else other

    def least(self, other: Profile) -> Profile:
        """The smaller time of each step in two profiles that agree on the total: a disturbance of one step is not seen
        in the total of a large program."""
        steps = tuple(map(min, self.steps, other.steps))
        total = sum(steps) + min(self.total - sum(self.steps), other.total - sum(other.steps))
        return replace(self, steps=steps, total=total, runs=self.runs + other.runs)


def profile_of(seconds: Floats, lost: Floats) -> Profile:
    """The profile of `seconds` [runs, steps + 1], whose last column is the whole run; `lost` [runs, steps]: shares of
    the time around each step in which a thread did not have its processor.

    A step counts with the mean of the middle half of its quiet samples, or, without enough of them, of those in which
    its threads lost least; its spread says so.
    """
    each, whole = seconds[:, :-1], seconds[:, -1]
    found = [_step(each[:, i], lost[:, i]) for i in range(each.shape[1])]
    copies = float(np.median(whole - each.sum(1)))
    steps = tuple(s for s, _ in found)
    share = float(disturbed(lost).mean()) if lost.size else 0.0
    return Profile(steps, sum(steps) + max(copies, 0.0), len(seconds), tuple(d for _, d in found), share)


def _step(samples: Floats, lost: Floats) -> tuple[float, float]:
    """Seconds and relative spread of one step."""
    used, enough = counting(samples, lost)
    seconds = midmean(used)
    return seconds, spread_of(used, seconds, enough)


def midmean(samples: Floats) -> float:
    """The mean of the middle half, which adds up from step to step as medians do not."""
    ordered = np.sort(samples)
    cut = len(ordered) // 4
    return float(ordered[cut : len(ordered) - cut].mean())
