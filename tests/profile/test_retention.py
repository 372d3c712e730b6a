"""Least recently used programs are removed when the cache folder exceeds its limit."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from korch.errors import Error
from korch.profile import Database, Measurement
from korch.profile.database import database_file
from korch.profile.retention import RECENT, bytes_of, folder_bytes, limit, trim
from korch.system.folders import ARCHIVES

MEGABYTE = 1_000_000


def archive(folder: Path, name: str, size: int, age: float) -> Path:
    """One with its outcome, used `age` seconds ago."""
    (folder / ARCHIVES).mkdir(0o700, exist_ok=True)
    files = [folder / ARCHIVES / f"{name}{end}" for end in (".korch", ".json", ".lock")]
    for file in files:
        file.write_bytes(bytes(size if file.suffix == ".korch" else 9))
        os.utime(file, (time.time() - age, time.time() - age))
    return files[0]


def aged(database: Database, table: str, key: str, age: float) -> None:
    database._connection.execute(f"UPDATE {table} SET used = ? WHERE key = ?", (time.time() - age, key))


def test_what_was_used_least_recently_goes_first(tmp_path: Path):
    with Database(tmp_path) as database:
        for key, age in (("old", 4e5), ("new", 2e5)):
            database.record_library(key, os.urandom(MEGABYTE))
            aged(database, "libraries", key, age)
        database.record_plan("p", "x" * MEGABYTE)
        old, new = (archive(tmp_path, f"{i}" * 32, MEGABYTE, age) for i, age in ((0, 3e5), (1, 1e5)))
        aged(database, "plans", "p", 5e5)
        database.shrink()
        before = folder_bytes(tmp_path)
        assert trim(database, before) == before > 5 * MEGABYTE, "nothing goes without need"
        left = trim(database, int(3.5 * MEGABYTE))
        assert left == folder_bytes(tmp_path) <= 3.5 * MEGABYTE
        assert database.plan("p") is None and database.library("old") is None
        assert database.library("new") and new.exists() and old.exists()


def test_files_of_a_program_go_together_and_use_keeps_it(tmp_path: Path):
    with Database(tmp_path) as database:
        paths = [archive(tmp_path, f"{i}" * 32, MEGABYTE, 1e5 - i) for i in range(3)]
        os.utime(paths[0])  # as opening it does
        trim(database, int(1.5 * MEGABYTE))
    assert {f.name[0] for f in (tmp_path / ARCHIVES).iterdir()} == {"0"}


def test_what_was_just_made_stays(tmp_path: Path):
    with Database(tmp_path) as database:
        path = archive(tmp_path, "0" * 32, MEGABYTE, RECENT / 2)
        database.record_plan("p", "x" * MEGABYTE)
        trim(database, 0)
        assert path.exists() and database.plan("p")
        trim(database, 0, spared=0.0)
        assert not path.exists() and database.plan("p") is None


def test_recalling_a_row_counts_as_its_use(tmp_path: Path):
    with Database(tmp_path) as database:
        database.record_plan("p", "text")
        aged(database, "plans", "p", 1e6)
        assert database.plan("p") == "text"
        ((_, _, size, used),) = database.contents()
        assert size == 4 and time.time() - used < 1e5


def test_measurements_go_last_and_the_oldest_first(tmp_path: Path):
    with Database(tmp_path) as database:
        for i in range(64):
            database.record(f"{i:02}", Measurement(float(i)), label="x" * 20_000)
        database._connection.execute("UPDATE costs SET measured = seconds")
        database.shrink()
        before = folder_bytes(tmp_path)
        trim(database, before // 3)
        assert database.cost("00") is None and database.cost("63")
        assert database_file(tmp_path).stat().st_size <= before // 3


@pytest.mark.parametrize(("text", "size"), [("12", 12), ("500MB", 5 * 10**8), ("2.5 gb", 25 * 10**8), ("1T", 10**12)])
def test_sizes(text: str, size: int):
    assert bytes_of(text) == size


def test_a_limit_that_is_no_size_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setenv("KORCH_CACHE_LIMIT", "much")
    with pytest.raises(Error, match=r"KORCH_CACHE_LIMIT.*'much' is no size"):
        limit()
    with Database(tmp_path) as database:
        trim(database)
    assert "KORCH_CACHE_LIMIT" in caplog.text, "a search that has ended does not fail for it"
