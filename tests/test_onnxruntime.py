"""The module in the place of onnxruntime's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import onnxruntime as theirs
import pytest

import korch
from korch import onnxruntime as ours


def test_all_names_are_there():
    assert {name for name in dir(theirs) if not name.startswith("_")} <= set(dir(ours))
    assert ours.InferenceSession is korch.InferenceSession and ours.SessionOptions is theirs.SessionOptions
    assert ours.__version__ == theirs.__version__


@pytest.fixture
def installed():
    ours.install(tune="off", threads=1)
    yield
    ours.uninstall()


def test_programs_that_import_onnxruntime_get_korchs_session(installed: None, small_model: Path):
    session = theirs.InferenceSession(str(small_model))
    assert isinstance(session, korch.InferenceSession) and session.status().tune == "off"
    assert session.programs.options.threads == 1


def test_afterwards_all_is_as_before(small_model: Path):
    assert not issubclass(theirs.InferenceSession, korch.InferenceSession)


def test_a_program_is_run_with_it(tmp_path: Path, small_model: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KORCH_TUNE", "off")
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\nfrom onnxruntime import InferenceSession\n"
        "print(sys.argv[1], InferenceSession(sys.argv[1]).status().tune, __name__)"
    )
    command = [sys.executable, "-m", "korch.onnxruntime", str(program), str(small_model)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.split() == [str(small_model), "off", "__main__"], done.stderr
