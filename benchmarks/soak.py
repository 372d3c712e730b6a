"""Fails where a program that runs or is opened very often holds more and more.

    python benchmarks/soak.py ARCHIVE [--runs 1000000] [--openings 10000] [-o results.json]

Memory, descriptors, mapped regions and threads of this process are read after a hundredth of the runs, and at the end;
so with programs that are opened, run once and closed. Outputs must have the same bits all the time. Exit status 1 where
one of these counts grows by more than a hundredth, memory by more than a hundredth and 2 MB, or a bit changes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track

import korch
from korch.executable.feeds import random_feeds

PROC = Path("/proc/self")
GROWTH, SPARE_KIB = 0.01, 2048
"""How much more may be held at the end: of each count, and KiB of memory besides."""


@dataclass(frozen=True)
class Held:
    """By this process."""

    kib: int
    descriptors: int
    regions: int
    threads: int

    @staticmethod
    def now() -> Held:
        status = dict(line.split(":", 1) for line in (PROC / "status").read_text().splitlines())
        regions = len((PROC / "maps").read_text().splitlines())
        return Held(
            int(status["VmRSS"].split()[0]), len(list((PROC / "fd").iterdir())), regions, int(status["Threads"])
        )

    def grew_to(self, later: Held) -> list[str]:
        """Counts that are too much larger in `later`."""
        spare = {"kib": SPARE_KIB}
        before, after = asdict(self), asdict(later)
        return [k for k in before if after[k] > (1 + GROWTH) * before[k] + spare.get(k, 0)]


@dataclass(frozen=True)
class Soaked:
    """So many times something was done, what was held after a hundredth of them and at the end."""

    times: int
    warm: Held
    last: Held
    grew: list[str]
    changed: int
    """Outputs with other bits than the first."""


def soaked(times: int, what: str, once: Callable[[], bytes]) -> Soaked:
    """Does it so many times."""
    first, changed = once(), 0
    warm = Held.now()
    for i in track(range(times), what, console=Console(stderr=True)):
        changed += once() != first
        if i == times // 100:
            warm = Held.now()
    last = Held.now()
    return Soaked(times, warm, last, warm.grew_to(last), changed)


def bits(program: korch.Executable, feeds: dict[str, np.ndarray]) -> bytes:
    return b"".join(y.tobytes() for y in program.run(feeds).values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--openings", type=int, default=10_000)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    with korch.load(arguments.archive) as program:
        feeds = random_feeds(program.plan.graph)
        ran = soaked(arguments.runs, "runs", lambda: bits(program, feeds))

    def opened() -> bytes:
        with korch.load(arguments.archive) as program:
            return bits(program, feeds)

    found = {"runs": ran, "openings": soaked(arguments.openings, "openings", opened)}
    text = json.dumps({name: asdict(result) for name, result in found.items()}, indent=1)
    print(text)
    if arguments.output:
        arguments.output.write_text(text + "\n")
    sys.exit(any(result.grew or result.changed for result in found.values()))


if __name__ == "__main__":
    main()
