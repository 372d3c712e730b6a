"""Verdicts on outputs: against float64 first, beside onnxruntime only where its error matters."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import pytest

from korch.executable.feeds import other_feeds
from korch.fission import fission
from korch.fission.importer import read
from korch.fission.importer.widen import double
from korch.ir.evaluate import evaluate_graph
from korch.numerics import exact, judge
from korch.numerics.judge import Judge
from korch.numerics.verdict import Verdict

MODEL = """<ir_version: 8, opset_import: ["": 17]>
g (float[4,8] x) => (float[4,8] y, float[4,8] z)
{ y = Softmax<axis=1>(x) z = Relu(x) }
"""
RESIZE = """<ir_version: 8, opset_import: ["": 17]>
g (float[1,1,2,2] x) => (float[1,1,4,4] y)
<float[2] head = {1, 1}, float[2] tail = {2, 2}>
{ scales = Concat<axis=0>(head, tail) y = Resize<mode="nearest">(x, , scales) }
"""
SCALED = """<ir_version: 8, opset_import: ["": 17]>
g (float[1,1,height,width] x) => (float[1,1,rows,columns] y)
<int64[1] two = {2}, int64[1] three = {3}, int64[1] four = {4}, int64[2] head = {1, 1}, float[1] scale = {0.7}>
{ s = Shape(x) long = Slice(s, two, three) wide = Slice(s, three, four) exact = Cast<to=1>(long)
  less = Mul(exact, scale) whole = Floor(less) high = Cast<to=7>(whole)
  sizes = Concat<axis=0>(head, high, wide) y = Resize<mode="nearest">(x, , , sizes) }
"""
LSTM = """<ir_version: 8, opset_import: ["": 17]>
g (float[3,1,4] x) => (float[3,1,1,2] y)
{ w = ConstantOfShape<value=float[1] {0.5}>(shape_w) r = ConstantOfShape<value=float[1] {0.25}>(shape_r)
  y = LSTM<hidden_size=2, clip=9.0>(x, w, r) }
"""
FEEDS = {"x": np.random.default_rng(0).standard_normal((4, 8), dtype=np.float32)}


def judge_of(numerics: str) -> Judge:
    return Judge(read(onnx.parser.parse_model(MODEL)), FEEDS, numerics)


def outputs(error: float = 0.0) -> dict[str, np.ndarray]:
    """The right ones, but for `error` of the largest magnitude of z."""
    found = {n: y.astype(np.float32) for n, y in judge_of("default").reference.exact.items()}
    found["z"][0, 0] += error * np.abs(found["z"]).max()
    return found


@pytest.mark.parametrize(
    ("numerics", "error", "passes"),
    [
        ("default", 5e-5, True),
        ("default", 2e-4, False),
        ("fast", 5e-4, True),
        ("fast", 2e-3, False),
        ("strict", 0.0, True),
        ("strict", 1e-5, False),
    ],
)
def test_the_worst_output_decides(numerics: str, error: float, passes: bool):
    verdict = judge_of(numerics).verdict(lambda _: outputs(error))
    assert verdict.passed == passes
    if not passes:
        assert verdict.output == "z" and verdict.error == pytest.approx(error, rel=0.1) and verdict.excess > 1


def test_onnxruntime_is_not_asked_where_nothing_depends_on_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(judge, "onnxruntime_outputs", None)
    assert judge_of("default").verdict(lambda _: outputs(5e-5)).passed
    with pytest.raises(TypeError):
        judge_of("strict").verdict(lambda _: outputs())


def test_nan_is_never_right():
    found = outputs()
    found["y"][1, 1] = np.nan
    assert not judge_of("fast").verdict(lambda _: found).passed


VANISHING = """<ir_version: 8, opset_import: ["": 17]>
g (float[4,8] x) => (float[4,8] y)
<float tiny = {1e-30}> { a = Mul(x, tiny) b = Mul(a, tiny) c = Div(b, tiny) y = Div(c, tiny) }
"""
"""Its values pass 1e-60, which float32 has not: onnxruntime's outputs are zeros, whatever the inputs."""
CANCELLING = """<ir_version: 8, opset_import: ["": 17]>
g (float[4,8] x) => (float[4,8] y)
<float large = {1e7}> { a = Add(x, large) y = Sub(a, large) }
"""
"""Beside 1e7 float32 keeps whole numbers only: nothing of inputs of 1, a fiftieth of those of 25."""


