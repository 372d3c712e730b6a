"""Programs in segments compute what onnxruntime computes, whatever the data say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from tests.fission.test_segments import HEAD, LOOP, NONZERO, SEQUENCE, TOP_K

import korch
from korch.errors import Error, InputError, NeedsSegments
from korch.executable.segmented import Segmented
from korch.options import Options
from korch.session.segmenting import segmented

OPTIONS = Options(1, 1.0)
RANDOM = (
    HEAD
    + """(float[4,8] x) => (float[4,8] y)
{ r = RandomUniformLike(x)  s = Mul(r, x)  z = Sub(s, s)  y = Exp(z) }"""
)
MODELS = {"nonzero": NONZERO, "loop": LOOP, "top k": TOP_K, "sequence": SEQUENCE, "random": RANDOM}


def feeds_of(model: onnx.ModelProto, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    shapes = {i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in model.graph.input}
    return {n: rng.standard_normal(s).astype(np.float32) if s else np.array(seed + 2) for n, s in shapes.items()}


@pytest.mark.parametrize("name", MODELS)
def test_a_program_in_segments_is_its_model(name: str, tmp_path: Path):
    model = onnx.parser.parse_model(MODELS[name])
    theirs = ort.InferenceSession(model.SerializeToString())
    with segmented(model, OPTIONS, lambda state: None, tmp_path) as program:
        program.save(tmp_path / "m.korch")
    with korch.load(tmp_path / "m.korch") as program:
        assert isinstance(program, Segmented) and any(p.programs for p in program.parts)
        for seed in range(3):
            feeds = feeds_of(model, seed)
            found = program.run(feeds)
            for name, expected in zip(found, theirs.run(list(found), feeds), strict=True):
                np.testing.assert_allclose(found[name], expected, rtol=1e-4, atol=1e-5)
        with pytest.raises(InputError, match="input 'x' is missing"):
            program.run({})
        with pytest.raises(Error, match="no one plan"):
            _ = program.plan


def test_strings_need_segments():
    text = HEAD.replace("17", "15") + "(string[2] x) => (string[2] y) { y = Identity(x) }"
    with pytest.raises(NeedsSegments):
        korch.optimize(onnx.parser.parse_model(text))


def test_the_command_line_takes_such_models(tmp_path: Path, monkeypatch, capsys):
    from korch.cli.main import main

    monkeypatch.setenv("KORCH_CACHE_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    onnx.save(onnx.parser.parse_model(NONZERO), "m.onnx")
    assert main(["optimize", "m.onnx", "--threads", "1", "--time-budget", "1"]) == 0
    assert "2 segments, 1 of them run by onnxruntime" in capsys.readouterr().out
    for command in ("run", "explain"):
        assert main([command, "m.korch"]) == 0
    assert "host segment" in capsys.readouterr().out
    assert main(["verify", "m.korch", "m.onnx"]) == 0


def test_one_archive_serves_several_shapes(tmp_path: Path, monkeypatch, capsys):
    from korch.cli.main import main

    monkeypatch.setenv("KORCH_CACHE_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    model = onnx.parser.parse_model(HEAD + "(float[n,8] x) => (float[n,8] y) { a = Relu(x)  y = Softmax<axis=1>(a) }")
    onnx.save(model, "m.onnx")
    shapes = ["--shape", "x=2,8", "--shape", "x=5,8"]
    assert main(["optimize", "m.onnx", "--threads", "1", "--time-budget", "1", *shapes]) == 0
    assert "a program for each of 2 shapes" in capsys.readouterr().out
    with korch.load("m.korch") as program:
        assert isinstance(program, Segmented) and len(program.parts[0].programs) == 2
        for n in (2, 5, 3):
            (y,) = program.run({"x": np.ones((n, 8), np.float32)}).values()
            np.testing.assert_allclose(y, np.full((n, 8), 1 / 8), rtol=1e-5)
    assert main(["run", "m.korch", "--shape", "x=5,8"]) == 0
