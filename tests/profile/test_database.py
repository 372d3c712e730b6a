"""The profile database: several processes, other schemas, damaged files."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from korch.errors import CacheError
from korch.profile import Database, Failed, Measurement, clear
from korch.profile.database import database_file, known_machine
from korch.system.folders import default_folder

WRITER = """
import sys
from collections.abc import Callable
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
        database.record_plan("p", "[]")
    with Database(tmp_path) as database:
        assert database.cost("a") == Measurement(1e-3, 0.01, 1e-7) and database.cost("b") is None
        assert database.failure("b") == Failed("crashed") and database.failure("a") is None
        assert database.in_place(["a"]) == {"a": 2e-3} and database.machine("m") == "{}"
        assert database.plan("p") == "[]" and database.plan("m") is None and database.machine("p") is None


def test_four_processes_lose_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = [subprocess.Popen([*command, str(i)]) for i in range(4)]
    assert [w.wait(600) for w in writers] == [0] * 4
    with Database(tmp_path) as database:
        assert database.counts()["costs"] == 401


def of_schema_3(folder: Path) -> Path:
    """A database as it was when no libraries were kept."""
    with Database(folder) as database:
        database.record("a", Measurement(1e-3, 0.01, 1e-7), 64, "loops")
        database.record("b", Failed("crashed"))
        database.record_in_place("a", 2e-3)
        database.record_machine("m", "{}")
        database.record_plan("p", "[]")
    new, old = database_file(folder), database_file(folder, 3)
    new.replace(old)
    with sqlite3.connect(old) as raw:
        raw.execute("DROP TABLE libraries")
        for table, column in (("machines", "measured"), ("plans", "found")):
            raw.execute(f"ALTER TABLE {table} RENAME TO new")
            raw.execute(f"CREATE TABLE {table} (key TEXT PRIMARY KEY, text TEXT, {column} REAL) WITHOUT ROWID")
            raw.execute(f"INSERT INTO {table} SELECT key, content, used FROM new")
            raw.execute("DROP TABLE new")
        raw.execute("PRAGMA user_version = 3")
    raw.close()
    return old


def test_schema_3_is_taken_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    old = of_schema_3(tmp_path)
    before = old.read_bytes()
    with Database(tmp_path) as database:
        assert database.cost("a") == Measurement(1e-3, 0.01, 1e-7) and database.failure("b") == Failed("crashed")
        assert database.in_place(["a"]) == {"a": 2e-3} and database.machine("m") == "{}"
        assert database.plan("p") == "[]" and database.library("l") is None
        database.record("a", Measurement(5.0))
    Database(tmp_path).close()
    with Database(tmp_path) as database:  # once only
        assert database.cost("a") == Measurement(5.0)
    assert [r.message for r in caplog.records] == [f"the measurements of {old} are taken over"]
    assert old.read_bytes() == before


def test_a_damaged_older_file_is_left_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    old = of_schema_3(tmp_path)
    with sqlite3.connect(old) as raw:
        raw.execute("DROP TABLE costs")
    raw.close()
    with Database(tmp_path) as database:
        assert not any(database.counts().values())
        database.record_plan("p", "[]")
    database_file(tmp_path).unlink()
    old.write_bytes(b"not a database at all" * 400)
    with Database(tmp_path) as database:
        assert not any(database.counts().values())
    assert len(caplog.records) == 2
    assert all("measurements start anew" in r.message and "\n" not in r.message for r in caplog.records)


def test_other_schema_is_moved_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    Database(tmp_path).close()
    with sqlite3.connect(database_file(tmp_path)) as raw:
        raw.execute("PRAGMA user_version = 99")
    raw.close()
    with Database(tmp_path) as database:
        assert database.counts()["costs"] == 0
    (aside,) = tmp_path.glob("*.schema-99.*")
    (said,) = caplog.records
    assert aside.name in said.message


def test_damaged_file_is_one_line(tmp_path: Path) -> None:
    database_file(tmp_path).write_bytes(b"not a database at all" * 400)
    with pytest.raises(CacheError, match=r"korch cache clear.*KORCH_CACHE_DIR") as caught:
        Database(tmp_path)
    assert str(database_file(tmp_path)) in str(caught.value) and "\n" not in str(caught.value)
    clear(tmp_path)
    Database(tmp_path).close()


def test_a_schema_that_is_no_text_is_one_line(tmp_path: Path) -> None:
    """SQLite quotes the table's name in its message."""
    Database(tmp_path).close()
    file = database_file(tmp_path)
    file.write_bytes(file.read_bytes().replace(b"tablecostscosts", b"table\xdb\xb6\xffts\xdb\xb6\xffts"))
    with pytest.raises(CacheError, match="its schema is damaged; run `korch cache clear`"):
        Database(tmp_path)
    old = of_schema_3(tmp_path / "older")
    old.write_bytes(old.read_bytes().replace(b"tablecostscosts", b"table\xdb\xb6\xffts\xdb\xb6\xffts"))
    with Database(old.parent) as database:
        assert not any(database.counts().values())


