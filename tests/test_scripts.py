"""./demo and ./test: an environment that is of no use is made anew, any other is kept."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
INTERPRETER = """#!/bin/sh
case "$*" in
    *"print("*) echo {version} ;;
    *"pip --version"*) exit {pip} ;;
    *"pip install"*) exit 9 ;;
    *venv*) echo "$@" >> "$LOG" ;;
esac
"""


def interpreter(file: Path, version: str, pip: int = 0) -> Path:
    """One that has no pip where that is not 0, and tells what environments it was to make."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(INTERPRETER.format(version=version, pip=pip))
    file.chmod(0o755)
    return file


@pytest.mark.parametrize("script", ["demo", "test"])
@pytest.mark.parametrize(("version", "pip", "named", "made"), [
    ("3 12", 0, True, ""), ("3 12", 1, True, "-m venv --clear {venv}\n"), ("3 11", 0, True, "-m venv --clear {venv}\n"),
    ("3 11", 0, False, ""), (None, 0, True, "-m venv {venv}\n"),
])  # fmt: skip
def test_environments(tmp_path: Path, script: str, version: str | None, pip: int, named: bool, made: str):
    venv, log = tmp_path / "venv", tmp_path / "log"
    python = interpreter(tmp_path / "bin" / "python3", "3 12")
    if version:
        interpreter(venv / "bin" / "python", version, pip)
        (venv / "pyvenv.cfg").touch()
    log.touch()
    (tmp_path / script).write_text((ROOT / script).read_text())  # a copy: it removes what was built beside it
    environment = {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}", "VENV": str(venv), "LOG": str(log),
                   "PYTHON": str(python) if named else ""}  # fmt: skip
    done = subprocess.run(["bash", str(tmp_path / script)], capture_output=True, env=environment)
    assert done.returncode == (9 if version else 127)
    assert log.read_text() == made.format(venv=venv)
