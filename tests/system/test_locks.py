"""Locks on files, held for each other by open files of one process or several."""

from __future__ import annotations

import errno
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from korch.system import locks, throttle
from korch.system.deadline import Deadline
from korch.system.locks import locked

pytest.importorskip("fcntl")
LONG, SHORT = 0.5, 0.2


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only who waits makes time pass."""
    now = [0.0]
    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda s: now.__setitem__(0, now[0] + s))
    monkeypatch.setattr(locks, "time", clock)
    monkeypatch.setattr(throttle, "time", clock)


def waited(path: Path, shared: bool = False, patience: float = LONG) -> bool:
    begin = locks.time.monotonic()
    with locked(path, shared, patience):
        return locks.time.monotonic() - begin > SHORT


def test_shared_locks_keep_only_others_waiting(tmp_path: Path):
    path = tmp_path / "lock"
    with locked(path, shared=True):
        assert not waited(path, shared=True)
        assert waited(path)
    with locked(path):
        assert waited(path, shared=True)


def test_a_lock_is_free_when_its_block_ends(tmp_path: Path):
    path = tmp_path / "lock"
    with pytest.raises(KeyError), locked(path):
        raise KeyError
    assert not waited(path)


def test_who_has_no_time_does_not_wait(tmp_path: Path):
    """Nor says that others need not."""
    path = tmp_path / "lock"
    with locked(path):
        begin = locks.time.monotonic()
        with locked(path, until=Deadline(begin - 1.0)):
            assert locks.time.monotonic() - begin < SHORT
        assert waited(path)


def test_what_is_held_for_ever_is_waited_for_once(tmp_path: Path):
    path = tmp_path / "lock"
    with locked(path):
        assert waited(path) and not waited(path)
    assert not waited(path)
    with locked(path):
        assert waited(path), "it has been free since"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: os.mkfifo(path),
        lambda path: path.symlink_to(path.parent / "elsewhere"),
        lambda path: path.mkdir(),
        lambda path: (path.touch(), os.link(path, path.parent / "another name")),
    ],
    ids=["pipe", "link", "folder", "hard link"],
)
def test_a_spoilt_lock_is_replaced_by_one_of_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, spoil: Callable[[Path], object]
):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("KORCH_CACHE_DIR", str(tmp_path / "own"))
    path = locks.machine_lock()
    spoil(path)
    with locked(path):
        assert waited(path)
    assert not waited(path) and not (path.parent / "elsewhere").exists()
    assert [r.getMessage() for r in caplog.records if "cannot be used" in r.getMessage()] == [
        m for m in caplog.messages if str(tmp_path / "own") in m
    ]


def test_no_other_user_can_open_a_lock_among_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = locks.machine_lock()
    path.touch(0o644)
    with locked(path):
        assert path.stat().st_mode & 0o777 == 0o600


HOLDER = (
    "import fcntl, sys; f = open(sys.argv[1], 'a'); fcntl.flock(f, fcntl.LOCK_EX); print(flush=True); sys.stdin.read()"
)


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="needs /proc/locks")
def test_a_line_says_for_whom_one_waits(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path / "lock")], stdin=pipe, stdout=pipe) as other:
        assert other.stdout and other.stdout.readline()
        with caplog.at_level(logging.WARNING):
            assert waited(tmp_path / "lock", patience=2 * locks.SAID_AFTER)
        first, second = caplog.messages
        assert f"held by process {other.pid} (" in first and "going on without the lock" in second
        other.communicate()


@pytest.mark.parametrize(("function", "error"), [("open", errno.EMFILE), ("flock", errno.ENOLCK)])
def test_where_the_system_has_no_lock_work_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, function: str, error: int
):
    def refused(*_: object) -> int:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os if function == "open" else locks.fcntl, function, refused)
    before, ran = len(os.listdir("/proc/self/fd")), False
    with locked(tmp_path / "lock"):
        ran = True
    assert ran and len(os.listdir("/proc/self/fd")) == before
    (line,) = (r.getMessage() for r in caplog.records)
    assert line.startswith("going on without the lock") and os.strerror(error) in line