def test_only_what_korch_has_made_is_cleared(tmp_path: Path) -> None:
    theirs = {"poetry.lock", "profile-notes.txt", "timing-results.csv", "profile-4.sqlite.backup", "x.so"}
    library = f"timing-{'0a' * 12}.so"
    ours = {"profile-3.sqlite", "profile-4.sqlite.schema-99.17", library, f".{library}.k3_xx"}
    for name in theirs | ours:
        (tmp_path / name).touch()
    Database(tmp_path).close()
    assert clear(tmp_path) >= len(ours) + 2
    assert {p.name for p in tmp_path.iterdir()} == theirs


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


def test_what_was_measured_is_taken_to_another_machine(tmp_path: Path) -> None:
    with Database(tmp_path / "here") as here, Database(tmp_path / "there") as there:
        here.record("a", Measurement(1e-3))
        here.record("b", Failed("wrong"))
        here.record_plan("c", "text")
        here.record_library("d", b"code")
        there.record("a", Measurement(2e-3))
        assert here.export(tmp_path / "file") == 3 == here.export(tmp_path / "file")
        assert there.take_in(tmp_path / "file") == 2 and there.take_in(tmp_path / "file") == 0
        assert there.cost("a") == Measurement(2e-3), "what is known here stays"
        assert there.failure("b") == Failed("wrong") and there.plan("c") == "text"
        assert there.library("d") is None, "machine code is made anew"


def test_a_file_that_is_no_export_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "text").write_text("hello, this is no database at all" * 40)
    with Database(tmp_path) as database:
        for name in ("empty", "text"):
            with pytest.raises(CacheError, match=name):
                database.take_in(tmp_path / name)


def filled(folder: Path) -> None:
    """A database with a row of every kind."""
    with Database(folder) as database:
        database.record("k", Measurement(1e-3, 0.01, 1e-7), 64, "loops")
        database.record("k", Failed("crashed"), label="loops")
        database.record_in_place("k", 2e-3)
        database.record_machine("k", '{"threads": 1}')
        database.record_plan("k", '{"plan": 1}')
        database.record_library("k", b"machine code" * 9)


READ: dict[str, Callable[[Database], object]] = {
    "costs": lambda d: d.cost("k"),
    "failures": lambda d: d.failure("k"),
    "in_place": lambda d: d.in_place(["k"]) or None,
    "machines": lambda d: d.machine("k"),
    "plans": lambda d: d.plan("k"),
    "libraries": lambda d: d.library("k"),
}
COLUMN = {"costs": "seconds", "failures": "reason", "in_place": "seconds"}
DAMAGE = {
    "garbage": "'[garbage'",
    "no text": "CAST(x'fffe00' AS TEXT)",
    "a blob": "x'00ff'",
    "a negative number": "-1.0",
    "cut short": "substr({0}, 1, 3)",
}


STILL_SOUND = {
    *(("failures", damage) for damage in DAMAGE if damage != "a blob"),
    ("costs", "cut short"),
    ("in_place", "cut short"),
}
"""Any text is a reason, and a number without its last digits is a number."""


@pytest.mark.parametrize("table", READ)
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_row_counts_as_none_and_is_replaced(table: str, damage: str, tmp_path: Path):
    filled(tmp_path)
    column = COLUMN.get(table, "content")
    with sqlite3.connect(database_file(tmp_path)) as raw:
        raw.execute(f"UPDATE {table} SET {column} = {DAMAGE[damage].format(column)}")
    raw.close()
    with Database(tmp_path) as database:
        found = READ[table](database)
        others = [read(database) for name, read in READ.items() if name != table]
        assert (found is None) == ((table, damage) not in STILL_SOUND)
        assert all(others), "other rows stay"
        database.failures()
    filled(tmp_path)
    with Database(tmp_path) as database:
        assert READ[table](database)


@pytest.mark.parametrize("table", ["machines", "plans", "libraries"])
def test_a_damaged_row_is_removed(table: str, tmp_path: Path):
    filled(tmp_path)
    with sqlite3.connect(database_file(tmp_path)) as raw:
        raw.execute(f"UPDATE {table} SET content = substr(content, 1, 5)")
    raw.close()
    with Database(tmp_path) as database:
        assert READ[table](database) is None and database.counts()[table] == 0


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"threads": "two"}', '{"threads": 1, "bandwidths": [1]}', "null"])
def test_a_text_that_is_no_machine_counts_as_none(text: str, tmp_path: Path):
    with Database(tmp_path) as database:
        database.record_machine("m", text)
        assert known_machine(database, "m") is None and known_machine(database, "n") is None


def test_an_export_that_fails_leaves_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    filled(tmp_path)
    (tmp_path / "file").write_bytes(b"the last one")
    with Database(tmp_path) as database:
        database._connection.execute("DROP TABLE plans")
        with pytest.raises(CacheError):
            database.export(tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"the last one"
