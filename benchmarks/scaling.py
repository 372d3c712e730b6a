"""What plans would take on more cores, on paper: each kernel as many times faster as it has pieces to share out.

    python benchmarks/scaling.py ARCHIVE ... [--cores 64]

A piece is the least that a thread computes of a kernel by itself: a strip, a tile of a product, a page of what is
moved. Every kernel ends with a barrier. Caches and the bandwidth of memory are taken to grow with the cores, and the
plan stays the one that was made for few threads: a search on such a machine would choose other kernels.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import korch
from korch.backends.cpu.tiles.access import outermost
from korch.executable.plan import Step
from page import markdown

TILE = 6 * 64
"""Floats of a product's tile."""
PAGE = 1024
"""Floats that are worth a thread of their own where nothing is multiplied."""
BARRIER = 5e-6
"""Seconds that 64 cores take to meet; two take under one microsecond."""


@dataclass(frozen=True)
class Share:
    """A kernel's seconds now and on the larger machine, and its pieces."""

    now: float
    then: float
    pieces: int


def pieces(step: Step) -> int:
    """Into how many parts the kernel's work falls."""
    cone = step.kernel.cone
    if step.kernel.backend == "tiles":
        return ceil(cone.root.shape[outermost(cone.root.shape)] / step.kernel.variant.numbers[0])
    if cone.linear:
        return ceil(cone.root.size / TILE)
    return ceil(max(t.size for t in (cone.root, *cone.leaves)) / PAGE)


def shares(archive: Path, cores: int) -> list[Share]:
    """Of every kernel that runs."""
    with korch.load(archive) as executable:
        plan = executable.plan
    found = [(s.cost, pieces(s)) for s in plan.steps if s.cost > 0]
    return [Share(cost, cost * plan.threads / min(cores, n) + BARRIER, n) for cost, n in found]


def row(archive: Path, cores: int) -> list[str]:
    """Of the table, for one archive."""
    found = shares(archive, cores)
    now, then = sum(s.now for s in found), sum(s.then for s in found)
    few = [s for s in found if s.pieces < cores]
    return [
        archive.stem,
        f"{now * 1e3:.1f}",
        f"{then * 1e3:.2f}",
        f"{now / then:.1f}",
        f"{len(few)} of {len(found)}",
        f"{sum(s.then for s in few) / then:.0%}",
        f"{len(found) * BARRIER / then:.0%}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archives", nargs="+", type=Path)
    parser.add_argument("--cores", type=int, default=64)
    given = parser.parse_args()
    few = f"kernels with fewer than {given.cores} pieces"
    head = ["workload", "ms now", f"ms on {given.cores} cores", "times faster", few, "their share then", "barriers"]
    print(markdown([head, *(row(a, given.cores) for a in given.archives)]))


if __name__ == "__main__":
    main()
