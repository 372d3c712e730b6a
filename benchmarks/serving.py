"""Fails where a session that serves random shapes from several threads errs, answers wrongly, or grows.

    python benchmarks/serving.py MODEL --input NAME=1,3,{32..256:32},224 [--threads 8] [--seconds 3600] [-o FILE]

Lengths in braces are drawn at random: `{8..256}` or with a step, `{32..256:32}`. Every hundredth answer is compared
with onnxruntime's own. The first quarter of the time is warm-up. Memory is flat if its median in the last quarter is at
most a tenth over that in the second one: while a program is made and judged, it holds more for some seconds, and the
peak is given beside.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress

import korch
from korch.system.sessions import dtype_of, inference_session

COMPARED, GROWTH = 100, 0.1
TOLERANCE = 1e-3
"""Of an output's largest magnitude: ten times what default numerics allow against float64, as both sides err."""
_RANGE = re.compile(r"\{(\d+)\.\.(\d+)(?::(\d+))?\}")


def resident() -> float:
    """Megabytes of this process that are in memory."""
    line = next(x for x in Path("/proc/self/status").read_text().splitlines() if x.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def drawn(text: str, rng: random.Random) -> tuple[int, ...]:
    """A shape of the pattern."""

    def length(part: str) -> int:
        if found := _RANGE.fullmatch(part):
            first, last, step = int(found[1]), int(found[2]), int(found[3] or 1)
            return rng.randrange(first, last + 1, step)
        return int(part)

    return tuple(map(length, text.split(",")))


class Client(threading.Thread):
    """Calls the session with random shapes until `end`, compares, and counts."""

    def __init__(self, session: Any, other: Any, patterns: dict[str, str], end: float, seed: int) -> None:
        super().__init__()
        self._session, self._other, self._patterns, self._end = session, other, patterns, end
        self._rng, self._arrays = random.Random(seed), np.random.default_rng(seed)
        self.calls = self.compared = self.wrong = 0
        self.errors: list[str] = []

    def run(self) -> None:
        kinds = {a.name: dtype_of(a.type) for a in self._session.get_inputs()}
        while time.monotonic() < self._end:
            shapes = {name: drawn(text, self._rng) for name, text in self._patterns.items()}
            feeds = {n: self._arrays.standard_normal(s).astype(kinds[n]) for n, s in shapes.items()}
            try:
                found = self._session.run(None, feeds)
                self.calls += 1
                if self.calls % COMPARED == 0:
                    self._compare(found, self._other.run(None, feeds))
            except Exception as e:
                self.errors.append(f"{type(e).__name__}: {e}")

    def _compare(self, found: list[np.ndarray], expected: list[np.ndarray]) -> None:
        self.compared += 1
        for x, y in zip(found, expected, strict=True):
            if x.shape != y.shape or np.abs(x - y).max(initial=0) > TOLERANCE * max(np.abs(y).max(initial=0), 1e-30):
                self.wrong += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--input", action="append", required=True, metavar="NAME=SHAPE")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    patterns = dict(text.split("=", 1) for text in arguments.input)
    session = korch.InferenceSession(arguments.model)
    other = inference_session()(str(arguments.model))
    start = time.monotonic()
    clients = [Client(session, other, patterns, start + arguments.seconds, seed) for seed in range(arguments.threads)]
    for client in clients:
        client.start()
    memory: list[tuple[float, float]] = []
    with Progress(console=Console(stderr=True)) as bar:
        shown = bar.add_task("calls", total=arguments.seconds)
        while any(client.is_alive() for client in clients):
            time.sleep(min(1.0, arguments.seconds / 20))
            memory.append((time.monotonic() - start, resident()))
            calls = sum(c.calls for c in clients)
            bar.update(shown, completed=memory[-1][0], description=f"{calls} calls, {memory[-1][1]:.0f} MB")
    quarters = [[m for t, m in memory if i <= 4 * t / arguments.seconds < i + 1] for i in range(4)]
    warm, last = median(quarters[1]), median(quarters[3])
    states = [s.state for s in session.status().specialisations]
    result = {
        "seconds": arguments.seconds,
        "calls": sum(c.calls for c in clients),
        "compared": sum(c.compared for c in clients),
        "wrong": sum(c.wrong for c in clients),
        "errors": [e for c in clients for e in c.errors][:10],
        "ready": states.count("ready"),
        "of": len(states),
        "warm_mb": warm,
        "last_mb": last,
        "peak_mb": max(m for _, m in memory),
    }
    print(json.dumps(result, indent=1))
    if arguments.output:
        arguments.output.write_text(json.dumps({**result, "memory": memory}))
    sys.exit(bool(result["errors"] or result["wrong"] or last > (1 + GROWTH) * warm))


if __name__ == "__main__":
    main()