def test_what_cannot_be_judged_does_not_pass():
    unjudged = Verdict("y", 1.0, None, "of a reason")
    assert not unjudged.passed and not unjudged.judged and "cannot be judged: of a reason" in unjudged.text("default")
    worst = max(Verdict("a", 1e-5, 1e-4), unjudged, Verdict("b", 2e-4, 1e-4), key=lambda v: v.excess)
    assert worst.output == "b"  # known to be wrong
    assert max(Verdict("a", 1e-5, 1e-4), unjudged, key=lambda v: v.excess) is unjudged


@pytest.mark.parametrize("numerics", ["strict", "default", "fast"])
def test_nothing_passes_where_onnxruntime_errs_by_all(numerics: str):
    model = read(onnx.parser.parse_model(VANISHING))
    asked = Judge(model, FEEDS, numerics, other_feeds(fission(model)))
    seen: list[float] = []

    def zeros(feeds):
        seen.append(float(np.abs(feeds["x"]).max()))
        return {"y": np.zeros((4, 8), np.float32)}

    verdict = asked.verdict(zeros)
    assert not verdict.judged and verdict.error == 1.0 and "errs by 1.0e+00" in verdict.reason
    assert len(set(seen)) == 6 and max(seen) > 100  # seeds and scales
    assert not asked.verdict(zeros).passed and len(seen) == 7  # none is tried twice


def test_other_inputs_tell_where_the_usual_ones_do_not():
    model = read(onnx.parser.parse_model(CANCELLING))
    asked = Judge(model, FEEDS, "strict", other_feeds(fission(model)))
    right = asked.verdict(lambda feeds: exact.onnxruntime_outputs(model, feeds))
    assert right.judged and right.passed and np.abs(asked.feeds["x"]).max() > 10
    assert not asked.verdict(lambda feeds: {"y": np.zeros((4, 8), np.float32)}).passed


def test_inputs_that_take_single_precision_only_keep_it(monkeypatch: pytest.MonkeyPatch):
    """Else the model would be evaluated with rounded weights."""
    model = read(onnx.parser.parse_model(RESIZE))
    assert [n.op_type for n in double(model).graph.node] == ["Concat", "Cast", "Resize"]
    seen = []
    monkeypatch.setattr(exact, "evaluate_graph", lambda g, f: seen.append(g.outputs[0].dtype) or evaluate_graph(g, f))
    x = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
    found = exact.float64_outputs(model, {"x": x})["y"]
    assert seen == ["float64"]
    np.testing.assert_array_equal(found, x.repeat(2, 2).repeat(2, 3))


def test_lengths_are_those_of_single_precision():
    """floor(10 * 0.7) is 7 there, and 6 in double precision."""
    model = read(onnx.parser.parse_model(SCALED), {"x": (1, 1, 10, 10)})
    x = np.random.default_rng(0).standard_normal((1, 1, 10, 10)).astype(np.float32)
    found, expected = exact.float64_outputs(model, {"x": x}), exact.onnxruntime_outputs(model, {"x": x})
    assert found["y"].shape == expected["y"].shape == (1, 1, 7, 10)


def test_operators_without_a_double_form_are_evaluated_in_single_precision():
    """onnxruntime takes an LSTM of doubles that clips, as which it stays opaque, and fails when it runs."""
    model = onnx.parser.parse_model(LSTM)
    shapes = {"shape_w": (1, 8, 4), "shape_r": (1, 8, 2)}
    model.graph.initializer.extend(onnx.numpy_helper.from_array(np.array(s), n) for n, s in shapes.items())
    feeds = {"x": np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 1, 4)}
    found, expected = exact.float64_outputs(read(model), feeds), exact.onnxruntime_outputs(model, feeds)
    np.testing.assert_allclose(found["y"], expected["y"], rtol=1e-6)
