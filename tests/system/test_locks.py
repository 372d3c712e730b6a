"""Locks on files, held for each other by open files of one process or several."""

from __future__ import annotations

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
