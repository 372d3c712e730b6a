"""Children have this process's imports, and none of the working directory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from korch.system.processes import plain_environment


def test_a_child_imports_what_this_process_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "bisect.py").write_text("raise SystemExit('that of the working directory')")
    (tmp_path / "neighbour.py").write_text("import bisect; print('there')")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *filter(None, sys.path)])
    command = [sys.executable, "-m", "neighbour"]
    assert subprocess.check_output(command, text=True, env=plain_environment()) == "there\n"


def test_variables_are_changed_and_taken_away(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KORCH_KEPT", "")
    monkeypatch.setenv("KORCH_GONE", "1")
    told = plain_environment(KORCH_GONE="", KORCH_NEW="2")
    assert told["KORCH_KEPT"] == "" and told["KORCH_NEW"] == "2" and "KORCH_GONE" not in told
