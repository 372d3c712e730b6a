"""Damaged models, archives and databases: refused with errors of Korch's, and other endings are noticed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.marks import SLOW

CASES = [("model", 40), ("database", 40), *((name, 400) for name in ("model", "archive", "database"))]
ENDINGS = "endings:Endings"
REASONS = {
    2: "ValueError: wrong",
    3: "ended its process with status 7",
    4: "Slow: took 0.2 s",
}


def test_every_other_ending_is_noticed(script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    found = script("mutate").mutated(ENDINGS, 12, 0, 2, tmp_path / "files", seconds=0.2)
    drawn = [random.Random(f"0 {ENDINGS} {i}").randrange(5) for i in range(12)]
    assert set(drawn) == {0, 1, *REASONS}
    assert found.escapes == [(i, REASONS[n]) for i, n in enumerate(drawn) if n > 1]
    assert found.counts == {"worked": drawn.count(0), "ModelError": drawn.count(1)}


@pytest.mark.parametrize(("name", "count"), [pytest.param(*c, marks=[SLOW] * (c[1] > 40)) for c in CASES])
def test_damage_is_refused_in_one_line(name: str, count: int, script, tmp_path: Path):
    mutate = script("mutate")
    found = mutate.mutated(mutate.KINDS[name], count, 0, 2, tmp_path / "files")
    assert not found.escapes and len(found.counts) > 1 and sum(found.counts.values()) == count
