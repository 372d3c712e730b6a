"""Verification: what counts as an error, what is allowed, and that the float64 side is what the model says."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx.reference import ReferenceEvaluator

from korch.backends.contract import Host, Kernel, Variant
from korch.errors import ModelError, VerificationError
from korch.executable import Executable, Plan, Step
from korch.fission import fission
from korch.fission.importer import read
from korch.fission.importer.widen import double
from korch.ir import Cone
from korch.ir.evaluate import evaluate_graph
from korch.ir.onnx_write import cone_to_onnx
from korch.numerics.error import bound_of, error_of
from korch.numerics.exact import float64_outputs
from korch.report.verify import OutputCheck, Verification, verify

HEAD = '<ir_version: 8, opset_import: ["": 17]>'
MODEL = f"""{HEAD}
g (float[1,2,6,6] x) => (float[1,3,6,6] y, int64[1,1,6,6] top)
<float[2] scale = {{0.7,1.3}}, float[2] bias = {{0.1,-0.2}}, float[2] mean = {{0.3,0.1}}, float[2] var = {{0.9,1.7}},
 float[3,2,1,1] w = {{0.1,-0.2,0.3,0.4,-0.5,0.6}}>
{{ n = BatchNormalization(x, scale, bias, mean, var) a = Conv(n, w) b = Cast<to=1>(a) y = Softmax<axis=1>(b)
   top = ArgMax<axis=1>(a) }}
"""
FOLDED = f"""{HEAD}
g (float[1,2,6,6] x) => (float[1,3,6,6] y)
<float[3] scale = {{0.7,1.3,1.1}}, float[3] bias = {{0.1,-0.2,0.3}}, float[3] mean = {{0.3,0.1,0.2}},
 float[3] var = {{0.9,1.7,0.3}}, float[3,2,1,1] w = {{0.1,-0.2,0.3,0.4,-0.5,0.6}}>
{{ a = Conv(x, w) n = BatchNormalization(a, scale, bias, mean, var) half = Constant<value_float = 0.1>()
   y = Mul(n, half) }}
