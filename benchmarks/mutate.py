"""Fails where a damaged file does anything but work or be refused with one of Korch's errors.

    python benchmarks/mutate.py [--kinds model,archive,database] [--files 1000000] [--seed 0] [--jobs 2] [-o FOLDER]

So many files are made out of whole ones, a tenth of them databases and the rest models and archives in equal parts.
Bytes are changed, cut out, doubled or moved; models, plans and rows also change inside of what is around them, with
digests made anew, so that damage gets past the first check. A model is read and split into primitives, an archive
is opened as `korch explain` does, of a database each row is asked for. An escape is an error that is not Korch's, a
process that ends, ten seconds or more than `ROOM` bytes. Files that escape are kept in FOLDER. Exit status 1 if
there is one.
"""

from __future__ import annotations

import argparse
import io
import json
import logging
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sqlite3
import sys
import tempfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FrameType
from typing import Any

import onnx
import onnx.parser
from rich.console import Console
from rich.progress import Progress

import korch
from korch.fission import fission
from korch.fission.importer import read
from korch.profile import Database
from korch.report.explain import explain
from mutations import MODELS, WORDS, bytes_changed, json_changed, message_changed

SECONDS, ROOM = 10, 4 << 30
"""For one file: seconds, and bytes of address space beside what the process has."""
SILENCE = 60.0
"""Seconds after which a process that says nothing is killed."""
SHARES = {"model": 0.45, "archive": 0.45, "database": 0.1}


class Slow(BaseException):
    """A file took too long; no `except Exception` takes it."""


class ModelKind:
    """ONNX files. Half of them are valid protobufs that differ in a field."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "model.onnx"
        self._seeds = [onnx.parser.parse_model(text) for text in MODELS]

    def make(self, rng: random.Random) -> bytes:
        seed = rng.choice(self._seeds)
        if rng.random() < 0.5:
            return bytes_changed(rng, seed.SerializeToString())
        model = onnx.ModelProto()
        model.CopyFrom(seed)
        for _ in range(rng.choice((1, 1, 2, 5))):
            message_changed(rng, model)
        return model.SerializeToString()

    def use(self, data: bytes) -> None:
        self._file.write_bytes(data)
        fission(read(self._file))


class ArchiveKind:
    """Archives. Three quarters are whole zip files of which one member differs, and its digest with it."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "model.korch"
        made = folder / "seed.korch"
        if not made.exists():
            korch.optimize(onnx.parser.parse_model(MODELS[0]), threads=1, time_budget=2.0).save(made)
        self._seed = made.read_bytes()
        with zipfile.ZipFile(io.BytesIO(self._seed)) as z:
            self._members = {name: z.read(name) for name in z.namelist()}

    def make(self, rng: random.Random) -> bytes:
        if rng.random() < 0.25:
            return bytes_changed(rng, self._seed)
        members, about = dict(self._members), json.loads(self._members["manifest.json"])
        name = rng.choice(sorted(members))
        if name.endswith(".json") and rng.random() < 0.8:
            members[name] = json.dumps(json_changed(rng, json.loads(members[name]))).encode()
        else:
            members[name] = bytes_changed(rng, members[name])
        if name != "manifest.json":
            about["digests"][name] = sha256(members[name]).hexdigest()
            members["manifest.json"] = json.dumps(about).encode()
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as z:
            for key, content in members.items():
                z.writestr(key, content)
        return packed.getvalue()

    def use(self, data: bytes) -> None:
        self._file.write_bytes(data)
        with korch.load(self._file, runs=False) as program:
            str(explain(program)), explain(program).to_json()


