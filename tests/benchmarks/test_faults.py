"""Calls that fail cost a run at most: the next one is whole."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "faults.py"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the shim is for Linux")


def results(file: Path, *options: str) -> dict[str, Any]:
    """The script's, which must have no losses."""
    done = subprocess.run([sys.executable, SCRIPT, "-o", file, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(file.read_text())


def test_the_cache_survives_calls_that_fail(tmp_path: Path):
    (found,) = results(tmp_path / "results.json", "--only", "rows", "--first", "--most", "6").values()
    assert found["fired"] == found["faults"] >= 6


@pytest.mark.slow
@pytest.mark.nightly
def test_programs_and_sessions_survive_calls_that_fail(tmp_path: Path):
    """At some of the first calls of all sites."""
    file = tmp_path / "results.json"
    found = results(file, "--first", "--most", "15", "--only", "rows", "save", "load")
    found |= results(file, "--first", "--most", "6", "--only", "recall", "search")
    assert all(r["fired"] > 0.8 * r["faults"] for r in found.values())
    assert sum(r["fired"] for r in found.values()) > 50
