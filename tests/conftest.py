"""A small model and its program, optimised once a session in a cache folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import onnx
import onnx.parser
import pytest

SMALL = """
<ir_version: 8, opset_import: ["": 17]>
small (float[1,4,8,8] x) => (float[1,4,8,8] y)
<float[4,4,1,1] w = {0.1,-0.2,0.3,-0.4,0.5,0.6,-0.7,0.8,0.9,-1,1.1,1.2,-1.3,1.4,-1.5,1.6}>
{ a = Conv(x, w)  b = Relu(a)  y = Softmax<axis=1>(b) }
"""


@pytest.fixture(scope="session")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Measurements of this session, out of the user's own."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KORCH_CACHE_DIR", str(folder))
        yield folder


@pytest.fixture(scope="session")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "small.onnx"
    onnx.save(onnx.parser.parse_model(SMALL), path)
    return path


@pytest.fixture(scope="session")
def optimising(small_model: Path, cache_folder: Path) -> subprocess.CompletedProcess[str]:
    """`korch optimize --json` as a user runs it; leaves small.korch beside the model."""
    command = [sys.executable, "-m", "korch.cli", "optimize", str(small_model), "-o",
               str(small_model.with_suffix(".korch")), "--threads", "2", "--time-budget", "5", "--json"]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "KORCH_DEBUG": ""})


@pytest.fixture(scope="session")
def small_archive(small_model: Path, optimising: subprocess.CompletedProcess[str]) -> Path:
    assert optimising.returncode == 0, optimising.stderr
    return small_model.with_suffix(".korch")
