"""The profile database: several processes, other schemas, damaged files."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from korch.errors import CacheError
from korch.profile import Database, Failed, Measurement, clear, default_folder
from korch.profile.database import database_file

WRITER = """
import sys
from pathlib import Path
from korch.profile.database import Database
from korch.profile.results import Measurement
with Database(Path(sys.argv[1])) as database:
    for i in range(100):
        database.record(f"{sys.argv[2]} {i}", Measurement(float(i)))
        database.record("everybody", Measurement(1.0))
"""


def test_remembers_every_kind(tmp_path: Path) -> None:
    with Database(tmp_path) as database:
        database.record("a", Measurement(1e-3, 0.01, 1e-7), 64, "loops")
        database.record("b", Failed("crashed"))
        database.record_in_place("a", 2e-3)
        database.record_machine("m", "{}")
    with Database(tmp_path) as database:
        assert database.cost("a") == Measurement(1e-3, 0.01, 1e-7) and database.cost("b") is None
        assert database.failure("b") == Failed("crashed") and database.failure("a") is None
        assert database.in_place(["a"]) == {"a": 2e-3} and database.machine("m") == "{}"


def test_four_processes_lose_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = [subprocess.Popen([*command, str(i)]) for i in range(4)]
    assert [w.wait(60) for w in writers] == [0] * 4
    with Database(tmp_path) as database:
        assert database.counts()["costs"] == 401


def test_other_schema_is_moved_aside(tmp_path: Path) -> None:
    Database(tmp_path).close()
    with sqlite3.connect(database_file(tmp_path)) as raw:
        raw.execute("PRAGMA user_version = 99")
    raw.close()
    with Database(tmp_path) as database:
        assert database.counts()["costs"] == 0
    assert list(tmp_path.glob("*.schema-99.*"))


def test_damaged_file_is_one_line(tmp_path: Path) -> None:
    database_file(tmp_path).write_bytes(b"not a database at all" * 400)
    with pytest.raises(CacheError, match=r"korch cache clear.*KORCH_CACHE_DIR") as caught:
        Database(tmp_path)
    assert str(database_file(tmp_path)) in str(caught.value) and "\n" not in str(caught.value)
    clear(tmp_path)
    Database(tmp_path).close()


def test_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CacheError, match="KORCH_CACHE_DIR"):
        Database(tmp_path / "file" / "below")


def test_full_disk_is_one_line(tmp_path: Path) -> None:
    with Database(tmp_path) as database:
        database._connection.execute("PRAGMA max_page_count = 1")
        with pytest.raises(CacheError, match="full"):
            for i in range(1000):
                database.record(f"{i}", Failed("x" * 1000))


def test_folder_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KORCH_CACHE_DIR", str(tmp_path))
    assert default_folder() == tmp_path
