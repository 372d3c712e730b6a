"""`korch certify` writes files that a checker of the standard library alone confirms."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from korch.cli import main
from korch.solve import checker


@pytest.mark.slow
def test_a_stranger_confirms_the_proof(
    small_model: Path, cache_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = tmp_path / "proof"
    asked = ["certify", str(small_model), "-o", str(folder), "--threads", "1", "--time-budget", "3"]
    assert main(asked) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{folder}: model.korch, program.mps, certificate.json, candidates.json, checker.py"
    files = [folder / name for name in ("checker.py", "program.mps", "certificate.json", "candidates.json")]
    done = subprocess.run([sys.executable, "-I", "-S", *map(str, files)], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.splitlines() == lines[1:]
    kernels = [k["kernel"] for k in json.loads(files[-1].read_text())["candidates"]]
    assert any(k.endswith(", measured") for k in kernels) and all(kernels)
    assert main([*asked, "--physics", "--json"]) == 0
    assert 0 <= json.loads(capsys.readouterr().out)["gap"] <= 1
    claims = json.loads(files[2].read_text())
    files[2].write_text(json.dumps({**claims, "bound": str(2 * float(claims["cost"]))}))
    assert subprocess.run([sys.executable, *map(str, files)], capture_output=True).returncode == 1


def test_a_certificate_is_for_one_binding(tmp_path: Path, small_model: Path, capsys: pytest.CaptureFixture[str]):
    asked = ["certify", str(small_model), "-o", str(tmp_path / "x"), "--shape", "x=1,2", "--shape", "x=2,2"]
    assert main(asked) == 2
    assert capsys.readouterr().err == "error: a certificate is for one binding: give one --shape for each input\n"
    assert not (tmp_path / "x").exists()


def test_what_cannot_be_read_or_written_is_told_in_a_line(
    tmp_path: Path, small_model: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "file").write_text("")
    assert main(["certify", str(small_model), "-o", str(tmp_path / "file")]) == 2
    assert "cannot make the folder" in capsys.readouterr().err
    assert main(["certify", str(tmp_path / "none.onnx"), "-o", str(tmp_path / "y")]) == 2
    assert "none.onnx: cannot be read" in capsys.readouterr().err


def test_the_checker_complains_of_files_that_are_missing(tmp_path: Path):
    (line,) = checker.checked(str(tmp_path / "none.mps"), str(tmp_path / "none.json"))
    assert line.startswith("REJECTED: a file cannot be read: FileNotFoundError")
