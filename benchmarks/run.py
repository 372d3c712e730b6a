"""Optimises, verifies and times the workloads, and writes the raw figures and the table.

    python benchmarks/run.py [NAMES] --models DIR [--machine here] [--threads 2] [--peers-python PYTHON]
                             [--keep DIR [--again]]

Raw figures go to `benchmarks/results/MACHINE/NAME.json`, of one thread to its folder `1-thread`, of models that nothing
was tuned for to `unseen`; the tables of RESULTS.md for the machines that it knows are made of all that lie there.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

from page import HERE, WORKLOADS, markdown, put

RESULTS = HERE / "results"
UNSEEN = ("encoder", "mobilenet", "unet", "tcn", "resnet", "convnext", "decoder", "video", "recognizer", "context")
MACHINES = ("zen-5", "granite-rapids", "emerald-rapids", "zen-4", "zen-3", "cascade-lake")
"""Those that RESULTS.md has tables of."""
FOLDERS = {"two threads": "", "one thread": "1-thread", "unseen": "unseen"}
"""Of a machine's figures, by the table that is made of them."""


def results(name: str, options: argparse.Namespace) -> Path:
    """The folder of a model's figures."""
    kind = "unseen" if name in UNSEEN else "one thread" if options.threads == 1 else "two threads"
    return RESULTS / options.machine / FOLDERS[kind]


