"""Models of halves compute in float32, between inputs and outputs that stay as they are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper, parser

import korch
from korch.fission import fission
from korch.fission.importer import read
from korch.ir.constants import Folded
from korch.ir.evaluate import evaluate_graph
from korch.ir.graph import Graph

RNG = np.random.default_rng(0)
HEAD = '<ir_version: 8, opset_import: ["": 17]> g '


def parsed(text: str, **weights: np.ndarray) -> onnx.ModelProto:
    model = parser.parse_model(HEAD + text)
    model.graph.initializer.extend(numpy_helper.from_array(w, name) for name, w in weights.items())
    return model


def graph_of(model: onnx.ModelProto) -> Graph:
    return fission(read(model))


def dtypes(graph: Graph) -> set[str]:
    """Of everything that is computed, but at the outputs."""
    return {p.output.dtype for p in graph.primitives if p.output not in graph.outputs}


def near_onnxruntime(model: onnx.ModelProto, feeds: Mapping[str, np.ndarray], graph: Graph | None = None) -> Graph:
    """The graph computes what onnxruntime does, up to the rounding of its nodes to halves."""
    graph = graph or graph_of(model)
    found = evaluate_graph(graph, feeds)
    expected = ort.InferenceSession(model.SerializeToString()).run(list(found), dict(feeds))
    for (name, y), theirs in zip(found.items(), expected, strict=True):
        assert y.shape == theirs.shape, name
        np.testing.assert_allclose(y.astype(np.float64), theirs.astype(np.float64), rtol=4e-3, atol=4e-3)
    assert [t.dtype for t in graph.outputs] == [y.dtype for y in expected]
    return graph


def halves(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float16)


def test_nodes_compute_in_float32_and_the_types_outside_stay():
    model = parsed(
        "(float16[4,8] x) => (float16[4,6] y) { m = MatMul(x, w) r = Relu(m) y = Softmax(r) }", w=halves(8, 6)
    )
    graph = near_onnxruntime(model, {"x": halves(4, 8)})
    assert dtypes(graph) == {"float32"}
    assert [t.dtype for t in (*graph.inputs, *graph.outputs)] == ["float16", "float16"]


def test_values_in_between_have_the_range_of_float32():
    """Where float16 overflows, and the result does not."""
    graph = graph_of(parsed("(float16[2] x) => (float16[2] y) { s = Mul(x, x) y = Sqrt(s) }"))
    np.testing.assert_array_equal(evaluate_graph(graph, {"x": np.float16([300, -6e4])})["y"], np.float16([300, 6e4]))


@pytest.mark.parametrize(
    "node",
    ["LRN<size=3>(x)", "LpNormalization(x)", "MeanVarianceNormalization(x)", "ReduceL2(x)", "ReduceLogSumExp(x)"],
)
def test_halves_are_squared_and_summed_in_single_precision(node):
    """300^2 is beyond what a half can be."""
    x = (RNG.standard_normal((1, 3, 4, 4)) * 200).astype(np.float16)
    shape = "[1,1,1,1]" if "Reduce" in node else "[1,3,4,4]"
    text = f"(T[1,3,4,4] x) => (T{shape} y) {{ y = {node} }}"
    half, single = (graph_of(parsed(text.replace("T", dtype))) for dtype in ("float16", "float"))
    (found,), (expected,) = (evaluate_graph(g, {"x": x.astype(g.inputs[0].dtype)}).values() for g in (half, single))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert dtypes(half) == {"float32"}


def test_halves_lose_no_integers():
    """Numbers that are scaled by halves are not held in them: 60001 is between two."""
    text = """(uint16[2] q, float16[3] x) => (float16[2] y, uint16[3] p) {
      y = DequantizeLinear(q, s, z) p = QuantizeLinear(x, s, h) }"""
    weights = {"s": np.float16(1), "z": np.uint16(60000), "h": np.uint16(32768)}
    model = parsed(text, **{n: np.asarray(v) for n, v in weights.items()})
    model.opset_import[0].version = 21
    graph = graph_of(model)
    feeds = {"q": np.uint16([60001, 5]), "x": np.float16([1, 2, -3])}
    found = evaluate_graph(graph, feeds)
    np.testing.assert_array_equal(found["y"], [1, -59995])
    np.testing.assert_array_equal(found["p"], np.uint16([32769, 32770, 32765]))


def test_large_weights_stay_narrow_until_they_are_read():
    model = parsed(
        "(float16[2,128] x) => (float16[2,96] y) { m = MatMul(x, w) y = Add(m, b) }", w=halves(128, 96), b=halves(96)
    )
    prepared = read(model)
    assert {t.name: t.data_type for t in prepared.graph.initializer} == {
        "w": TensorProto.FLOAT16,
        "b": TensorProto.FLOAT,
    }
    graph = near_onnxruntime(model, {"x": halves(2, 128)})
    folded = next(p for p in graph.primitives if p.op == "MatMul").inputs[1]
    entry = graph.constants.entry(folded.name)  # type: ignore[attr-defined]
    assert isinstance(entry, Folded) and entry.primitive.op == "Cast"


def test_casts_and_constants_inside_become_float32():
    text = """(float[3] x) => (float[3] y)
    { h = Cast<to=10>(x) one = Constant<value_float=1.5>() half = Cast<to=10>(one) m = Mul(h, half) n = Mul(m, w)
      y = Cast<to=1>(n) }"""
    graph = near_onnxruntime(parsed(text, w=np.float16([1, 2, 3])), {"x": np.float32([1, -2, 3.5])})
    assert {p.op for p in graph.primitives} == {"Mul"}


def test_bodies_of_control_flow_see_the_same_values():
    text = """(float16[2] x, bool c) => (float16[2] y) {
      d = Add(x, x)
      y = If(c) <then_branch = t () => (float16[2] a) { a = Add(d, x) },
                 else_branch = f () => (float16[2] b) { x2 = Neg(d) b = Mul(x2, x) }> }"""
    prepared = read(parsed(text), values={"c": np.asarray(True)})
    found = evaluate_graph(fission(prepared), {"x": np.float16([1, 2])})["y"]
    np.testing.assert_array_equal(found, np.float16([3, 6]))


@pytest.mark.parametrize(
    "text",
    [
        "(float16[2] x) => (float16[2] y, float16[2] z) { y = Relu(x) z = Neg(y) }",
        "(float16[2] x) => (float16[2] x, float16[2] y) { y = Relu(x) }",
        "(float16[2] x, float[2] s) => (float16[2] y, float[2] z) { c = Cast<to=1>(x) z = Add(c, s) y = Neg(x) }",
    ],
    ids=["an output that is read", "an input that is given out", "beside float32"],
)
def test_outputs_keep_names_and_types(text: str):
    model = parsed(text)
    given = {i.name: RNG.standard_normal(2) for i in model.graph.input}
    types = {i.name: helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type) for i in model.graph.input}
    near_onnxruntime(model, {name: x.astype(types[name]) for name, x in given.items()})


def test_bfloat16_is_float32_outside_too():
    w = helper.make_tensor("w", TensorProto.BFLOAT16, (4, 2), np.arange(8.0))
    model = parsed("(bfloat16[3,4] x) => (bfloat16[3,2] y) { m = MatMul(x, w) y = Relu(m) }")
    model.graph.initializer.append(w)
    graph = graph_of(model)
    assert {t.dtype for t in (*graph.inputs, *graph.outputs)} | dtypes(graph) == {"float32"}
    x = np.float32(RNG.integers(-4, 5, (3, 4)))
    expected = np.maximum(x @ np.arange(8, dtype=np.float32).reshape(4, 2), 0)
    np.testing.assert_array_equal(evaluate_graph(graph, {"x": x})["y"], expected)


def test_other_models_stay_as_they_are():
    model = parsed("(float[2] x) => (float[2] y) { y = Relu(x) }")
    assert [n.op_type for n in read(model).graph.node] == ["Relu"]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_programs_take_and_give_what_the_model_says(dtype: str):
    model = parsed(f"({dtype}[4,8] x) => ({dtype}[4,8] y) {{ e = Exp(x) y = Softmax(e) }}")
    given = np.float16 if dtype == "float16" else np.float32
    with korch.optimize(model, threads=1, time_budget=1) as program:
        y = program.run({"x": halves(4, 8).astype(given)})["y"]
        assert y.dtype == given and program.plan.accuracy and program.plan.accuracy.passed
        assert not any(s.kernel.host for s in program.plan.steps)
