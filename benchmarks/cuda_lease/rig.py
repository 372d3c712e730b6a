"""The machine that the commands run on: one with a GPU. Tests have one that only looks like it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from cuda_lease.work import Commands, archive_of, compare, exported, replayed, tune
from korch.profile.cuda.installed import Installed, installed
from korch.profile.cuda.profiler import DeviceProfiler
from korch.profile.database import Database
from korch.report.bench import feeds_of
from korch.report.runtime_process import RuntimeFailed, RuntimeProcess
from korch.system.processor import processors
from page import HERE

CLOCKS = ("timestamp", "clocks.sm", "clocks.mem", "temperature.gpu", "power.draw")
LOADING = 60.0
"""Seconds that a peer may take to load its compiled model."""


class Rig(Protocol):
    """The machine as the stages see it. Work in other processes ends after `limit` seconds."""

    @property
    def board(self) -> Installed: ...

    @property
    def processes(self) -> int:
        """That may work at a time."""
        ...

    def profiler(self, database: Database) -> DeviceProfiler: ...

    def tests(self, limit: float) -> str:
        """The output of the tests that need a GPU."""
        ...

    def tune(self, name: str, out: Path, numerics: str, seconds: float, limit: float) -> Mapping[str, Any]:
        """Optimises a workload and runs 100 replays: the figures of both."""
        ...

    def warm(self, peer: str, command: Sequence[str], name: str, out: Path, limit: float) -> str:
        """Has a peer compile the workload and keep the result on disk: the reason of a failure, or nothing."""
        ...

    def race(self, name: str, out: Path, numerics: str, peers: Commands) -> Mapping[str, Any]:
        """Our program of these numerics beside peers, in one race."""
        ...

    def clocks(self, file: Path) -> subprocess.Popen[bytes] | None:
        """Starts a log of the GPU's clocks."""
        ...


class Gpu:
    """The first GPU of this machine."""

    def __init__(self) -> None:
        found = installed()
        if not found:
            raise SystemExit("error: there is no NVIDIA GPU here; `python benchmarks/cuda.py lease` shows the plan")
        self.board = found[0]
        self.processes = processors()

    def profiler(self, database: Database) -> DeviceProfiler:
        return DeviceProfiler([self.board], database)

    def tests(self, limit: float) -> str:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-m",
            "cuda",
            "-q",
            "-p",
            "no:cacheprovider",
            str(HERE.parent / "tests"),
        ]
        return printed(command, limit, HERE.parent)

    def tune(self, name: str, out: Path, numerics: str, seconds: float, limit: float) -> Mapping[str, Any]:
        found = tune(name, out, seconds, numerics, limit)
        return found if "failed" in found else found | {"replays": replayed(archive_of(out, name, numerics))}

    def warm(self, peer: str, command: Sequence[str], name: str, out: Path, limit: float) -> str:
        feeds = feeds_of(exported(name, out))
        with tempfile.TemporaryDirectory() as folder:
            files = {n: str(Path(folder) / f"{i}.npy") for i, n in enumerate(feeds)}
            for n, x in feeds.items():
                np.save(files[n], x)
            with RuntimeProcess(peer, command, self.processes) as process:
                try:
                    subject = {"onnx": str(exported(name, out).resolve()), "korch": ""}
                    process.ask("load", limit=limit, subject=subject, inputs=files)
                except RuntimeFailed as why:
                    process.close(patience=0)
                    return str(why)
        return ""

    def race(self, name: str, out: Path, numerics: str, peers: Commands) -> Mapping[str, Any]:
        return compare(out, name, numerics, peers, LOADING)

    def clocks(self, file: Path) -> subprocess.Popen[bytes] | None:
        command = ["nvidia-smi", f"--query-gpu={','.join(CLOCKS)}", "--format=csv,noheader", "--loop-ms=1000"]
        try:
            return subprocess.Popen(command, stdout=file.open("ab"), stderr=subprocess.DEVNULL)
        except OSError:
            return None


def printed(command: Sequence[str], limit: float, folder: Path) -> str:
    """The output of a command, as much of it as there is after `limit` seconds."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder, timeout=limit)
        return done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as e:
        return f"{(e.stdout or b'').decode(errors='replace')}\nended after {limit:.0f} s\n"
