"""The profile database: costs, failures, in-place costs, calibrations, plans and their libraries, kept between runs.

One SQLite file that several processes may use at once; each result is committed as it is recorded. The file's name
has the version of its schema, so that other versions of Korch keep their own.
"""

from __future__ import annotations

import logging
import math
import re
import sqlite3
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from korch.errors import CacheError, words_of
from korch.machine import Machine, machine_from_json
from korch.profile.results import Failed, Measurement
from korch.system.digest import content_digest
from korch.system.folders import default_folder, replaced
from korch.system.locks import locked
from korch.system.private import private_file, private_folder
from korch.system.processes import work_folder

SCHEMA = 5
_BUSY = 60.0  # seconds to wait for another process's write
_PIECE = 500  # keys in one query
_OURS = re.compile(
    r"profile\.lock|profile-\d+\.sqlite(\.schema-\d+\.\d+)?(-wal|-shm|-journal)?"
    r"|timing-[0-9a-f]{24}\.so|\.timing-[0-9a-f]{24}\.so\.\w+"
)
"""What Korch makes in the cache folder, half-written libraries included; others may keep their files there too."""

_TABLES = """
CREATE TABLE costs (key TEXT PRIMARY KEY, seconds REAL NOT NULL, spread REAL NOT NULL, error REAL NOT NULL,
                    workspace INTEGER NOT NULL, label TEXT NOT NULL, measured REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE failures (key TEXT PRIMARY KEY, reason TEXT NOT NULL, label TEXT NOT NULL,
                       measured REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE in_place (key TEXT PRIMARY KEY, seconds REAL NOT NULL, measured REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE machines (key TEXT PRIMARY KEY, content TEXT NOT NULL, digest TEXT NOT NULL, used REAL NOT NULL);
CREATE TABLE plans (key TEXT PRIMARY KEY, content TEXT NOT NULL, digest TEXT NOT NULL, used REAL NOT NULL);
CREATE TABLE libraries (key TEXT PRIMARY KEY, content BLOB NOT NULL, digest TEXT NOT NULL, used REAL NOT NULL);
"""
PORTABLE = ("costs", "failures", "in_place", "machines", "plans")
"""What may be taken to another machine: keys name the processor or device that it holds for."""
_OLDER = (4, 3)
"""Schemas that are taken over, the latest first. They kept no digests; libraries are made again."""
_FROM_OLDER = """
INSERT INTO costs SELECT * FROM old.costs;
INSERT INTO failures SELECT * FROM old.failures;
INSERT INTO in_place SELECT * FROM old.in_place;
INSERT INTO machines SELECT key, text, korch_digest(key, text), measured FROM old.machines;
INSERT INTO plans SELECT key, text, korch_digest(key, text), found FROM old.plans;
"""
TOUCHED = 3600.0
"""Seconds within which the use of a row is not written again."""
_DAMAGE = (sqlite3.Error, UnicodeDecodeError)
"""A message of SQLite quotes the names in a damaged schema, which may be no text."""

log = logging.getLogger(__name__)


def database_file(folder: Path, schema: int = SCHEMA) -> Path:
    return folder / f"profile-{schema}.sqlite"


def own_files(folder: Path) -> list[Path]:
    """The files that Korch keeps in the cache folder, without its archives."""
    return [f for f in folder.glob("*") if _OURS.fullmatch(f.name) and f.is_file()]


def clear(folder: Path | None = None) -> int:
    """Removes everything that Korch keeps in the cache folder; how many files that were."""
    where = folder or default_folder()
    found = own_files(where)
    with _translated(where):
        for file in found:
            file.unlink(missing_ok=True)
    return len(found)