class DatabaseKind:
    """Profile databases. In half of them one value of a row differs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "cache"
        self._keys = [f"key {i}" for i in range(20)]
        seed = folder / "seed"
        if not seed.exists():
            with Database(seed) as database:
                for key in self._keys:
                    database.record_in_place(key, 1e-3)
                    database.record_plan(key, json.dumps({"plan": key}))
                    database.record_machine(key, json.dumps({"machine": key}))
                    database.record_library(key, key.encode() * 100)
                self._name = database.file.name
        else:
            self._name = next(seed.glob("*.sqlite")).name
        self._seed = (seed / self._name).read_bytes()
        self._other = folder / "changed.sqlite"

    def make(self, rng: random.Random) -> bytes:
        if rng.random() < 0.5:
            return bytes_changed(rng, self._seed)
        self._other.write_bytes(self._seed)
        connection = sqlite3.connect(self._other, isolation_level=None)
        table = rng.choice(("in_place", "machines", "plans", "libraries"))
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        values = (None, b"", b"\xff\xfe", 0.5, float("inf"), -1, 1 << 62, *WORDS)
        statement = f"UPDATE OR IGNORE {table} SET {rng.choice(columns)} = ? WHERE key = ?"
        try:
            connection.execute(statement, (rng.choice(values), rng.choice(self._keys)))
        except sqlite3.IntegrityError:
            connection.execute(f"DELETE FROM {table}")
        connection.close()
        return self._other.read_bytes()

    def use(self, data: bytes) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(mode=0o700)
        file = self._folder / self._name
        file.write_bytes(data)
        file.chmod(0o600)
        with Database(self._folder) as database:
            database.in_place(self._keys)
            for key in self._keys[:3]:
                database.plan(key), database.library(key), database.machine(key), database.cost(key)
            database.failures(), database.contents(), database.counts()
            database.record_plan("new", "text")


KINDS: dict[str, Callable[[Path], Any]] = {"model": ModelKind, "archive": ArchiveKind, "database": DatabaseKind}


@dataclass
class Outcomes:
    """How many files worked, were refused with which error, and what escaped: (number of the file, reason)."""

    counts: Counter[str] = field(default_factory=Counter)
    escapes: list[tuple[int, str]] = field(default_factory=list)


def outcome(kind: Any, data: bytes) -> str:
    """`worked`, the class of Korch's error, or `escaped: ` and the reason."""
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        kind.use(data)
        return "worked"
    except korch.Error as e:
        return type(e).__name__ if "\n" not in str(e) else f"escaped: an error of several lines: {e}"
    except BaseException as e:
        return f"escaped: {type(e).__name__}: {str(e)[:200]}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def work(name: str, folder: Path, seed: int, numbers: Sequence[int], ours: Connection) -> None:
    """Sends each number before its file is used, and what came of it."""
    signal.signal(signal.SIGALRM, _ring)
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + ROOM, mapped + ROOM))
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 2)
    kind = KINDS[name](folder)
    for i in numbers:
        ours.send((i, None))
        ours.send((i, outcome(kind, kind.make(random.Random(f"{seed} {name} {i}")))))
    ours.close()


def _ring(number: int, frame: FrameType | None) -> None:
    raise Slow(f"took {SECONDS} s")


def mutated(name: str, count: int, seed: int, jobs: int, folder: Path, progress: Progress) -> Outcomes:
    """Uses so many files of a kind in processes of their own; one that ends or hangs is started again behind."""
    folder.mkdir(parents=True)
    KINDS[name](folder)
    found, task = Outcomes(), progress.add_task(name, total=count)
    waiting = [range(first, count, jobs) for first in range(min(jobs, count))]
    context = multiprocessing.get_context("fork")
    running: dict[Connection, tuple[Any, range, int]] = {}

    def start(numbers: range) -> None:
        ours, theirs = context.Pipe(duplex=False)
        own = folder / str(numbers.start % jobs)
        shutil.copytree(folder, own, dirs_exist_ok=True, ignore=shutil.ignore_patterns("[0-9]*"))
        process = context.Process(target=work, args=(name, own, seed, numbers, theirs), daemon=True)
        process.start()
        theirs.close()
        running[ours] = process, numbers, -1

    for numbers in waiting:
        start(numbers)
    while running:
        ready = wait(list(running), timeout=SILENCE)
        for connection in ready or list(running):
            process, numbers, current = running[connection]
            try:
                if not ready:
                    process.kill()
                    raise EOFError
                i, result = connection.recv()
            except EOFError:
                process.join()
                del running[connection]
                if current >= 0:
                    reason = f"ended with {process.exitcode}" if ready else f"hung for {SILENCE:.0f} s"
                    found.escapes.append((current, reason))
                    start(range(current + jobs, count, jobs))
                continue
            running[connection] = process, numbers, i if result is None else -1
            if result is None:
                continue
            progress.advance(task)
            if result.startswith("escaped: "):
                found.escapes.append((i, result.removeprefix("escaped: ")))
            else:
                found.counts[result] += 1
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
    with tempfile.TemporaryDirectory() as work_in, Progress(console=Console(stderr=True)) as progress:
        for name in arguments.kinds.split(","):
            count = max(1, round(arguments.files * SHARES[name]))
            found = mutated(name, count, arguments.seed, arguments.jobs, Path(work_in) / name, progress)
            results[name] = {"files": count, **found.counts, "escapes": found.escapes}
            if arguments.output:
                arguments.output.mkdir(parents=True, exist_ok=True)
                kind = KINDS[name](Path(work_in) / name)
                for i, _ in found.escapes:
                    data = kind.make(random.Random(f"{arguments.seed} {name} {i}"))
                    (arguments.output / f"{name}-{i}").write_bytes(data)
    text = json.dumps(results, indent=1)
    print(text)
    if arguments.output:
        (arguments.output / "mutated.json").write_text(text + "\n")
    sys.exit(any(result["escapes"] for result in results.values()))


if __name__ == "__main__":
    main()
