"""Fails where a call that fails costs more than the run: each write, rename, fsync, fork, mmap, thread and statement.

    python benchmarks/faults.py [--only SCENARIO ...] [--first] [--jobs 2] [-o faults.json]

Each scenario of `injection/scenarios.py` runs once to list its calls, and again for each of them, for each error that
it may have, once and from then on. The run must go on with right results, or end with one line of a `korch.Error`;
leave no process, folder or half-written file; and the next run over the same cache must be whole. `--first` takes the
first call of each site only, that is of each stack of Korch's functions, and one error.

Needs Linux and a C compiler.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

HERE = Path(__file__).parent / "injection"
SHIM = "KORCH_FAULTS_SHIM"


def preloaded(arguments: Sequence[str]) -> int:
    """The exit status of this script with the shim preloaded."""
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        shim = Path(folder) / "shim.so"
        compiler = os.environ.get("CC", "cc").split()
        subprocess.run([*compiler, "-O2", "-shared", "-fPIC", "-o", shim, HERE / "shim.c", "-ldl"], check=True)
        paths = os.pathsep.join(filter(None, (str(HERE), os.environ.get("PYTHONPATH"))))
        own = {SHIM: str(shim), "LD_PRELOAD": str(shim), "PYTHONPATH": paths, "TMPDIR": folder}
        own |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run([sys.executable, __file__, *arguments], env={**os.environ, **own}).returncode


def injected(runs: Any, name: str, first: bool, most: int, jobs: int) -> dict[str, Any]:
    """The counts and losses of one scenario."""
    from injection.runs import faults_of

    sites = runs.calls(name)
    faults = faults_of(name, sites, not first)
    faults = faults[:: max(len(faults) // most, 1)] if most else faults
    ended, losses, begun = [], [], time.monotonic()
    for e in track(runs.all(faults, jobs), name, total=len(faults), console=Console(stderr=True)):
        ended.append(e)
        if e.losses:
            losses.append({**asdict(e), "text": str(e.fault)})
            print(f"\nLOSS {e.fault}\n  " + "\n  ".join("\n".join(e.losses).splitlines()), flush=True)
    return {
        "sites": len(sites),
        "calls": sites.total(),
        "faults": len(faults),
        "fired": sum(e.fired for e in ended),
        "went_on": sum(e.fired and e.outcome == "ok" for e in ended),
        "errors": sorted({e.outcome for e in ended if e.outcome not in ("ok", "")}),
        "seconds": round(time.monotonic() - begun, 1),
        "losses": losses,
    }


def table(results: dict[str, Any]) -> str:
    columns = ("sites", "calls", "faults", "fired", "went_on")
    lines = [f"| scenario | {' | '.join(columns)} | losses |", f"|---|{'---:|' * (len(columns) + 1)}"]
    for name, r in results.items():
        lines.append(f"| {name} | {' | '.join(str(r[c]) for c in columns)} | {len(r['losses'])} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="scenarios")
    parser.add_argument("--first", action="store_true", help="the first call of each site, one error")
    parser.add_argument("--most", type=int, default=0, help="of each scenario, about so many faults")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    if SHIM not in os.environ:
        return preloaded(sys.argv[1:])
    from injection.runs import Runs
    from injection.scenarios import SCENARIOS

    folder = Path(tempfile.mkdtemp(prefix="runs-")).resolve()
    runs, results = Runs(folder), dict[str, Any]()
    for name in arguments.only or SCENARIOS:
        results[name] = injected(runs, name, arguments.first, arguments.most, arguments.jobs)
        if arguments.output:
            arguments.output.write_text(json.dumps(results, indent=1) + "\n")
    left = runs.guardians()
    print("\n".join(filter(None, (table(results), left))))
    shutil.rmtree(folder, ignore_errors=True)
    return int(bool(left) or any(r["losses"] for r in results.values()))


if __name__ == "__main__":
    sys.exit(main())
