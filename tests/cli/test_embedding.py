"""The start of a transformer, end to end: rows of tables that the input chooses, summed and normalised."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import korch
from korch.cli import main

TEXT = """
<ir_version: 8, opset_import: ["": 17]>
embedding (int64[2,7] ids, int64[2,7] kinds) => (float[2,7,32] y)
{
  w = Gather(words, ids)
  k = Gather(sorts, kinds)
  a = Add(w, k)
  b = Add(a, places)
  y = LayerNormalization(b, scale, shift)
}
"""
WEIGHTS = {"words": (50, 32), "sorts": (2, 32), "places": (7, 32), "scale": (32,), "shift": (32,)}


def embedding() -> onnx.ModelProto:
    model, rng = onnx.parser.parse_model(TEXT), np.random.default_rng(0)
    for name, shape in WEIGHTS.items():
        array = rng.standard_normal(shape, dtype=np.float32)
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    return model


@pytest.fixture
def model(tmp_path: Path) -> Path:
    onnx.save(embedding(), tmp_path / "embedding.onnx")
    return tmp_path / "embedding.onnx"


@pytest.mark.slow
@pytest.mark.nightly
def test_embedding(model: Path, cache_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    archive, ids = str(tmp_path / "embedding.korch"), str(tmp_path / "ids.npy")
    command = ["optimize", str(model), "-o", archive, "--threads", "1", "--time-budget", "60"]
    assert main(command) == 0
    with korch.load(archive) as executable:
        assert {s.kernel.backend for s in executable.plan.steps} == {"loops"}
    np.save(ids, np.random.default_rng(1).integers(-50, 50, (2, 7)))
    assert main(["verify", archive, str(model), "--input", f"ids={ids}"]) == 0
    np.save(ids, np.full((2, 7), 50))
    assert main(["run", archive, "--input", f"ids={ids}"]) == 2
    assert "was given an index outside of the axis" in capsys.readouterr().err
