"""A process in the background rests after its work, and while it holds no lock."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from korch.system import throttle
from korch.system.deadline import Deadline
from korch.system.locks import _held, machine_held


@pytest.fixture
def rests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[float, bool]]]:
    """Rests of this process, which has to: their seconds, and whether others could take the lock then."""
    found: list[tuple[float, bool]] = []
    (tmp_path / "busy").touch()
    monkeypatch.setattr(throttle, "_flag", tmp_path / "busy")

    def rest(seconds: float) -> None:
        with (tmp_path / "lock").open("a") as file:
            found.append((seconds, _held(file.fileno(), 2, 0.0)))

    monkeypatch.setattr(throttle, "_rest", rest)
    yield found


def work() -> None:
    with throttle.paced():
        end = time.monotonic() + 0.01
        while time.monotonic() < end:
            pass


def test_a_piece_of_work_is_followed_by_a_rest(rests: list[tuple[float, bool]], tmp_path: Path):
    work()
    ((seconds, _),) = rests
    assert seconds >= 0.01 * throttle.REST
    (tmp_path / "busy").unlink()
    work()
    assert len(rests) == 1


def test_who_holds_a_machine_rests_when_it_is_given_back(rests: list[tuple[float, bool]], tmp_path: Path):
    lock = tmp_path / "lock"
    with machine_held(lock, until=Deadline.after(5)):
        work()
        with machine_held(tmp_path / "other"):
            work()
        assert not rests
    ((seconds, free),) = rests
    assert free and seconds >= 0.02 * throttle.REST
    work()
    assert len(rests) == 2
