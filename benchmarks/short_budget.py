"""Fails where half a minute of tuning makes much slower programs than the full search.

    python benchmarks/short_budget.py [NAMES] --models DIR [--seconds 30] [--rounds 10] [-o results.json]

Each model is tuned without a limit and with `--time-budget 30`, both from an empty cache, and both programs run side by
side. Entries of the results file are not measured again. Exit status 1 where the short search's program has less than
0.95 of the full one's speed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from page import WORKLOADS, markdown
from racing import Results, side_by_side, tune

LEAST = 0.95
"""Speed of the program of the short search, of the full one's: at least."""
HEAD = ["model", "tuning s, full / short", "ms, full", "ms, short", f"speed (at least {LEAST})"]


def measure(model: Path, results: Results, options: argparse.Namespace) -> None:
    """Adds what the results do not hold."""
    budgets = {"full": (), "short": ("--time-budget", str(options.seconds))}
    archives = {name: results.archive(f"{model.stem}-{name}") for name in budgets}
    for name, budget in budgets.items():
        key = f"{model.stem}: {name}"
        if key not in results.known or not archives[name].exists():
            told = tune(model, archives[name], "--threads", str(options.threads), *budget)
            results.known.pop(f"{model.stem}: race", None)  # without this program
            results.add(key, told)
    if f"{model.stem}: race" not in results.known:
        results.add(f"{model.stem}: race", side_by_side(model, archives, options.threads, options.rounds))


def row(name: str, known: Mapping[str, Any]) -> tuple[list[str], bool]:
    """A line of the table, and whether it reaches the target."""
    race = known[f"{name}: race"]
    speed = race["full"] / race["short"]
    seconds = " / ".join(f"{known[f'{name}: {kind}']['tuning_s']:.0f}" for kind in ("full", "short"))
    return [name, seconds, f"{race['full']:.3f}", f"{race['short']:.3f}", f"{speed:.3f}"], speed >= LEAST


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=WORKLOADS)
    parser.add_argument("--models", type=Path, required=True, help="where export.py wrote the ONNX files")
    parser.add_argument("--seconds", type=float, default=30.0, help="of the short search")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("-o", "--output", type=Path, default=Path("short_budget.json"), help="the file of the figures")
    options = parser.parse_args()
    results = Results(options.output)
    for name in options.names:
        measure(options.models / f"{name}.onnx", results, options)
    rows = [row(name, results.known) for name in options.names]
    print(markdown([HEAD, *(cells for cells, _ in rows)]))
    sys.exit(not all(reached for _, reached in rows))


if __name__ == "__main__":
    main()