def korch(*arguments: str, cache: str) -> Any:
    """The JSON that a command of Korch prints; its errors go to the terminal. Exit 1 of `verify` is an answer."""
    command = [sys.executable, "-m", "korch.cli", *arguments, "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"KORCH_CACHE_DIR": cache})
    if done.returncode > 1 or not done.stdout:
        raise SystemExit(done.returncode)
    return json.loads(done.stdout)


def measure(model: Path, options: argparse.Namespace) -> dict[str, Any]:
    """All figures of one workload, in the order in which a user would ask for them, from an empty cache."""
    threads = ("--threads", str(options.threads))
    with tempfile.TemporaryDirectory() as folder:
        cache, archive = str(Path(folder) / "cache"), str(Path(folder) / "model.korch")
        limits = (*threads, *(("--time-budget", str(options.time_budget)) if options.time_budget else ()))
        tuned = korch("optimize", str(model), "-o", archive, *limits, cache=cache)
        again = korch("optimize", str(model), "-o", archive, *limits, cache=cache)
        verified = korch("verify", archive, str(model), cache=cache)
        explained = korch("explain", archive, cache=cache)
        timed = timed_beside_peers(model, Path(archive), options, cache)
        equal = same_bits(archive)
        if options.keep:
            kept = options.keep / f"{model.stem}.cache"
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(cache, kept)
            shutil.copy(archive, options.keep / f"{model.stem}.korch")
    for told in (tuned, again):  # names, not paths of this machine
        told |= {"model": model.stem, "output": f"{model.stem}.korch"}
    return {
        "model": model.stem,
        "optimize": tuned,
        "again": again,
        "verify": verified,
        "bench": timed,
        "multiply_adds": explained["multiply_adds"],
        "same_bits": equal,
    }


def timed_beside_peers(model: Path, archive: Path, options: argparse.Namespace, cache: str) -> Any:
    peers = ("--torch-models", str(HERE / "models"), "--python", options.peers_python)
    counts = ("--threads", str(options.threads), "--rounds", str(options.rounds))
    return korch("bench", str(model), "--korch", str(archive), *counts, *peers, cache=cache)


def measure_again(model: Path, options: argparse.Namespace) -> dict[str, Any]:
    """The figures that there are, the times of the kept archive beside its peers measured anew."""
    known = json.loads((results(model.stem, options) / f"{model.stem}.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        return known | {"bench": timed_beside_peers(model, options.keep / f"{model.stem}.korch", options, folder)}


TWICE = """
import sys, korch, numpy
exe = korch.load(sys.argv[1])
feeds = {i.name: numpy.random.default_rng(0).standard_normal(i.shape).astype(i.dtype) for i in exe.inputs}
for y in exe.run(feeds).values():
    print(y.tobytes().hex()[:4096], hash(y.tobytes()))
"""


def same_bits(archive: str) -> bool:
    """Whether two processes get the same bits from the same input."""
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    told = [subprocess.check_output([sys.executable, "-c", TWICE, archive], env=environment) for _ in range(2)]
    return told[0] == told[1]


def table(names: Sequence[str], folder: Path) -> str:
    """The figures of all workloads in the folder, as Markdown."""
    head = [
        "workload",
        "korch",
        "onnxruntime",
        "OpenVINO",
        "torch.compile",
        "speedup",
        "predicted / actual",
        "of peak",
        "gap",
        "solver s",
        "tuning s (warm)",
        "kernels",
        "measured / distinct",
        "multiply-adds, G",
        "error / onnxruntime's",
    ]
    files = [folder / f"{n}.json" for n in names]
    return markdown([head, *(row(json.loads(f.read_text())) for f in files if f.exists())])


def put_tables() -> None:
    put("speedups", speedups())
    for machine, (kind, folder) in product(MACHINES, FOLDERS.items()):
        if (RESULTS / machine / folder).exists():
            put(f"{machine}, {kind}", table(UNSEEN if kind == "unseen" else WORKLOADS, RESULTS / machine / folder))


def speedups() -> str:
    """Over the best peer, of every machine, as Markdown."""

    def of(file: Path) -> str:
        return f"{json.loads(file.read_text())['bench']['speedup_vs_best_peer']:.2f}" if file.exists() else "–"

    rows = [["speedup over the best peer", *WORKLOADS]]
    for machine, kind in product(MACHINES, ("two threads", "one thread")):
        folder = RESULTS / machine / FOLDERS[kind]
        rows.append([f"{machine}, {kind}", *(of(folder / f"{n}.json") for n in WORKLOADS)])
    return markdown(rows)


def row(r: dict[str, Any]) -> list[str]:
    runtimes, tuned = r["bench"]["runtimes"], r["optimize"]
    shown = ("korch", "onnxruntime", "openvino", "torch")
    times = [f"{runtimes[n]['median_ms']:.2f}" if n in runtimes else "–" for n in shown]
    ratio = max((o["ratio"] for o in r["verify"]["outputs"] if o.get("ratio") is not None), default=float("nan"))
    return [
        r["model"],
        *times,
        f"**{r['bench']['speedup_vs_best_peer']:.2f}**",
        f"{tuned['predicted_ms']:.2f} / {tuned['actual_ms']:.2f}",
        of_peak(r),
        f"{tuned['gap']:.2g}",
        f"{tuned['solver_s']:.0f}",
        f"{tuned['tuning_s']:.0f} ({r['again']['tuning_s']:.0f})",
        str(tuned["kernels"]),
        f"{tuned['measured']} / {tuned['distinct']}",
        " / ".join(f"{r['multiply_adds'][k] / 1e9:.2f}" for k in ("as_written", "chosen", "executed")),
        f"{ratio:.2f}",
    ]


def of_peak(r: dict[str, Any]) -> str:
    """Time that the executed multiply-adds take at the rate they had beside the runs, over what a run takes."""
    ours, rate = r["bench"]["runtimes"]["korch"]["median_ms"], r["bench"]["peak_gflops"]
    return f"{2e-6 * r['multiply_adds']['executed'] / rate / ours:.2f}" if rate else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=WORKLOADS)
    parser.add_argument("--models", type=Path, required=True, help="where export.py wrote the ONNX files")
    parser.add_argument("--machine", default="here", help="the folder of its figures")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--time-budget", type=float, help="seconds of tuning")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--peers-python", default=sys.executable, help="the interpreter that has the other runtimes")
    parser.add_argument("--keep", type=Path, help="a folder for the archives and what was measured")
    parser.add_argument("--again", action="store_true", help="only time the archives in --keep again")
    options = parser.parse_args()
    for name in options.names:
        result = (measure_again if options.again else measure)(options.models / f"{name}.onnx", options)
        folder = results(name, options)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
        print(table([name], folder), file=sys.stderr, flush=True)
        put_tables()


if __name__ == "__main__":
    main()
