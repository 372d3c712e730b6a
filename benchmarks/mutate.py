"""Fails where a damaged file does anything but work or be refused with one of Korch's errors.

    python benchmarks/mutate.py [--kinds model,archive,database] [--files 1000000] [--seed 0] [--jobs 2] [-o FOLDER]

So many files are made out of whole ones, a tenth of them databases and the rest models and archives in equal parts.
Bytes are changed, cut out, doubled or moved; models, plans and rows also change inside of what is around them, with
digests made anew, so that damage gets past the first check. A model is read and split into primitives, an archive
is opened as `korch explain` does, of a database each row is asked for. An escape is an error that is not Korch's, a
process that ends, ten seconds, or 4 GB. Files that escape are kept in FOLDER. Exit status 1 if
there is one.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, field
from itertools import count as numbers_from
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from korch.profile.process import WorkerProcess
from korch.profile.results import Failed
from korch.system.processes import plain_environment
from mutating.kinds import KINDS, kind_at
from mutating.worker import ESCAPED, damaged
from workers import Workers

SECONDS, ROOM = 10.0, 4 << 30
"""For one file: seconds, and bytes of address space beside what the process has."""
SILENCE = 60.0
"""Seconds after which a process that does not answer is killed."""
BATCH = 100
"""Files of one question."""
SHARES = {"model": 0.45, "archive": 0.45, "database": 0.1}


@dataclass
class Outcomes:
    """How many files worked, were refused with which error, and what escaped: (number of the file, reason)."""

    counts: Counter[str] = field(default_factory=Counter)
    escapes: list[tuple[int, str]] = field(default_factory=list)

    def add(self, number: int, ending: str) -> None:
        if ending.startswith(ESCAPED):
            self.escapes.append((number, ending.removeprefix(ESCAPED)))
        else:
            self.counts[ending] += 1


def asked(process: WorkerProcess, numbers: Sequence[int]) -> list[str]:
    """How each file ended; where the process did not survive, each is asked for alone."""
    found: list[str] | Failed = process.ask(numbers)
    if not isinstance(found, Failed):
        return found
    if len(numbers) == 1:
        return [f"{ESCAPED}{found.reason}"]
    return [ending for number in numbers for ending in asked(process, [number])]


def mutated(place: str, count: int, seed: int, jobs: int, folder: Path, seconds: float = SECONDS) -> Outcomes:
    """Uses so many files of the kind whose class is at `place`, in processes of their own."""
    folder.mkdir(parents=True)
    kind_at(place, folder)
    found, copies = Outcomes(), numbers_from()

    def start() -> WorkerProcess:
        own = folder.with_name(f"{folder.name}-{next(copies)}")
        shutil.copytree(folder, own)
        arguments = [place, str(own), str(seed), f"{seconds:g}", str(ROOM)]
        return WorkerProcess("mutating.worker", arguments, SILENCE, plain_environment())

    batches = [range(first, min(first + BATCH, count)) for first in range(0, count, BATCH)]
    with Workers(jobs, start) as workers:
        waiting = {workers.submit(lambda p, some=some: asked(p, some)): some for some in batches}
        done = as_completed(waiting)
        for future in track(done, place, total=len(waiting), console=Console(stderr=True)):
            for number, ending in zip(waiting[future], future.result(), strict=True):
                found.add(number, ending)
    found.escapes.sort()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--files", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, help="a folder for the results and the files that escape")
    arguments = parser.parse_args()
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as work:
        for name in arguments.kinds.split(","):
            count, folder = max(1, round(arguments.files * SHARES[name])), Path(work) / name
            found = mutated(KINDS[name], count, arguments.seed, arguments.jobs, folder)
            results[name] = {"files": count, **found.counts, "escapes": found.escapes}
            if arguments.output:
                arguments.output.mkdir(parents=True, exist_ok=True)
                kind = kind_at(KINDS[name], folder)
                for i, _ in found.escapes:
                    data = damaged(kind, KINDS[name], str(arguments.seed), i)
                    (arguments.output / f"{name}-{i}").write_bytes(data)
    text = json.dumps(results, indent=1)
    print(text)
    if arguments.output:
        (arguments.output / "mutated.json").write_text(text + "\n")
    sys.exit(any(result["escapes"] for result in results.values()))


if __name__ == "__main__":
    main()