class Database:
    """The opened database of a cache folder. All errors are CacheError: one line with the file and the way out."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder()
        self.file = database_file(self.folder)
        self._guard = Lock()
        with _translated(self.file):
            private_folder(self.folder)
            private_file(self.file)
            with locked(self.folder / "profile.lock"):
                self._connection = _open(self.file)

    def close(self) -> None:
        with _translated(self.file):
            self._connection.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def cost(self, key: str) -> Measurement | None:
        row = self._row("SELECT seconds, spread, error FROM costs WHERE key = ?", key)
        return Measurement(*row) if row and all(map(_possible, row)) else None

    def failure(self, key: str) -> Failed | None:
        row = self._row("SELECT reason FROM failures WHERE key = ?", key)
        return Failed(row[0]) if row and isinstance(row[0], str) else None

    def failures(self) -> list[tuple[str, str]]:
        """(label, reason) of every kernel that failed, the latest first."""
        with _translated(self.file), self._guard:
            found = self._connection.execute("SELECT label, reason FROM failures ORDER BY measured DESC, key")
            return [(str(label), str(reason)) for label, reason in found]

    def record(self, key: str, result: Measurement | Failed, workspace: int = 0, label: str = "") -> None:
        """Keeps what was measured of a kernel; `label` is for people."""
        if isinstance(result, Failed):
            self._write("INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?)", key, result.reason, label, time.time())
            return
        values = (result.seconds, result.spread, result.error, workspace, label, time.time())
        self._write("INSERT OR REPLACE INTO costs VALUES (?, ?, ?, ?, ?, ?, ?)", key, *values)

    def in_place(self, keys: Sequence[str]) -> dict[str, float]:
        """Seconds that kernels took inside a whole program."""
        found = self._many("SELECT key, seconds FROM in_place", keys)
        return {key: seconds for key, seconds in found if _possible(seconds)}

    def record_in_place(self, key: str, seconds: float) -> None:
        self._write("INSERT OR REPLACE INTO in_place VALUES (?, ?, ?)", key, seconds, time.time())

    def machine(self, key: str) -> str | None:
        """The text of a calibration."""
        return self._content("machines", key)

    def record_machine(self, key: str, text: str) -> None:
        self._keep("machines", key, text)

    def plan(self, key: str) -> str | None:
        """The text of a finished search."""
        return self._content("plans", key)

    def record_plan(self, key: str, text: str) -> None:
        self._keep("plans", key, text)

    def library(self, key: str) -> bytes | None:
        """The linked library of a finished search."""
        return self._content("libraries", key)

    def record_library(self, key: str, file: bytes) -> None:
        self._keep("libraries", key, file)

    def contents(self) -> list[tuple[str, str, int, float]]:
        """(table, key, bytes, last use in seconds since the epoch) of every plan and library."""
        size = "length(CAST(content AS BLOB))"
        with _translated(self.file), self._guard:
            return [
                (table, str(key), int(length or 0), used if _possible(used) else 0.0)
                for table in ("plans", "libraries")
                for key, length, used in self._connection.execute(f"SELECT key, {size}, used FROM {table}")
            ]

    def forget(self, table: str, key: str) -> None:
        """Removes a row."""
        self._write(f"DELETE FROM {table} WHERE key = ?", key)

    def forget_old_measurements(self) -> None:
        """Removes the older half of them."""
        for table in ("costs", "failures", "in_place"):
            half = f"SELECT key FROM {table} ORDER BY measured LIMIT (SELECT (count(*) + 1) / 2 FROM {table})"
            self._write(f"DELETE FROM {table} WHERE key IN ({half})")

    def shrink(self) -> None:
        """Returns the space of removed rows to the file system."""
        with _translated(self.file), self._guard:
            self._connection.executescript("PRAGMA incremental_vacuum;")  # steps through all pages, unlike `execute`
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _content(self, table: str, key: str) -> Any:
        """The content of a row, as it was kept; a damaged row is removed."""
        row = self._row(f"SELECT content, digest, used FROM {table} WHERE key = ?", key)
        if row is None:
            return None
        content, kept, used = row
        if not isinstance(content, str | bytes) or content_digest(key, content) != kept:
            log.warning("a row of %s in %s is damaged: it is made again", table, self.file)
            self.forget(table, key)
            return None
        if not _possible(used) or abs(time.time() - used) > TOUCHED:
            self._write(f"UPDATE {table} SET used = ? WHERE key = ?", time.time(), key)
        return content

    def _keep(self, table: str, key: str, content: str | bytes) -> None:
        values = (key, content, content_digest(key, content), time.time())
        self._write(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?, ?)", *values)

    def export(self, file: Path) -> int:
        """Writes what was measured and found to a database of its own; how many rows. Libraries are not taken along."""
        with _translated(file), work_folder("korch-export-") as folder, replaced(file) as whole:
            made = folder / "export.sqlite"
            connection = _open(made)
            connection.execute("PRAGMA journal_mode = DELETE")  # one file, which can be read where none can be written
            connection.close()
            rows = self._copied(made, "other.{0}", "main.{0}")
            whole.write(made.read_bytes())
        return rows

    def take_in(self, file: Path) -> int:
        """Adds what `file`, written by `export`, has and this does not; how many rows."""
        with _translated(file):
            found = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)
            version = found.execute("PRAGMA user_version").fetchone()[0]
            found.close()
        if version != SCHEMA:
            raise CacheError(f"{file} is no export of this version's cache: run `korch cache export` there again")
        return self._copied(file, "main.{0}", "other.{0}")

    def _copied(self, file: Path, into: str, out_of: str) -> int:
        with _translated(file), self._guard:
            self._connection.execute("ATTACH ? AS other", (str(file),))
            try:
                return sum(
                    self._connection.execute(
                        f"INSERT OR IGNORE INTO {into.format(name)} SELECT * FROM {out_of.format(name)}"
                    ).rowcount
                    for name in PORTABLE
                )
            finally:
                self._connection.execute("DETACH other")

    def counts(self) -> dict[str, int]:
        """Rows by table."""
        names = ("costs", "failures", "in_place", "machines", "plans", "libraries")
        return {name: self._one(f"SELECT count(*) FROM {name}", ())[0] for name in names}

    def _row(self, statement: str, key: str) -> Any:
        return self._one(statement, (key,))

    def _many(self, statement: str, keys: Sequence[str]) -> list[Any]:
        """The rows with any of `keys`, asked for in pieces that SQLite takes."""
        found: list[Any] = []
        with _translated(self.file), self._guard:
            for at in range(0, len(keys), _PIECE):
                piece = keys[at : at + _PIECE]
                where = f" WHERE key IN ({','.join('?' * len(piece))})"
                found += self._connection.execute(statement + where, tuple(piece)).fetchall()
        return found

    def _one(self, statement: str, values: Sequence[Any]) -> Any:
        with _translated(self.file), self._guard:
            return self._connection.execute(statement, values).fetchone()

    def _write(self, statement: str, *values: Any) -> None:
        with _translated(self.file), self._guard:
            self._connection.execute(statement, values)


def _possible(number: object) -> bool:
    """Whether a column holds a number that can have been written to it."""
    return isinstance(number, float | int) and not math.isnan(number) and number >= 0


def known_machine(database: Database, key: str) -> Machine | None:
    """The machine of an earlier calibration; None where its text is damaged, too."""
    text = database.machine(key)
    try:
        return None if text is None else machine_from_json(text)
    except ValueError as e:
        log.warning("a calibration in %s is damaged (%s): it is made again", database.file, words_of(e))
        return None


@contextmanager
def _translated(path: Path) -> Generator[None]:
    try:
        yield
    except (*_DAMAGE, OSError) as e:
        if isinstance(e, UnicodeDecodeError):
            what = "its schema is damaged"
        else:
            what = (e.strerror if isinstance(e, OSError) else "") or words_of(e)
        way = "run `korch cache clear` or point KORCH_CACHE_DIR at another folder"
        raise CacheError(f"the profile database {path} cannot be used: {what}; {way}") from None


def _open(file: Path) -> sqlite3.Connection:
    """A connection in which each statement commits; a database of another schema is moved aside."""
    connection = _connect(file)
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if version != SCHEMA and tables:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        aside = file.with_name(f"{file.name}.schema-{version}.{time.time_ns()}")
        file.replace(aside)
        log.warning("%s has another schema: it is kept as %s, measurements start anew", file, aside.name)
        private_file(file)
        connection = _connect(file)
        tables = 0
    if not tables:
        connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {SCHEMA}; COMMIT;")
        _take_over(connection, [database_file(file.parent, schema) for schema in _OLDER])
    return connection


def _take_over(connection: sqlite3.Connection, older: Sequence[Path]) -> None:
    """Copies the content of the first of the `older` databases that exists; one that cannot be read is left alone."""
    old = next((file for file in older if file.is_file()), None)
    if old is None:
        return
    try:
        connection.execute("ATTACH ? AS old", (str(old),))
        connection.executescript(f"BEGIN IMMEDIATE; {_FROM_OLDER} COMMIT; DETACH old;")
        log.warning("the measurements of %s are taken over", old)
    except _DAMAGE as e:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        log.warning("%s cannot be taken over (%s): measurements start anew", old, e)


def _connect(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=_BUSY, isolation_level=None, check_same_thread=False)
    connection.text_factory = _text  # a text that is damaged is found by its digest
    connection.create_function("korch_digest", 2, content_digest, deterministic=True)
    try:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # of a new file
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")  # a killed process loses nothing, a power cut the last rows
    except _DAMAGE:
        connection.close()
        raise
    return connection


def _text(data: bytes) -> str:
    return data.decode(errors="replace")
