"""Fails where the costs of a program's steps are not what they take in place, on the quiet machine.

    python benchmarks/predictions.py ARCHIVE ... [--blocks 20]

A table for each program: the kernels that take a hundredth of the run or more, the cost that their plan predicts and
the time that they take in place; then how far off the worst of them is (at most 15%), the sum of all predictions (5%),
and the sum of the times in place from the time of the whole run (2%). Exit status 1 where one is further off.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import korch
from korch.executable import Profile
from korch.executable.feeds import random_feeds
from korch.executable.plan import Step
from page import markdown

SHARE, EACH, ALL, WHOLE = 0.01, 0.15, 0.05, 0.02
"""The share of a run from which on a kernel counts; how far off a kernel may be, the sum of all, and the run."""
RUNS = 20


@dataclass(frozen=True)
class Compared:
    """A program's predictions beside its times in place. `worst`, `sums` and `whole` are ratios: of the prediction of
    the kernel that is furthest off to its time, of the sums of all, and of the sum of the times to the run."""

    rows: Sequence[tuple[str, float, float]]
    worst: float
    sums: float
    whole: float

    @property
    def misses(self) -> list[str]:
        """The lines that miss their targets."""
        found = (("a kernel", self.worst, EACH), ("the sum", self.sums, ALL), ("the whole run", self.whole, WHOLE))
        return [f"{what} by {ratio - 1:+.1%}" for what, ratio, most in found if abs(ratio - 1) > most]


def compared(steps: Sequence[Step], profile: Profile) -> Compared:
    """The predictions of the plan of `steps` beside the times of `profile`."""
    pairs = [(s, seconds) for s, seconds in zip(steps, profile.steps, strict=True) if not s.idle]
    large = [(s, seconds) for s, seconds in pairs if seconds >= SHARE * profile.total]
    worst = max((s.cost / seconds for s, seconds in large), key=lambda ratio: abs(ratio - 1), default=1.0)
    inside = sum(seconds for _, seconds in pairs)
    rows = [(f"{s.writes.name} = {s.kernel.backend} {s.kernel.variant}".strip(), s.cost, t) for s, t in large]
    return Compared(rows, worst, sum(s.cost for s, _ in pairs) / inside, inside / profile.total)


def report(name: str, found: Compared) -> str:
    head = [name, "predicted us", "in place us", "ratio"]
    rows = [
        [what, f"{cost * 1e6:.1f}", f"{seconds * 1e6:.1f}", f"{cost / seconds:.3f}"]
        for what, cost, seconds in sorted(found.rows, key=lambda row: -row[2])
    ]
    verdict = f"OFF: {', '.join(found.misses)}" if found.misses else "ok"
    return (
        f"{markdown([head, *rows])}\n{name}: worst {found.worst:.3f}, sums {found.sums:.3f}, "
        f"steps of the whole run {found.whole:.3f}  {verdict}\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archives", nargs="+", type=Path, metavar="ARCHIVE")
    parser.add_argument("--blocks", type=int, default=20, help=f"of {RUNS} runs; the best of their medians counts")
    options, off = parser.parse_args(), False
    for archive in options.archives:
        with korch.load(archive) as program:
            profile = program.profile(random_feeds(program.plan.graph), RUNS, options.blocks)
            found = compared(program.plan.steps, profile)
        print(report(archive.stem, found), flush=True)
        off |= bool(found.misses)
    sys.exit(off)


if __name__ == "__main__":
    main()
