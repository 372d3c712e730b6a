"""Programs in segments compute what onnxruntime computes, whatever the data say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from tests.fission.test_segments import HEAD, LOOP, NONZERO, SEQUENCE, TOP_K
from tests.marks import SLOW, slow_but

import korch
from korch.errors import Error, InputError, NeedsSegments
from korch.executable.control import Control
from korch.executable.parts import SegmentProgram
from korch.executable.segmented import Segmented
from korch.options import Options
from korch.session import segmenting
from korch.session.segmenting import segmented

OPTIONS = Options(1, 1.0)
RANDOM = (
    HEAD
    + """(float[4,8] x) => (float[4,8] y)
{ r = RandomUniformLike(x)  s = Mul(r, x)  z = Sub(s, s)  y = Exp(z) }"""
)
BRANCH = (
    HEAD
    + """(float[4,8] x, float[8,8] w) => (float[4,8] y, float[4] c) <float zero = {0}, float[4] c = {1, 2, 3, 4}> {
  e = Exp(x)  s = ReduceSum<keepdims=0>(x)  positive = Greater(s, zero)
  b = If(positive) <then_branch = t () => (float[4,8] p) { m = MatMul(e, w)  p = Relu(m) },
                    else_branch = f () => (float[4,8] q) { k = MatMul(x, w)  q = Tanh(k) }>
  y = Softmax<axis=1>(b) }"""
)
WHILE = (
    HEAD
    + """(float[2,8] x, float[8,8] w) => (float[2,8] y, float[a,2,8] all) <float limit = {40}, bool t = {1}> {
  e = Tanh(x)
  y, all = Loop(, t, e) <body = b (int64 i, bool going, float[2,8] s) => (bool more, float[2,8] next, float[2,8] row)
    { m = MatMul(s, w)  row = Tanh(m)  a = Abs(row)  next = Add(s, a)  u = ReduceSum<keepdims=0>(next)
      more = Less(u, limit) }> }"""
)
GROWING = (
    HEAD
    + """(float[1,8] x, int64 n) => (float[a,8] y) <bool t = {1}> {
  y = Loop(n, t, x) <body = b (int64 i, bool going, float[k,8] s) => (bool more, float[j,8] next)
    { more = Identity(going)  r = Relu(s)  next = Concat<axis=0>(r, x) }> }"""
)
SCAN = (
    HEAD.replace("17", "16")
    + """(float[2,3] s, float[400,2,3] x) => (float[2,3] e, float[2,400,3] z) {
  e, z = Scan<num_scan_inputs=1, scan_output_axes=[1], scan_output_directions=[1],
    body = b (float[2,3] h, float[2,3] xi) => (float[2,3] ho, float[2,3] zi)
      { p = Tanh(xi)  ho = Add(h, p)  zi = Sigmoid(ho) }>(s, x) }"""
)
MODELS = {
    "branch": BRANCH,
    "while": WHILE,
    "growing": GROWING,
    "scan": SCAN,
    "nonzero": NONZERO,
    "loop": LOOP,
    "top k": TOP_K,
    "sequence": SEQUENCE,
    "random": RANDOM,
}


def feeds_of(model: onnx.ModelProto, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    shapes = {i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in model.graph.input}
    return {n: rng.standard_normal(s).astype(np.float32) if s else np.array(seed + 2) for n, s in shapes.items()}


@pytest.mark.parametrize("name", slow_but(MODELS, ("scan",)))
def test_a_program_in_segments_is_its_model(name: str, tmp_path: Path):
    model = onnx.parser.parse_model(MODELS[name])
    theirs = ort.InferenceSession(model.SerializeToString())
    with segmented(model, OPTIONS, lambda state: None, tmp_path)[0] as program:
        program.save(tmp_path / "m.korch")
    with korch.load(tmp_path / "m.korch") as program:
        assert isinstance(program, Segmented) and any(p.programs or isinstance(p, Control) for p in program.parts)
        for seed in range(3):
            feeds = feeds_of(model, seed)
            found = program.run(feeds)
            for name, expected in zip(found, theirs.run(list(found), feeds), strict=True):
                np.testing.assert_allclose(found[name], expected, rtol=1e-4, atol=1e-5)
        with pytest.raises(InputError, match="is missing"):
            program.run({})
        with pytest.raises(Error, match="no one plan"):
            _ = program.plan


BODIES = (("loop", 1), ("branch", 2), ("while", 1), ("growing", 1), ("scan", 1))


@pytest.mark.slow
@pytest.mark.parametrize("name, islands", BODIES)
def test_bodies_are_programs_where_they_are_faster(name: str, islands: int, tmp_path: Path, monkeypatch):
    """Whatever their speed, they compute what onnxruntime computes."""
    monkeypatch.setattr(segmenting, "race", lambda runs: [2.0, 1.0])
    model = onnx.parser.parse_model(MODELS[name])
    theirs = ort.InferenceSession(model.SerializeToString())
    with segmented(model, OPTIONS, lambda state: None, tmp_path)[0] as program:
        program.save(tmp_path / "m.korch")
    with korch.load(tmp_path / "m.korch") as program:
        assert isinstance(program, Segmented)
        (control,) = [p for p in program.parts if isinstance(p, Control)]
        inner = [p for p in control.parts() if p.programs]
        assert not control.reason and len(inner) == islands
        monkeypatch.setattr(
            SegmentProgram, "by_onnxruntime", refused if name != "growing" else SegmentProgram.by_onnxruntime
        )
        for seed in range(3):
            feeds = feeds_of(model, seed)
            found = program.run(feeds)
            for n, expected in zip(found, theirs.run(list(found), feeds), strict=True):
                np.testing.assert_allclose(found[n], expected, rtol=1e-4, atol=1e-5)


def refused(*_: object) -> None:
    raise AssertionError("onnxruntime is asked")


@SLOW
def test_bodies_that_are_slower_are_left_to_onnxruntime(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(segmenting, "race", lambda runs: [1.0, 2.0])
    with segmented(onnx.parser.parse_model(LOOP), OPTIONS, lambda state: None, tmp_path)[0] as program:
        (control,) = [p for p in program.parts if isinstance(p, Control)]
        assert control.reason == "it takes 1.000 ms, blocks 2.000 ms" and not any(p.programs for p in control.parts())
        assert "Loop, run by onnxruntime: it takes" in str(program)


def test_strings_need_segments():
    text = HEAD.replace("17", "15") + "(string[2] x) => (string[2] y) { y = Identity(x) }"
    with pytest.raises(NeedsSegments):
        korch.optimize(onnx.parser.parse_model(text))


@SLOW
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


@SLOW
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
