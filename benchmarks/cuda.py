"""All that a machine with an NVIDIA GPU can say, in one go; each part is one command, and fits a lease of ten minutes.

    python benchmarks/cuda.py check                     every backend's kernels on the device against float64
    python benchmarks/cuda.py tune NAMES --seconds 240  programs, from an empty cache or the one in OUT
    python benchmarks/cuda.py compare NAMES             them beside torch eager, torch.compile and XLA, in one run
    python benchmarks/cuda.py all [NAMES]

All take `-o OUT`, where models, archives, figures (NAME.json, check.txt) and the profile database (cuda.cache) are
left; the database carries over to the next machine of the kind. TF32 is on in every runtime, all run under CUDA graphs,
each in a process of its own, blocks alternate. Nothing is fetched; where the machine has no HiGHS, its wheel
must be brought along, for `check` PuLP's and safetensors' too, and `pip install --no-index --no-deps
--no-build-isolation .` makes korch known.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from page import HERE, WORKLOADS, markdown

PEERS = ("torch", "torch.compile", "xla")
LIMIT = 240.0
"""Seconds of tuning a workload."""


def exported(name: str, out: Path) -> Path:
    """The raw ONNX file of a workload, written where it is missing."""
    from export import export
    from models import workloads

    path = out / f"{name}.onnx"
    return path if path.exists() else export(workloads()[name], out)


def check(out: Path) -> int:
    """Runs the tests that need a GPU; their exit status."""
    command = [sys.executable, "-m", "pytest", "-m", "cuda", "-q", "-p", "no:cacheprovider", str(HERE.parent / "tests")]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=HERE.parent)
    (out / "check.txt").write_text(done.stdout)
    print(done.stdout[-3000:])
    return done.returncode


def tune(name: str, out: Path, seconds: float) -> dict[str, Any]:
    """Optimises a workload; what the command says of it."""
    model, archive = exported(name, out), out / f"{name}.korch"
    command = [sys.executable, "-m", "korch.cli", "optimize", str(model), "-o", str(archive), "--target", "cuda",
               "--numerics", "fast", "--time-budget", str(seconds), "--json"]  # fmt: skip
    environment = os.environ | {"KORCH_CACHE_DIR": str(out / "cuda.cache")}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment)
    if done.returncode > 1 or not done.stdout:  # a program that errs too much is one
        raise SystemExit(done.returncode)
    told = json.loads(done.stdout) | {"model": name, "output": f"{name}.korch"}
    (out / f"{name}.tuned.json").write_text(json.dumps(told, indent=1))
    return told


def compare(name: str, out: Path, rounds: int) -> dict[str, Any]:
    """The archive of a workload beside its peers."""
    import onnx

    from korch.report.bench import feeds_of, race
    from korch.report.peers import Subject
    from korch.system.processor import processors

    model = onnx.load(exported(name, out), load_external_data=False)
    subject = Subject(out / f"{name}.onnx", tuple(o.name for o in model.graph.output), out / f"{name}.korch")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(HERE), os.environ.get("PYTHONPATH"))))
    commands = {n: [sys.executable, "-m", "cuda_peers.serving", n] for n in ("korch", *PEERS)}
    commands["reference"] = [sys.executable, "-m", "korch.report.serving", "reference"]
    told = race(commands, subject, feeds_of(subject.onnx), threads=processors(), rounds=rounds, say=print)
    tuned = out / f"{name}.tuned.json"
    figures = {"bench": told, "optimize": json.loads(tuned.read_text()) if tuned.exists() else None}
    (out / f"{name}.json").write_text(json.dumps(figures, indent=1))
    return told


def table(out: Path) -> str:
    """What OUT knows of the workloads, as Markdown."""
    files = [out / f"{name}.json" for name in WORKLOADS]
    head = ["workload", "korch ms", *PEERS, "speedup", "predicted ms", "gap", "tuning s", "kernels"]
    return markdown([head, *(_row(json.loads(f.read_text())) for f in files if f.exists())])


def _row(figures: dict[str, Any]) -> list[str]:
    bench, tuned = figures["bench"], figures["optimize"] or {}
    times = [f"{bench['runtimes'][n]['median_ms']:.3f}" if n in bench["runtimes"] else "–" for n in ("korch", *PEERS)]
    known = [f"{tuned[k]:.3g}" if k in tuned else "–" for k in ("predicted_ms", "gap", "tuning_s", "kernels")]
    return [bench["model"], *times, f"**{bench['speedup_vs_best_peer'] or 0:.2f}**", *known]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("check", "tune", "compare", "all"))
    parser.add_argument("names", nargs="*", default=WORKLOADS, metavar="NAME")
    parser.add_argument("-o", "--output", type=Path, default=Path("cuda-out"), metavar="OUT")
    parser.add_argument("--seconds", type=float, default=LIMIT, help="of tuning a workload")
    parser.add_argument("--rounds", type=int, default=6)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    if unknown := sorted(set(options.names) - set(WORKLOADS)):
        parser.error(f"no workload named {', '.join(unknown)}; there are {', '.join(WORKLOADS)}")
    failed = check(options.output) if options.part in ("check", "all") else 0
    for name in options.names if options.part != "check" else ():
        if options.part in ("tune", "all"):
            tune(name, options.output, options.seconds)
        if options.part in ("compare", "all"):
            compare(name, options.output, options.rounds)
    print(table(options.output))
    return failed


if __name__ == "__main__":
    sys.exit(main())