"""


def parsed(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(text)


def program(model: onnx.ModelProto, numerics: str = "default") -> Executable:
    """One step a primitive, all run by onnxruntime: no search."""
    graph = fission(read(model))
    cones = [Cone.of([p]) for p in graph.primitives]
    kernels = [Kernel(c, "onnxruntime", Variant(), Host(cone_to_onnx(c).SerializeToString())) for c in cones]
    return Executable.link(Plan(graph, tuple(map(Step.of, kernels)), 1, numerics))


def test_an_executable_is_its_model():
    with program(parsed(MODEL)) as executable:
        result = verify(executable, parsed(MODEL))
    y, top = result.outputs
    assert result.passed and (y.name, top.name) == ("y", "top")
    assert 0 < y.korch_error < 1e-6 and y.ratio < 4 and y.bound == 1e-4
    assert top.korch_error == top.tolerance == 0 and top.ratio == 1
    result.require()


def test_numerics_bound_the_error():
    text = MODEL.replace("0.1,-0.2,0.3,0.4", "0.1,-0.2,0.3,0.4005")
    for numerics, passes in (("fast", True), ("default", False), ("strict", False)):
        with program(parsed(text), numerics) as executable:
            result = verify(executable, parsed(MODEL))
        assert result.outputs[0].passed == passes, result


def test_a_failure_names_the_worst_output():
    checks = (
        OutputCheck("a", 2e-4, 1e-7, 2e-4, 1e-4),
        OutputCheck("b", 1.0, 1e-7, 1.0, 1e-4),
        OutputCheck("c", 0.0, 0.0, 0.0, 1e-4),
    )
    with pytest.raises(
        VerificationError, match=r"output 'b' is 1.00e\+00 .* allow 1.00e-04 \(2 of 3 outputs are wrong\)"
    ):
        Verification("default", checks).require()
    assert checks[2].ratio == 1 and OutputCheck("d", 1e-9, 0.0, 0.0, 1e-4).ratio == inf


def test_another_model_is_refused():
    with program(parsed(MODEL)) as executable:
        for text in (
            MODEL.replace(" x)", " z)").replace("(x", "(z"),
            MODEL.replace("1,2,6,6] x", "1,2,6] x"),
            MODEL.replace(" y", " q"),
        ):
            with pytest.raises(ModelError):
                verify(executable, parsed(text))


def test_float64_has_no_rounded_weights():
    """BatchNormalization folded into the weights rounds them; the reference must not."""
    model = read(parsed(FOLDED))
    feeds = {"x": np.random.default_rng(0).standard_normal((1, 2, 6, 6), dtype=np.float32)}
    wide = {"x": feeds["x"].astype(np.float64)}
    # 0.1 is float32's in `value_float`: widening keeps its value
    (exact,) = ReferenceEvaluator(double(model)).run(None, wide)  # type: ignore[misc]
    np.testing.assert_allclose(float64_outputs(model, feeds)["y"], exact, rtol=1e-10)
    assert np.abs(evaluate_graph(fission(model), feeds)["y"] - exact).max() > 1e-9


def test_what_has_no_float64_form_is_evaluated_as_it_is():
    """onnxruntime runs MaxRoiPool, which has no rule, on float32 only."""
    signature = "(float[1,1,4,4] x, float[1,5] rois) => (float[1,1,2,2] y)"
    model = read(parsed(f"{HEAD} g {signature} {{ y = MaxRoiPool<pooled_shape=[2,2]>(x, rois) }}"))
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    outputs = float64_outputs(model, {"x": x, "rois": np.array([[0, 0, 0, 3, 3]], np.float32)})
    np.testing.assert_array_equal(outputs["y"], [[[[5, 7], [13, 15]]]])


VANISHING = f"""{HEAD}
g (float[1,8] x) => (float[1,8] y)
<float tiny = {{1e-30}}> {{ a = Mul(x, tiny) b = Mul(a, tiny) c = Div(b, tiny) y = Div(c, tiny) }}
"""
"""Its values pass 1e-60, which float32 has not."""


def test_what_cannot_be_judged_is_not_ok():
    with program(parsed(VANISHING)) as executable:  # fission folds the factors: nothing vanishes
        assert verify(executable, parsed(VANISHING)).passed
    with program(parsed(VANISHING.replace("Div(b, tiny)", "Mul(b, tiny)"))) as executable:
        result = verify(executable, parsed(VANISHING))
    (y,) = result.outputs
    assert not result.passed and y.bound is None and y.verdict == "cannot be judged" and y.korch_error == 1
    with pytest.raises(VerificationError, match=r"output 'y' cannot be judged: onnxruntime itself errs by 1.0e\+00"):
        result.require()
    (told,) = result.to_json()["outputs"]
    assert told["bound"] is None and told["judged"] is told["passed"] is False


F32, F16, I64 = np.dtype("float32"), np.dtype("float16"), np.dtype("int64")


@pytest.mark.parametrize(
    ("numerics", "theirs", "dtype", "bound"),
    [
        ("default", 1e-6, F32, 1e-4),
        ("fast", 1e-6, F32, 1e-3),
        ("strict", 1e-6, F32, 4e-6),
        ("strict", 0.0, F32, np.finfo(np.float32).eps),
        ("default", 1e-3, F16, 4e-3),
        ("default", 0.0, I64, 1e-4),
        ("default", 0.01, I64, 0.04),
        ("default", 2e-3, F32, 8e-3),
        ("fast", 2e-3, F32, 8e-3),
        ("default", 9e-5, F32, 1e-4),
        ("relaxed", 1e-6, F32, 1e-2),
        ("3e-3", 1e-6, F32, 3e-3),
        ("3e-3", 4e-3, F32, 1.6e-2),
        ("3e-3", 1e-6, F16, 3e-3),
        ("default", 0.024, F32, 0.096),
        ("default", 0.026, F32, None),
        ("strict", 0.026, F16, None),
        ("fast", 0.5, I64, None),
    ],
)
def test_bounds(numerics: str, theirs: float, dtype: np.dtype, bound: float | None):
    found = bound_of(numerics, theirs, dtype)
    assert found is None if bound is None else found == pytest.approx(bound)


@pytest.mark.parametrize(
    ("found", "exact", "single", "error"),
    [
        ([1.0, 4.5], [1.0, 5.0], [1.0, 5.0], 0.1),
        ([nan, inf], [nan, inf], [nan, inf], 0.0),
        ([1.0, nan], [1.0, 5.0], [1.0, 5.0], inf),
        ([1.0, 2.0], [1.0, inf], [1.0, inf], inf),
        ([1.0, 7.0], [1.0, 1e300], [1.0, inf], 0.0),
        ([0.0, 0.5], [0.0, 0.0], [0.0, 0.0], 0.5),
        ([], [], [], 0.0),
    ],
)
def test_errors_are_of_the_largest_magnitude(found, exact, single, error):
    assert error_of(*(np.array(x, np.float64) for x in (found, exact, single))) == pytest.approx(error)


def test_errors_of_integers_are_the_share_that_differs():
    a, b = np.array([1, 2, 3, 4]), np.array([1, 2, 3, 900])
    assert error_of(a, b, b) == 0.25
