"""The costs of a session beside onnxruntime's: its start, calls before, while and after programs are made, memory.

    python benchmarks/sessions.py MODEL --shape NAME=1,128,384 [--threads 2] [--time-budget 30]

Starts are medians of five processes each. Calls are medians; before and after, both sessions answer in turn. Memory is
what a process holds after a minute of serving one shape, each session in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

START = """
import time, sys
{imports}
begin = time.perf_counter()
session = {make}
print(time.perf_counter() - begin)
"""
HOLD = """
import sys, time
import numpy as np
{imports}
session = {make}
feeds = {{name: np.random.default_rng(0).standard_normal(shape).astype(np.float32) for name, shape in {shapes}.items()}}
end = time.monotonic() + {seconds}
while time.monotonic() < end:
    session.run(None, feeds)
    time.sleep(0.01)
time.sleep(0.5)
print(next(line for line in open("/proc/self/status") if line.startswith("VmRSS")).split()[1])
"""
REST = 0.05
"""Seconds between blocks: onnxruntime's threads spin for some 30 ms after a call."""
OURS, THEIRS = "import korch, onnxruntime", "import onnxruntime"


def answer(code: str, environment: dict[str, str] | None = None) -> float:
    """The number that a process prints."""
    import os

    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **(environment or {})},
    )
    return float(done.stdout.split()[-1])


def in_turn(runs: list[Callable[[], Any]], seconds: float) -> list[float]:
    """Milliseconds of each, medians of blocks that alternate. Threads that spin after a block have gone to sleep by the
    next."""
    times: list[list[float]] = [[] for _ in runs]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for run, own in zip(runs, times, strict=True):
            run()
            for _ in range(10):
                begin = time.perf_counter()
                run()
                own.append((time.perf_counter() - begin) * 1e3)
            time.sleep(REST)
    return [median(own) for own in times]


def while_tuning(session: Any, feeds: dict[str, np.ndarray]) -> list[float]:
    """Milliseconds of calls until the program is there."""
    times: list[float] = []
    while True:
        begin = time.perf_counter()
        session.run(None, feeds)
        times.append((time.perf_counter() - begin) * 1e3)
        (status,) = session.status().specialisations or (None,)
        if status and status.state in ("ready", "tried", "rejected", "failed"):
            return times[len(times) // 10 :]
        time.sleep(0.005)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--shape", action="append", required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--time-budget", type=float, default=30.0)
    arguments = parser.parse_args()
    import onnxruntime

    import korch

    shapes = {t.split("=")[0]: tuple(map(int, t.split("=")[1].split(","))) for t in arguments.shape}
    feeds = {n: np.random.default_rng(0).standard_normal(s).astype(np.float32) for n, s in shapes.items()}
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = arguments.threads
    model = str(arguments.model)
    threads = f"threads={arguments.threads}, time_budget={arguments.time_budget}"
    ours, theirs = f"korch.InferenceSession({model!r}, {threads})", f"onnxruntime.InferenceSession({model!r})"
    result: dict[str, Any] = {"model": arguments.model.stem}
    result["start_s"] = [
        median(answer(START.format(imports=i, make=m)) for _ in range(5)) for i, m in ((THEIRS, theirs), (OURS, ours))
    ]
    with tempfile.TemporaryDirectory() as folder:
        import os

        os.environ["KORCH_CACHE_DIR"] = folder
        other = onnxruntime.InferenceSession(model, options)
        off = korch.InferenceSession(model, options, tune="off")
        result["before_ms"] = in_turn([lambda: other.run(None, feeds), lambda: off.run(None, feeds)], 5)
        session = korch.InferenceSession(model, options, time_budget=arguments.time_budget)
        begin = time.monotonic()
        tuning = while_tuning(session, feeds)
        result["tuning_s"] = time.monotonic() - begin
        result["while_ms"] = [result["before_ms"][0], median(tuning)]
        (status,) = session.status().specialisations
        result["state"] = status.state
        for _ in range(40):
            session.run(None, feeds)
        if archive := session.status().specialisations[0].archive:
            with korch.load(archive) as program:
                runs = [lambda: other.run(None, feeds), lambda: session.run(None, feeds), lambda: program.run(feeds)]
                result["after_ms"] = in_turn(runs, 8)
        hold = {"shapes": repr(shapes), "seconds": 60}
        alone = f"korch.load({archive!r}).run" if archive else ""
        makers = [(THEIRS, f"onnxruntime.InferenceSession({model!r})"), (OURS, ours)]
        result["memory_mb"] = [answer(HOLD.format(imports=i, make=m, **hold)) / 1024 for i, m in makers]
        if alone:
            program = f"type('P', (), {{'run': lambda self, names, feeds, p=korch.load({archive!r}): p.run(feeds)}})()"
            result["memory_mb"].append(answer(HOLD.format(imports="import korch", make=program, **hold)) / 1024)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
