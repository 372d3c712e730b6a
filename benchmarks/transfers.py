"""Fails where the programs for many shapes of a model come late, are slow, or hold their weights many times.

    python benchmarks/transfers.py MODEL --input x --shape 1,1,32,320 --shape 1,1,32,64 ... [--compare 3] [--search 60]

A session meets the shapes one after the other, each when the program for the one before is there: the first is
searched, the others take over its plan. `--compare` of these, spread over all, are searched as well, for `--search`
seconds, and both programs run side by side. Packed constants are those of all programs together, and of the first.
Exit status 1 where a program took longer than 10 s, has less than 0.9 of the searched one's speed, or all hold more
than 1.3 times the constants of one.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import korch
from korch.executable import native
from korch.session.race import race
from page import markdown

SECONDS, SPEED, CONSTANTS = 10.0, 0.9, 1.3


class Held(ctypes.Structure):
    """`korch_held` of pool.c."""


Held._fields_ = [
    ("next", ctypes.POINTER(Held)),
    ("data", ctypes.c_void_p),
    ("bytes", ctypes.c_size_t),
    ("sum", ctypes.c_uint64),
    ("users", ctypes.c_long),
]


class Pool(ctypes.Structure):
    """`korch_pool_1`; a mutex of glibc has 40 bytes."""

    _fields_ = [("lock", ctypes.c_char * 40), ("first", ctypes.POINTER(Held))]


def packed() -> float:
    """Megabytes of packed constants that this process holds."""
    at, total = Pool.from_address(native._pool).first if native._pool else None, 0
    while at:
        total += at.contents.bytes
        at = at.contents.next
    return total / 1e6


def made(session: Any, name: str, shape: tuple[int, ...]) -> tuple[float, Any]:
    """Seconds from the first call with the shape until it is known what answers the next ones, and its status."""
    begin = time.monotonic()
    session.run(None, {name: feed(shape)})
    while True:
        for status in session.status().specialisations:
            if tuple(status.shapes[name]) == shape and status.state not in ("wanted", "waiting", "making"):
                return time.monotonic() - begin, status
        time.sleep(0.02)


def feed(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def searched(model: Path, name: str, shape: tuple[int, ...], archive: str, seconds: float) -> tuple[float, float]:
    """Milliseconds of the program in `archive`, and of one that is searched for the shape, side by side."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KORCH_CACHE_DIR"] = folder
        other = korch.optimize(model, threads=2, time_budget=seconds, shapes={name: shape})
        with other, korch.load(archive) as own:
            x = {name: feed(shape)}
            both = [race([lambda: own.run(x), lambda: other.run(x)]) for _ in range(3)]
    return min(a for a, _ in both), min(b for _, b in both)


def row(shape: tuple[int, ...], f: dict[str, Any]) -> list[str]:
    """A line of the table."""
    speed = f"{f['speed']:.2f}" if "speed" in f else ""
    times = f"{f['base_ms']:.3f}", f"{f['ms']:.3f}"
    return [",".join(map(str, shape)), f"{f['seconds']:.1f}", f["state"], *times, speed, f"{f['packed_mb']:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--input", required=True)
    parser.add_argument("--shape", action="append", required=True)
    parser.add_argument("--compare", type=int, default=3)
    parser.add_argument("--search", type=float, default=60.0)
    parser.add_argument("-o", "--output", type=Path, help="a JSON file of the figures")
    options = parser.parse_args()
    shapes = [tuple(map(int, s.split(","))) for s in options.shape]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KORCH_CACHE_DIR"] = folder
        session = korch.InferenceSession(options.model, threads=2, max_specialisations=len(shapes))
        found = dict[tuple[int, ...], dict[str, Any]]()
        for shape in shapes:
            seconds, status = made(session, options.input, shape)
            found[shape] = {
                "seconds": seconds,
                "state": status.state,
                "reason": status.reason,
                "archive": status.archive,
                "ms": status.program_ms,
                "base_ms": status.base_ms,
                "packed_mb": packed(),
            }
        one, everything = found[shapes[0]]["packed_mb"], packed()
        del session
        gc.collect()
        others = [s for s in shapes[1:] if found[s]["archive"]]
        for shape in others[:: max(1, len(others) // max(options.compare, 1))][: options.compare]:
            own, other = searched(options.model, options.input, shape, found[shape]["archive"], options.search)
            found[shape] |= {"speed": other / own}
    rows = [row(shape, figures) for shape, figures in found.items()]
    head = ["shape", "seconds", "", "onnxruntime ms", "program ms", "speed, of a search's", "packed MB so far"]
    print(markdown([head, *rows]))
    print(f"\npacked constants {everything:.1f} MB, of the first program {one:.1f}: {everything / max(one, 1e-9):.2f}")
    if options.output:
        results = {",".join(map(str, s)): f for s, f in found.items()}
        options.output.write_text(json.dumps({"shapes": results, "packed_mb": [one, everything]}, indent=1) + "\n")
    late = any(found[s]["seconds"] > SECONDS for s in shapes[1:])
    slow = any(f.get("speed", 1.0) < SPEED for f in found.values())
    raise SystemExit(late or slow or everything > CONSTANTS * max(one, 1e-9))


if __name__ == "__main__":
    main()
