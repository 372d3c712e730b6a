"""ONNX's own cases, one node each: what comes apart must compute what they expect."""

from __future__ import annotations

import warnings

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases

from korch.errors import Error
from korch.fission import fission
from korch.ir.evaluate import evaluate_graph

PARAMETERS = {
    "Reshape": [1],
    "Slice": [1, 2, 3, 4],
    "Split": [1],
    "Pad": [1, 2, 3],
    "Gather": [1],
    "Expand": [1],
    "Tile": [1],
    "Resize": [1, 2, 3],
    "Upsample": [1],
    "Squeeze": [1],
    "Unsqueeze": [1],
    "Trilu": [1],
    "CenterCropPad": [1],
    "Dropout": [1, 2],
    "RotaryEmbedding": [3],
}
"""Inputs that are numbers of the operator, not data: given as constants."""

OTHERWISE = {
    # the reference divides by scale * length - 1, onnxruntime by the whole number of elements there are
    "test_resize_downsample_scales_linear_align_corners",
    "test_resize_downsample_scales_cubic_align_corners",
    "test_averagepool_2d_ceil_last_window_starts_on_pad",  # expects four digits
}


def cases():
    """Name, model with static shapes and constant parameters, feeds, expected outputs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = collect_testcases(None)
    for case in found:
        if case.model is None or len(case.model.graph.node) != 1 or not case.data_sets or case.name in OTHERWISE:
            continue
        inputs, outputs = case.data_sets[0]
        graph = case.model.graph
        if len(inputs) == len(graph.input) and all(isinstance(x, np.ndarray) for x in [*inputs, *outputs]):
            yield case.name, *prepared(case.model, dict(zip((i.name for i in graph.input), inputs))), outputs


def prepared(model, feeds):
    """The model with its parameters as constants, and what is left to feed."""
    node = model.graph.node[0]
    places = PARAMETERS.get(node.op_type, [1] if node.op_type.startswith("Reduce") else [])
    fixed = {node.input[i] for i in places if i < len(node.input)}
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.graph.input[:]
    for name, x in feeds.items():
        if name in fixed:
            copy.graph.initializer.append(numpy_helper.from_array(x, name))
        else:
            kind = helper.np_dtype_to_tensor_dtype(x.dtype)
            copy.graph.input.append(helper.make_tensor_value_info(name, kind, x.shape))
    return copy, {n: x for n, x in feeds.items() if n not in fixed}


def difference(graph, feeds, expected):
    """What is wrong with the graph's outputs; empty where nothing is."""
    for t, y, want in zip(graph.outputs, evaluate_graph(graph, feeds).values(), expected, strict=False):
        if (t.dtype, t.shape, np.shape(y)) != (want.dtype.name, want.shape, want.shape):
            return f"{t} is not {want.dtype.name}{want.shape}"
        eps = np.finfo(want.dtype).eps if want.dtype.kind == "f" else 0
        bound = 256 * eps * max(1.0, np.abs(want[np.isfinite(want)]).max(initial=0.0)) if eps else 0
        if not np.allclose(y, want.astype("float64") if eps else want, rtol=0, atol=bound, equal_nan=bool(eps)):
            return f"{t} differs"
    return ""


@pytest.mark.slow
@pytest.mark.nightly
def test_onnx_suite():
    apart, wrong = 0, []
    for name, model, feeds, expected in cases():
        try:
            graph = fission(model)
        except Error:  # strings, bfloat16, shapes that depend on data
            continue
        if not any(p.op == "Opaque" for p in graph.primitives):
            apart += 1
            problem = difference(graph, feeds, expected)
            wrong += [f"{name}: {problem}"] if problem else []
    assert not wrong, "\n".join(wrong)
    assert apart >= 750
