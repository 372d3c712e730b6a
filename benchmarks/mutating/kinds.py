"""Kinds of files that Korch reads: each makes damaged ones, and uses one as Korch's users would."""

from __future__ import annotations

import io
import json
import random
import shutil
import sqlite3
import zipfile
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Protocol

import onnx
import onnx.parser

import korch
from korch.fission import fission
from korch.fission.importer import read
from korch.profile import Database
from korch.report.explain import explain
from mutating.changes import MODELS, WORDS, bytes_changed, json_changed, message_changed

KINDS = {kind: f"mutating.kinds:{kind.title()}Kind" for kind in ("model", "archive", "database")}


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
            connection = sqlite3.connect(seed / self._name, isolation_level=None)
            connection.execute("UPDATE in_place SET measured = 0")  # the same bytes at any time
            for table in ("plans", "machines", "libraries"):
                connection.execute(f"UPDATE {table} SET used = 0")
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
