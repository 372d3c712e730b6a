"""Kinds of files that Korch reads: each makes damaged ones, and uses one as Korch's users would."""

from __future__ import annotations

import io
import json
import random
import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Protocol

import onnx
import onnx.parser

import korch
from korch.executable import Executable
from korch.executable.archive import MANIFEST
from korch.executable.segmented import Segmented
from korch.fission import fission
from korch.fission.importer import read
from korch.options import Options
from korch.profile import Database
from korch.profile.results import Failed, Measurement
from korch.report.explain import explain
from korch.session.segmenting import segmented
from mutating.changes import MODELS, WORDS, bytes_changed, json_changed, message_changed

KINDS = {kind: f"mutating.kinds:{kind.title()}Kind" for kind in ("model", "archive", "database")}
TABLES = ("costs", "failures", "in_place", "machines", "plans", "libraries")
"""Of a profile database."""


class FileKind(Protocol):
    """Made with a folder for its files, which are copied for each process."""

    def make(self, rng: random.Random) -> bytes:
        """A damaged file."""
        ...

    def use(self, data: bytes) -> None:
        """An error of Korch where it is refused."""
        ...


def kind_at(place: str, folder: Path) -> FileKind:
    """The kind whose class is at `module:name`."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)(folder)


class ModelKind:
    """ONNX files. Half of them are valid protobufs that differ in a field."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "model.onnx"
        self._seeds = [onnx.parser.parse_model(text) for text in MODELS.values()]

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
    """Archives, of one program and of segments. Three quarters are whole zip files of which one member differs, and its
    digest with it."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "model.korch"
        small, loop = (onnx.parser.parse_model(MODELS[name]) for name in ("small", "loop"))
        options = Options(1, 2.0)
        self._seeds = [
            _archive(folder / "small.korch", lambda: korch.optimize(small, threads=1, time_budget=2.0)),
            _archive(folder / "loop.korch", lambda: segmented(loop, options, lambda state: None)[0]),
        ]

    def make(self, rng: random.Random) -> bytes:
        seed = rng.choice(self._seeds)
        if rng.random() < 0.25:
            return bytes_changed(rng, seed)
        with zipfile.ZipFile(io.BytesIO(seed)) as z:
            members = {name: z.read(name) for name in z.namelist()}
        name = rng.choice(sorted(members))
        if name.endswith(".json") and rng.random() < 0.8:
            members[name] = json.dumps(json_changed(rng, json.loads(members[name]))).encode()
        else:
            members[name] = bytes_changed(rng, members[name])
        if MANIFEST in members and name != MANIFEST:
            about = json.loads(members[MANIFEST])
            about["digests"][name] = sha256(members[name]).hexdigest()
            members[MANIFEST] = json.dumps(about).encode()
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as z:
            for key, content in members.items():
                z.writestr(key, content)
        return packed.getvalue()

    def use(self, data: bytes) -> None:
        self._file.write_bytes(data)
        with korch.load(self._file, runs=False) as program:
            if isinstance(program, Segmented):
                str(program)
            else:
                str(explain(program)), explain(program).to_json()


def _archive(file: Path, made: Callable[[], Executable]) -> bytes:
    """The archive of a program, which is made once."""
    if not file.exists():
        made().save(file)
    return file.read_bytes()


class DatabaseKind:
    """Profile databases. In half of them one value of a row differs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "cache"
        self._keys = [f"key {i}" for i in range(20)]
        seed = folder / "seed"
        if not seed.exists():
            with Database(seed) as database:
                for key in self._keys:
                    database.record(key, Measurement(1e-3, 0.1, 0.0), workspace=8, label=key)
                    database.record(f"failed {key}", Failed("it crashed"))
                    database.record_in_place(key, 1e-3)
                    database.record_plan(key, json.dumps({"plan": key}))
                    database.record_machine(key, json.dumps({"machine": key}))
                    database.record_library(key, key.encode() * 100)
                self._name = database.file.name
            connection = sqlite3.connect(seed / self._name, isolation_level=None)
            for table in TABLES:  # the same bytes at any time
                when = "used" if table in ("plans", "machines", "libraries") else "measured"
                connection.execute(f"UPDATE {table} SET {when} = 0")
            connection.close()
        else:
            self._name = next(seed.glob("*.sqlite")).name
        self._seed = (seed / self._name).read_bytes()
        self._other = folder / "changed.sqlite"

    def make(self, rng: random.Random) -> bytes:
        if rng.random() < 0.5:
            return bytes_changed(rng, self._seed)
        self._other.write_bytes(self._seed)
        connection = sqlite3.connect(self._other, isolation_level=None)
        table = rng.choice(TABLES)
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        values = (None, b"", b"\xff\xfe", 0.5, float("inf"), -1, 1 << 62, *WORDS)
        statement = f"UPDATE OR IGNORE {table} SET {rng.choice(columns)} = ? WHERE key = ?"
        try:
            key = f"{'failed ' * (table == 'failures')}{rng.choice(self._keys)}"
            connection.execute(statement, (rng.choice(values), key))
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
                database.failure(f"failed {key}")
            database.failures(), database.contents(), database.counts()
            database.record_plan("new", "text")
