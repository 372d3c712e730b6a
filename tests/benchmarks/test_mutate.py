"""Damaged models, archives and databases: refused with errors of Korch's, and other endings are noticed."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
from rich.progress import Progress
from tests.marks import SLOW

from korch.errors import ModelError

CASES = [("model", 40), ("database", 40), *((name, 400) for name in ("model", "archive", "database"))]


class Endings:
    """Four files that end well, with an error of several lines, with another error and with the process."""

    def __init__(self, folder: Path) -> None:
        pass

    def make(self, rng: random.Random) -> bytes:
        return b""

    def use(self, data: bytes) -> None:
        number = Endings.count
        Endings.count += 1
        if number == 1:
            raise ModelError("one line\nand another")
        if number == 2:
            raise ValueError("wrong")
        if number == 3:
            os._exit(7)
        if number == 4:
            time.sleep(60)

    count = 0


def test_every_other_ending_is_noticed(script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    mutate = script("mutate")
    monkeypatch.setitem(mutate.KINDS, "endings", Endings)
    monkeypatch.setattr(mutate, "SECONDS", 0.2)
    with Progress(disable=True) as progress:
        found = mutate.mutated("endings", 5, 0, 1, tmp_path / "files", progress)
    several, other = (1, "an error of several lines: one line\nand another"), (2, "ValueError: wrong")
    assert found.escapes == [several, other, (3, "ended with 7")]  # the next process begins to count anew
    assert found.counts["worked"] == 2


def test_a_file_that_takes_too_long_is_noticed(script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    mutate = script("mutate")
    monkeypatch.setitem(mutate.KINDS, "endings", Endings)
    monkeypatch.setattr(mutate, "SECONDS", 0.2)
    monkeypatch.setattr(Endings, "count", 4)
    with Progress(disable=True) as progress:
        found = mutate.mutated("endings", 1, 0, 1, tmp_path / "files", progress)
    assert found.escapes == [(0, "Slow: took 0.2 s")]


@pytest.mark.parametrize(("name", "count"), [pytest.param(*c, marks=[SLOW] * (c[1] > 40)) for c in CASES])
def test_damage_is_refused_in_one_line(name: str, count: int, script, tmp_path: Path):
    with Progress(disable=True) as progress:
        found = script("mutate").mutated(name, count, 0, 2, tmp_path / "files", progress)
    assert not found.escapes and len(found.counts) > 1 and sum(found.counts.values()) == count
