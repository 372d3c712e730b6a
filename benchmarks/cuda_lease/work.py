"""Work on a machine with a GPU: models are exported, programs tuned, replayed and compared with peers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from page import HERE

Commands = Mapping[str, Sequence[str]]
ROUNDS, TOGETHER = 6, 8
"""Of a race, and how many peers load side by side."""


_EXPORTING = Lock()


def exported(name: str, out: Path) -> Path:
    """The raw ONNX file of a workload, written where it is missing, by one thread at a time."""
    path = out / f"{name}.onnx"
    with _EXPORTING:
        if not path.exists():
            from export import export
            from models import workloads

            export(workloads()[name], out)
    return path


def archive_of(out: Path, name: str, numerics: str) -> Path:
    """Our program of a workload."""
    return out / f"{name}.{numerics}.korch"


def tune(name: str, out: Path, seconds: float, numerics: str = "fast", limit: float | None = None) -> dict[str, Any]:
    """Optimises a workload: the figures that the command prints, or the reason why there is no program."""
    model, archive = exported(name, out), archive_of(out, name, numerics)
    command = [
        sys.executable,
        "-m",
        "korch.cli",
        "optimize",
        str(model),
        "-o",
        str(archive),
        "--target",
        "cuda",
        "--numerics",
        numerics,
        "--time-budget",
        str(seconds),
        "--json",
    ]
    environment = os.environ | {"KORCH_CACHE_DIR": str(out / "cuda.cache")}
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"failed": f"no program after {limit:.0f} s"}
    if done.returncode > 1 or not done.stdout:  # a program that errs too much is one
        return {"failed": done.stderr.strip().splitlines()[-1:] or f"exit status {done.returncode}"}
    return json.loads(done.stdout) | {"model": name, "output": archive.name}


def replayed(archive: Path) -> str:
    """The first difference among 100 replays of two inputs; empty where all bits are the same."""
    from korch.executable import load
    from korch.executable.cuda.replays import changed_bits
    from korch.executable.feeds import random_feeds

    with load(archive) as program:
        one = random_feeds(program.plan.graph)
        return changed_bits(program, one, {name: x * x.dtype.type(0.5) for name, x in one.items()})


def compare(out: Path, name: str, numerics: str, peers: Commands, loading: float = 900.0) -> dict[str, Any]:
    """The program of a workload beside its peers, under CUDA graphs, each in a process of its own."""
    import onnx

    from korch.report.bench import feeds_of, race
    from korch.report.peers import Subject
    from korch.system.processor import processors

    model = exported(name, out)
    outputs = tuple(o.name for o in onnx.load(model, load_external_data=False).graph.output)
    subject = Subject(model, outputs, archive_of(out, name, numerics))
    reference = [sys.executable, "-m", "korch.report.serving", "reference"]
    commands = {"reference": reference, "korch": [sys.executable, "-m", "cuda_peers.serving", "korch"], **peers}
    with peers_keep_their_work(out):
        return race(
            commands,
            subject,
            feeds_of(model),
            threads=processors(),
            rounds=ROUNDS,
            say=print,
            together=TOGETHER,
            load_limit=loading,
        )


@contextmanager
def peers_keep_their_work(out: Path) -> Iterator[None]:
    """In the block, processes find `cuda_peers`, and compilers keep their results on disk."""
    path = os.pathsep.join(filter(None, (str(HERE), os.environ.get("PYTHONPATH"))))
    more = {
        "PYTHONPATH": path,
        "TORCHINDUCTOR_CACHE_DIR": str(out / "inductor"),
        "TORCHINDUCTOR_COMPILE_THREADS": "4",
        "JAX_COMPILATION_CACHE_DIR": str(out / "xla"),
    }
    before = {name: os.environ.get(name) for name in more}
    os.environ.update(more)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
