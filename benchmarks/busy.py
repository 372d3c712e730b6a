"""Fails where tuning on a busy machine makes slower programs, or records costs that cannot be.

    python benchmarks/busy.py [NAMES] --models DIR [--tunings 3] [--time-budget S] [--rounds 10] -o results.json

Each model is tuned so many times alone and as often beside two processes that compile C in a loop, every time from an
empty cache. Then all of its programs run side by side on the quiet machine. A cost is below physics where the
multiply-adds of a step take longer at the peak, or its compulsory bytes at the highest bandwidth, each the best of
three calibrations on the quiet machine. Entries of the results file are not measured again; the programs are beside it,
in `results.archives`. Exit status 1 where a model misses a target.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import korch
from korch.backends.footprint import footprint
from korch.backends.toolchain import find_toolchain
from korch.executable.plan import Step
from korch.ir.macs import total
from korch.profile import Database, machine
from page import markdown
from racing import Results, side_by_side, tune

NAMES = ("encoder", "mobilenet", "recognizer", "tiny", "candy")
MOST = 1.05
"""Median of the programs that were tuned on the busy machine, of that of the others: at most."""
COMPILERS, CALIBRATIONS = 2, 3
QUIET, BUSY = "quiet", "busy"
LOOP = """
import os, subprocess, sys
parent = os.getppid()
while os.getppid() == parent:
    subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
"""
"""Runs a command again and again as long as its parent lives."""
FUNCTION = """
void f{0}(float *restrict y, const float *restrict x, int n) {{
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < {0}; ++j) y[i * {0} + j] += x[i] * x[j] / (1.0f + y[j] * y[j]);
}}
"""
FUNCTIONS = range(1, 60)


@dataclass(frozen=True)
class Best:
    """The machine's best rates: operations and bytes a second."""

    peak: float
    bandwidth: float

    def seconds(self, step: Step) -> float:
        """Seconds that the step takes at least."""
        if step.idle:
            return 0.0
        moved, _ = footprint(step.kernel.cone)
        return max(2 * total(step.kernel.cone.primitives) / self.peak, moved / self.bandwidth)


@contextmanager
def busy() -> Iterator[None]:
    """Compilers run in the block, one after the other in each of two processes."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "busy.c"
        source.write_text("".join(map(FUNCTION.format, FUNCTIONS)))
        compiler = find_toolchain()
        command = [*compiler.command, *compiler.flags, "-c", "-o", os.devnull, str(source)]
        loops = [
            subprocess.Popen([sys.executable, "-c", LOOP, *command], start_new_session=True) for _ in range(COMPILERS)
        ]
        try:
            yield
            if any(loop.poll() is not None for loop in loops):
                raise SystemExit("the machine was not busy: a process that compiles has ended")
        finally:
            for loop in loops:
                os.killpg(loop.pid, signal.SIGKILL)
                loop.wait()


def best_rates(results: Results, threads: int) -> Best:
    """Of some calibrations, each with an empty database."""
    for number in range(1, CALIBRATIONS + 1):
        if (name := f"calibration {number}") not in results.known:
            print(name, file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory() as folder, Database(Path(folder)) as database:
                found = machine(threads, database)
            results.add(name, [found.peak_flops, max(rate for _, rate in found.bandwidths)])
    rates = [results.known[f"calibration {number}"] for number in range(1, CALIBRATIONS + 1)]
    return Best(max(peak for peak, _ in rates), max(bandwidth for _, bandwidth in rates))


def impossible(steps: Iterable[Step], best: Best) -> list[str]:
    """Steps whose recorded costs lie below physics."""
    return [f"{s}, at least {best.seconds(s) * 1e6:.1f} us" for s in steps if s.cost < best.seconds(s)]


def measure(model: Path, results: Results, options: argparse.Namespace) -> None:
    """Adds what the results do not hold."""
    asked = ["--threads", str(options.threads)]
    asked += ["--time-budget", str(options.time_budget)] if options.time_budget else []
    archives = dict[str, Path]()
    for number in range(1, options.tunings + 1):
        for kind in (QUIET, BUSY):
            name = f"{kind} {number}"
            key, archives[name] = f"{model.stem}: {name}", results.archive(f"{model.stem}-{kind}-{number}")
            if key in results.known and archives[name].exists():
                continue
            print(f"{key}: tuning", file=sys.stderr, flush=True)
            if kind == QUIET:
                told = tune(model, archives[name], *asked)
            else:
                with busy():
                    told = tune(model, archives[name], *asked)
            results.known.pop(f"{model.stem}: race", None)  # without this program
            results.add(key, told)
    if f"{model.stem}: race" not in results.known:
        print(f"{model.stem}: {len(archives)} programs side by side", file=sys.stderr, flush=True)
        results.add(f"{model.stem}: race", side_by_side(model, archives, options.threads, options.rounds))


def row(name: str, known: Mapping[str, Any], low: int) -> tuple[list[str], bool]:
    """A line of the table, and whether it reaches the targets; `low`: steps whose costs lie below physics."""
    tuned = {kind: [v for k, v in known.items() if k.startswith(f"{name}: {kind} ")] for kind in (QUIET, BUSY)}
    race = known[f"{name}: race"]
    ours = {kind: median(ms for k, ms in race.items() if k.startswith(kind)) for kind in (QUIET, BUSY)}
    ratio = ours[BUSY] / ours[QUIET]
    cells = [
        name,
        " / ".join(f"{median(t['tuning_s'] for t in tuned[kind]):.0f}" for kind in (QUIET, BUSY)),
        *(f"{ours[kind]:.3f}" for kind in (QUIET, BUSY)),
        f"{ratio:.3f}",
        str(low),
        *(" / ".join(_middle(tuned[kind], key) for kind in (QUIET, BUSY)) for key in ("rejected_samples", "busy")),
    ]
    return cells, ratio <= MOST and not low


def _middle(tuned: Sequence[Mapping[str, Any]], key: str) -> str:
    """The median of what the tunings say, where they say it."""
    said = [t[key] for t in tuned if t.get(key) is not None]
    return f"{median(said):.3g}" if said else "–"


HEAD = [
    "model",
    "tuning s, quiet / busy",
    "ms, tuned quiet",
    "ms, tuned busy",
    f"ratio (at most {MOST})",
    "steps below physics (0)",
    "rejected samples, quiet / busy",
    "busy, quiet / busy",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--models", type=Path, required=True, help="where export.py wrote the ONNX files")
    parser.add_argument("--tunings", type=int, default=3, help="of each model, alone and as many beside compilers")
    parser.add_argument("--time-budget", type=float, help="seconds of tuning")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("-o", "--output", type=Path, required=True, help="the file of the figures")
    options = parser.parse_args()
    results = Results(options.output)
    for name in options.names:
        measure(options.models / f"{name}.onnx", results, options)
    best, rows, reached = best_rates(results, options.threads), list[list[str]](), True
    for name in options.names:
        low = list[str]()
        for kind in (QUIET, BUSY):
            for number in range(1, options.tunings + 1):
                with korch.load(results.archive(f"{name}-{kind}-{number}"), runs=False) as program:
                    low += [f"{name}, {kind} {number}: {text}" for text in impossible(program.plan.steps, best)]
        print(*low, sep="\n", end="\n" if low else "", file=sys.stderr)
        cells, good = row(name, results.known, len(low))
        rows.append(cells)
        reached &= good
    print(markdown([HEAD, *rows]))
    sys.exit(not reached)


if __name__ == "__main__":
    main()
