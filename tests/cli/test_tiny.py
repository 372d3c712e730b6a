"""The example of the README, end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from korch.cli import main

TINY = str(Path(__file__).parents[2] / "examples" / "tiny.onnx")


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("numerics", ["default", "strict"])
def test_tiny(cache_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], numerics: str):
    archive = str(tmp_path / "tiny.korch")
    assert main(["optimize", TINY, "-o", archive, "--time-budget", "30", "--numerics", numerics, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kernels"] > 10
    assert main(["verify", archive, TINY]) == 0
    assert main(["explain", archive]) == 0
