"""A machine that only looks like one with a GPU, for the commands of a lease: sixteen processes, all work is waiting.

As a script, `python fake_rig.py OUT STAGE SECONDS PACE [MOST]`: one command. `PACE` is the part of the time of a GPU
that things take here.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from korch.backends.cuda.triton.compile import CompiledLaunch
from korch.profile.cuda.installed import Installed
from korch.profile.cuda.pipeline import Pipeline
from korch.profile.cuda.profiler import DeviceProfiler
from korch.profile.cuda.tasks import BoardRates, Compile, MeasureRates
from korch.profile.database import Database
from korch.profile.results import Measurement

H200 = Installed(0, "NVIDIA H200", 90, 132, 227 << 10, 50 << 20, 1.98e9, 4.8e12, "580.1")
RATES = BoardRates((("ieee", 5e13), ("tf32", 4e14), ("fp16", 8e14)), ((2048, 2e-6), (1 << 29, 1.5e-4)), 1.2e-6)
COMPILING, MEASURING, WARMING, RACING = 2.0, 0.1, 100.0, 15.0
"""Seconds on a true machine: of compiling a kernel and of measuring one, of a peer that compiles, and of a race."""


@dataclass
class Process:
    """Answers after a while."""

    answer: Callable[[Any], object]

    def ask(self, task: object) -> Any:
        return self.answer(task)

    def interrupt(self) -> None: ...

    def close(self) -> None: ...


@dataclass
class FakeRig:
    """`pace`: see above. `fails`: peers that cannot compile."""

    pace: float
    fails: Sequence[str] = ()
    board: Installed = H200
    processes: int = 16

    def profiler(self, database: Database) -> DeviceProfiler:
        compilers, boards = [Process(self._compile)] * 10, [Process(self._measure)] * 6
        return DeviceProfiler([self.board], database, pipeline=Pipeline(compilers, boards, 90))

    def _compile(self, task: Compile) -> tuple[CompiledLaunch, ...]:
        time.sleep(self.pace * COMPILING)
        return (CompiledLaunch("f", b"cubin", "f", 0, 4, 4),) * len(task.kernel.launches)

    def _measure(self, task: object) -> object:
        time.sleep(self.pace * MEASURING)
        return RATES if isinstance(task, MeasureRates) else Measurement(5e-6)

    def tests(self, limit: float) -> str:
        time.sleep(min(self.pace * 60, limit))
        return "12 passed"

    def tune(self, name: str, out: Path, numerics: str, seconds: float, limit: float) -> Mapping[str, Any]:
        time.sleep(min(1.3 * seconds, limit))
        (out / f"{name}.{numerics}.korch").touch()
        return {
            "predicted_ms": 1.0,
            "actual_ms": 1.1,
            "gap": 0.2,
            "kernels": 40,
            "tuning_s": seconds,
            "error": 1e-4,
            "replays": "",
        }

    def warm(self, peer: str, command: Sequence[str], name: str, out: Path, limit: float) -> str:
        time.sleep(min(self.pace * WARMING, limit))
        if peer in self.fails:
            return "out of memory"
        return "" if self.pace * WARMING <= limit else f"no answer within {limit:.0f} s"

    def race(self, name: str, out: Path, numerics: str, peers: Mapping[str, Sequence[str]]) -> Mapping[str, Any]:
        time.sleep(self.pace * RACING)
        times = {"korch": 1.0} | {peer: 2.0 + i for i, peer in enumerate(peers)}
        runtimes = {n: {"median_ms": ms, "min_ms": ms} for n, ms in times.items()}
        return {
            "runtimes": runtimes,
            "skipped": {},
            "best_peer": next(iter(peers)),
            "speedup_vs_best_peer": 2.0,
            "errors": dict.fromkeys(times, 1e-3),
        }

    def clocks(self, file: Path) -> None:
        return None


if __name__ == "__main__":
    from cuda_lease.stages import STAGES

    out, stage, seconds, pace, *most = sys.argv[1:]
    STAGES[stage](FakeRig(float(pace)), Path(out), float(seconds), *map(int, most))
