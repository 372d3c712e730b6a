"""Fails where a killed `korch optimize` leaves a process, a folder or a lock.

    python benchmarks/kills.py MODEL [--kills 50] [--seed 0] [-o results.json]

Only the parent is killed, at a random moment of its first seconds; all of its kills share a cache. Then the script
waits until nothing is left of it: none of its children, no temporary folder, no lock that is held. Exit status 1 where
that takes more than five seconds.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.progress import track

AT_MOST, GIVEN_UP = 5.0, 60.0
"""Seconds until nothing is left; seconds after which nobody waits any longer."""
MOMENTS = 0.3, 8.0
"""Seconds after the start between which a process is killed."""
MARK = "KORCH_TEST"
"""A variable that children inherit: they are recognised by it."""


def left_of(folder: Path, mark: str) -> list[str]:
    """The temporary folders and held locks that are left in `folder`, and the processes with `mark`."""
    found = [str(p) for p in folder.glob("korch-*-*") if p.is_dir()]
    found += [str(p) for p in folder.glob("*.lock") if _is_held(p)]
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"{MARK}={mark}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_text().replace("\0", " "))
    return found


def _is_held(lock: Path) -> bool:
    with lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def killed(
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    until: Callable[[subprocess.Popen[bytes]], None],
) -> tuple[float, list[str]]:
    """Starts the command with `folder` for temporary files and kills it, and nothing that it has started, when `until`
    returns: the seconds until nothing was left, and what was left after all."""
    folder.mkdir(exist_ok=True)
    variables = {**environment, "TMPDIR": str(folder), MARK: str(folder)}
    process = subprocess.Popen(command, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(process)
    process.kill()
    process.wait()
    begin = time.monotonic()
    while (left := left_of(folder, str(folder))) and time.monotonic() < begin + GIVEN_UP:
        time.sleep(0.05)
    return time.monotonic() - begin, left


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    rng, seconds, left = random.Random(arguments.seed), list[float](), list[str]()
    with tempfile.TemporaryDirectory() as work:
        command = [sys.executable, "-m", "korch.cli", "optimize", str(arguments.model), "-o", f"{work}/m.korch"]
        environment = {**os.environ, "KORCH_CACHE_DIR": f"{work}/cache"}
        for _ in track(range(arguments.kills), "kills", console=Console(stderr=True)):
            moment = rng.uniform(*MOMENTS)
            took, rest = killed(command, environment, Path(work) / "temporary", lambda _, m=moment: time.sleep(m))
            seconds.append(took)
            left += rest
    found = {"kills": arguments.kills, "longest_s": max(seconds), "left": left, "seconds": seconds}
    print(json.dumps({k: v for k, v in found.items() if k != "seconds"}, indent=1))
    if arguments.output:
        arguments.output.write_text(json.dumps(found, indent=1) + "\n")
    sys.exit(bool(left or max(seconds) > AT_MOST))


if __name__ == "__main__":
    main()
