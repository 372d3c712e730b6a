"""All that a machine with an NVIDIA GPU can say, in three commands of under nine minutes, most valuable first.

    python benchmarks/cuda.py lease                  the plan, with what is left of it
    python benchmarks/cuda.py lease kernels          rates of the device, times of 400 kernels, the tests for GPUs
    python benchmarks/cuda.py lease tuning           programs of the workloads, and whether replays keep their bits
    python benchmarks/cuda.py lease racing           them beside torch, torch.compile and XLA, compiled before the race

    python benchmarks/cuda.py check | tune | compare [NAMES]    single parts without a limit of time

All take `-o OUT`, the folder of models, archives, findings (JSON lines, one an entry, written as they come), clocks and
the profile database (cuda.cache). A command that was killed goes on where it was; the database carries over to the next
machine of the kind. All programs run under CUDA graphs, each in a process of its own, and blocks of runs alternate.
Nothing is fetched; where the machine has no HiGHS, its wheel must be brought along, for the tests PuLP's and
safetensors' too, and `pip install --no-index --no-deps --no-build-isolation .` makes korch known.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cuda_lease.pages import page
from cuda_lease.record import Record
from cuda_lease.rig import Gpu
from cuda_lease.stages import SECONDS, STAGES, TUNING
from cuda_lease.work import compare, tune
from cuda_peers.runtimes import peers
from page import WORKLOADS

LIMIT = 240.0
"""Seconds of tuning a workload where nothing else limits it."""


def plan(out: Path) -> str:
    """The commands, and how much of each is done."""
    lines = [
        f"python benchmarks/cuda.py lease {name} -o {out}    # at most {SECONDS:.0f} s; "
        f"{len(Record(out / f'{name}.jsonl').known)} entries so far"
        for name in STAGES
    ]
    return "\n".join((*lines, f"tuning takes {TUNING:.0f} s a workload; {out}/page.md has the tables"))


def lease(out: Path, stage: str, seconds: float) -> None:
    """One command of the plan; the page is written even where it fails."""
    rig = Gpu()
    try:
        STAGES[stage](rig, out, seconds)
    finally:
        (out / "page.md").write_text(page(out))
    print((out / "page.md").read_text())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("lease", "check", "tune", "compare"))
    parser.add_argument("names", nargs="*", metavar="NAME", help="of a stage of the lease, or of workloads")
    parser.add_argument("-o", "--output", type=Path, default=Path("cuda-out"), metavar="OUT")
    parser.add_argument("--seconds", type=float, help="that a stage may take, or tuning a workload")
    parser.add_argument("--numerics", default="fast")
    options = parser.parse_args()
    out: Path = options.output
    out.mkdir(parents=True, exist_ok=True)
    known = STAGES if options.part == "lease" else WORKLOADS
    if unknown := sorted(set(options.names) - set(known)):
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(known)}")
    if options.part == "lease":
        for stage in options.names:
            lease(out, stage, options.seconds or SECONDS)
        if not options.names:
            print(plan(out))
    elif options.part == "check":
        print(Gpu().tests(options.seconds or LIMIT))
    else:
        for name in options.names or WORKLOADS:
            if options.part == "tune":
                print(tune(name, out, options.seconds or LIMIT, options.numerics))
            else:
                print(compare(out, name, options.numerics, peers("tf32", "fp16")))


if __name__ == "__main__":
    sys.exit(main())
