"""The profile database: costs, failures, in-place costs, calibrations, plans and their libraries, kept between runs.

One SQLite file that several processes may use at once; each result is committed as it is recorded. The file's name
has the version of its schema, so that other versions of Korch keep their own.
"""

from __future__ import annotations

import logging
import re
import sqlite3
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from korch.errors import CacheError
from korch.profile.results import Failed, Measurement
from korch.system.folders import default_folder
from korch.system.locks import locked

SCHEMA = 4
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
CREATE TABLE machines (key TEXT PRIMARY KEY, text TEXT NOT NULL, measured REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE plans (key TEXT PRIMARY KEY, text TEXT NOT NULL, found REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE libraries (key TEXT PRIMARY KEY, file BLOB NOT NULL, made REAL NOT NULL);
"""
PORTABLE = ("costs", "failures", "in_place", "machines", "plans")
"""What may be taken to another machine: keys name the processor or device that it holds for."""
_FROM_3 = """
INSERT INTO costs SELECT * FROM old.costs;
INSERT INTO failures SELECT * FROM old.failures;
INSERT INTO in_place SELECT * FROM old.in_place;
INSERT INTO machines SELECT * FROM old.machines;
INSERT INTO plans SELECT * FROM old.plans;
"""
"""Schema 3 kept no libraries."""

log = logging.getLogger(__name__)


def database_file(folder: Path, schema: int = SCHEMA) -> Path:
    return folder / f"profile-{schema}.sqlite"


def clear(folder: Path | None = None) -> int:
    """Removes everything that Korch keeps in the cache folder; how many files that were."""
    where = folder or default_folder()
    found = [f for f in where.glob("*") if _OURS.fullmatch(f.name) and f.is_file()]
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
            self.folder.mkdir(parents=True, exist_ok=True)
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
        return Measurement(*row) if row else None

    def failure(self, key: str) -> Failed | None:
        row = self._row("SELECT reason FROM failures WHERE key = ?", key)
        return Failed(row[0]) if row else None

    def failures(self) -> list[tuple[str, str]]:
        """(label, reason) of every kernel that failed, the latest first."""
        with _translated(self.file), self._guard:
            found = self._connection.execute("SELECT label, reason FROM failures ORDER BY measured DESC, key")
            return found.fetchall()

    def record(self, key: str, result: Measurement | Failed, workspace: int = 0, label: str = "") -> None:
        """Keeps what was measured of a kernel; `label` is for people."""
        if isinstance(result, Failed):
            self._write("INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?)", key, result.reason, label, time.time())
            return
        values = (result.seconds, result.spread, result.error, workspace, label, time.time())
        self._write("INSERT OR REPLACE INTO costs VALUES (?, ?, ?, ?, ?, ?, ?)", key, *values)

    def in_place(self, keys: Sequence[str]) -> dict[str, float]:
        """Seconds that kernels took inside a whole program."""
        return dict(self._many("SELECT key, seconds FROM in_place", keys))

    def record_in_place(self, key: str, seconds: float) -> None:
        self._write("INSERT OR REPLACE INTO in_place VALUES (?, ?, ?)", key, seconds, time.time())

    def machine(self, key: str) -> str | None:
        """The text of a calibration."""
        row = self._row("SELECT text FROM machines WHERE key = ?", key)
        return row[0] if row else None

    def record_machine(self, key: str, text: str) -> None:
        self._write("INSERT OR REPLACE INTO machines VALUES (?, ?, ?)", key, text, time.time())

    def plan(self, key: str) -> str | None:
        """The text of a finished search."""
        row = self._row("SELECT text FROM plans WHERE key = ?", key)
        return row[0] if row else None

    def record_plan(self, key: str, text: str) -> None:
        self._write("INSERT OR REPLACE INTO plans VALUES (?, ?, ?)", key, text, time.time())

    def library(self, key: str) -> bytes | None:
        """The linked library of a finished search."""
        row = self._row("SELECT file FROM libraries WHERE key = ?", key)
        return row[0] if row else None

    def record_library(self, key: str, file: bytes) -> None:
        self._write("INSERT OR REPLACE INTO libraries VALUES (?, ?, ?)", key, file, time.time())

    def export(self, file: Path) -> int:
        """Writes what was measured and found to a database of its own; how many rows. Libraries are not taken along."""
        with _translated(file):
            file.unlink(missing_ok=True)
            made = _open(file)
            made.execute("PRAGMA journal_mode = DELETE")  # one file, which can be read where nothing can be written
            made.close()
        return self._copied(file, "other.{0}", "main.{0}")

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


@contextmanager
def _translated(path: Path) -> Generator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as e:
        what = (e.strerror if isinstance(e, OSError) else str(e)) or type(e).__name__
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
        connection = _connect(file)
        tables = 0
    if not tables:
        connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {SCHEMA}; COMMIT;")
        _take_over(connection, database_file(file.parent, 3))
    return connection


def _take_over(connection: sqlite3.Connection, old: Path) -> None:
    """Copies what a database of schema 3 has learned; one that cannot be read is left alone."""
    if not old.is_file():
        return
    try:
        connection.execute("ATTACH ? AS old", (str(old),))
        connection.executescript(f"BEGIN IMMEDIATE; {_FROM_3} COMMIT; DETACH old;")
        log.warning("the measurements of %s are taken over", old)
    except sqlite3.DatabaseError as e:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        log.warning("%s cannot be taken over (%s): measurements start anew", old, e)


def _connect(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=_BUSY, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")  # a killed process loses nothing, a power cut the last rows
    except sqlite3.Error:
        connection.close()
        raise
    return connection
