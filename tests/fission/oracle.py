"""One ONNX node against its fission: float64 reference, ONNX round trip, onnxruntime as the oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from korch.fission import fission
from korch.ir.evaluate import evaluate_graph
from korch.ir.graph import Graph
from korch.ir.onnx_write import graph_to_onnx

Array = np.ndarray[Any, Any]


def values(*shape: int, seed: int = 0, low: float = -2.0, high: float = 2.0) -> Array:
    """Random float32 of `shape`, uniform in low..high."""
    return np.random.default_rng(seed + sum(shape)).uniform(low, high, shape).astype(np.float32)


def node_model(
    op: str,
    inputs: Sequence[Array | None],
    constants: Sequence[int] = (),
    outputs: int = 1,
    opset: int = 17,
    domain: str = "",
    **attrs: Any,
) -> onnx.ModelProto:
    """A model of one node; the inputs at the positions `constants` are initializers."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    node = helper.make_node(op, names, [f"y{i}" for i in range(outputs)], domain=domain, **attrs)
    present = [(i, n, x) for i, (n, x) in enumerate(zip(names, inputs, strict=True)) if x is not None]
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for i, n, x in present
        if i not in constants
    ]
    weights = [numpy_helper.from_array(x, n) for i, n, x in present if i in constants]
    ends = [onnx.ValueInfoProto(name=f"y{i}") for i in range(outputs)]
    opsets = [helper.make_opsetid(domain, opset if not domain else 1)]
    opsets += [helper.make_opsetid("", opset)] if domain else []
    ir_version = 8 if opset < 21 else 10
    return helper.make_model(
        helper.make_graph([node], "g", infos, ends, weights), opset_imports=opsets, ir_version=ir_version
    )


def run(model: onnx.ModelProto, feeds: Mapping[str, Array]) -> list[Array]:
    """The model's outputs by onnxruntime, unoptimised."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return list(session.run(None, dict(feeds)))


def assert_near(actual: Array, expected: Array, what: str = "") -> None:
    """Equal shapes and kinds; floats within 256 float32 roundings of the largest magnitude."""
    assert actual.shape == expected.shape, f"{what}: {actual.shape} is not {expected.shape}"
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(actual, expected, what)
        return
    finite = np.abs(expected[np.isfinite(expected)])
    eps = np.finfo(np.float32 if expected.dtype.itemsize >= 4 else expected.dtype).eps
    bound = 256 * eps * max(1.0, float(finite.max(initial=0.0)))
    np.testing.assert_allclose(actual, expected, rtol=0, atol=bound, err_msg=what)


def check_model(model: onnx.ModelProto, feeds: Mapping[str, Array], expected: Sequence[Array] | None = None) -> Graph:
    """The fission of `model` computes what onnxruntime does, in the evaluator and written as ONNX again."""
    graph = fission(model)
    wanted = run(model, feeds) if expected is None else expected
    for got, want, t in zip(evaluate_graph(graph, feeds).values(), wanted, graph.outputs, strict=True):
        assert t.dtype == want.dtype.name, f"{t.dtype} is not {want.dtype.name}"
        assert_near(np.asarray(got), want, "evaluated")
    used = {n: x for n, x in feeds.items() if n in {t.name for t in graph.inputs}}
    for got, want in zip(run(graph_to_onnx(graph), used), wanted, strict=True):
        assert_near(got, want, "written as ONNX")
    return graph


def check(
    op: str,
    *inputs: Array | None,
    constants: Sequence[int] = (),
    outputs: int = 1,
    opset: int = 17,
    domain: str = "",
    oracle: str = "onnxruntime",
    opaque: bool | None = False,
    **attrs: Any,
) -> Graph:
    """Checks one node and that it came apart (`opaque`: it did not; None: either); `oracle` may be "onnx"."""
    model = node_model(op, inputs, constants, outputs, opset, domain, **attrs)
    feeds = {f"x{i}": x for i, x in enumerate(inputs) if x is not None and i not in constants}
    expected = [np.asarray(y) for y in ReferenceEvaluator(model).run(None, feeds)] if oracle == "onnx" else None  # type: ignore[arg-type,union-attr]
    graph = check_model(model, feeds, expected)
    assert opaque in (None, any(p.op == "Opaque" for p in graph.primitives)), f"{op}: {graph}"
    return graph
