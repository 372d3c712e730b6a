"""Normalisations against onnxruntime, or ONNX's reference where it has none."""

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from korch.fission import fission
from korch.ir.evaluate import evaluate_graph

from .oracle import check, node_model, values

QUICK = settings(max_examples=8, deadline=None)
IMAGES = st.tuples(st.integers(1, 3), st.sampled_from([2, 4, 6]), st.integers(2, 5), st.integers(2, 5))


@pytest.mark.parametrize("opset", [7, 9, 14, 15])
@pytest.mark.parametrize("const", [True, False])
def test_batch_normalization(opset, const):
    shape = (2, 3, 4, 5)
    parameters = [values(3, seed=s) for s in range(3)] + [values(3, low=0.5, high=2)]
    graph = check(
        "BatchNormalization",
        values(*shape),
        *parameters,
        opset=opset,
        epsilon=1e-3,
        constants=range(1, 5) if const else [],
    )
    if const:
        assert [p.op for p in graph.primitives] == ["Mul", "Add"]


def test_batch_normalization_of_other_ranks():
    parameters = [values(3, seed=s) for s in range(3)] + [values(3, low=0.5, high=2)]
    check("BatchNormalization", values(2, 3), *parameters)
    check("BatchNormalization", values(2, 3, 2, 2, 2), *parameters)


@QUICK
@given(IMAGES)
def test_instance_normalization(shape):
    check("InstanceNormalization", values(*shape), values(shape[1]), values(shape[1], seed=3), constants=[1, 2])


@QUICK
@given(IMAGES)
def test_group_normalization(shape):
    c = shape[1]
    check("GroupNormalization", values(*shape), values(2), values(2, seed=3), num_groups=2, opset=18, oracle="onnx")
    check("GroupNormalization", values(*shape), values(c), values(c, seed=3), num_groups=2, opset=21)


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
@pytest.mark.parametrize("shape", [(2, 6, 4, 5), (1, 6, 3), (2, 6, 2, 3, 2)])
def test_groups_as_torch_writes_them_are_never_seen_apart(shape, groups):
    """Where a reshape, an instance normalisation and one back stand for it."""
    shapes = {"apart": (shape[0], groups, -1), "whole": shape}
    sizes = [onnx.numpy_helper.from_array(np.asarray(size, np.int64), name) for name, size in shapes.items()]
    ones = [onnx.numpy_helper.from_array(values(groups, seed=i), name) for i, name in enumerate(("scale", "shift"))]
    nodes = [
        onnx.helper.make_node("Reshape", ["x", "apart"], ["parts"]),
        onnx.helper.make_node("InstanceNormalization", ["parts", "scale", "shift"], ["normal"]),
        onnx.helper.make_node("Reshape", ["normal", "whole"], ["y"]),
    ]
    ends = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape) for name in "xy"]
    graph = onnx.helper.make_graph(nodes, "groups", ends[:1], ends[1:], [*sizes, *ones])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    found, x = fission(model), values(*shape)
    (expected,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    np.testing.assert_allclose(evaluate_graph(found, {"x": x})["y"], expected, atol=1e-5)
    whole = [p for p in found.primitives if p.output.size == x.size and p.op != "Reshape"]
    assert {p.output.shape for p in whole} == {shape}


@QUICK
@given(IMAGES, st.integers(-4, 3), st.booleans(), st.sampled_from([1, 3]))
def test_layer_normalization(shape, axis, shifted, outputs):
    tail = shape[axis % 4 :]
    inputs = [values(*shape), values(*tail)] + ([values(*tail, seed=5)] if shifted else [])
    check("LayerNormalization", *inputs, axis=axis, outputs=outputs, constants=[1, 2])


@QUICK
@given(IMAGES, st.integers(-4, 3))
def test_rms_normalization(shape, axis):
    check("RMSNormalization", values(*shape), values(*shape[axis % 4 :]), axis=axis, opset=23, oracle="onnx")


@QUICK
@given(IMAGES, st.sampled_from([1, 2]), st.integers(-4, 3))
def test_lp_normalization(shape, p, axis):
    check("LpNormalization", values(*shape), p=p, axis=axis)


def test_the_scale_says_what_type_a_rms_normalization_has():
    halves = values(2, 8).astype(np.float16)
    graph = fission(node_model("RMSNormalization", [halves, values(8)], opset=23))
    assert graph.outputs[0].dtype == "float32"
    assert all(len({t.dtype for t in p.inputs}) == 1 for p in graph.primitives if p.op == "Mul")


def test_lp_normalization_of_zeros():
    check("LpNormalization", values(2, 3) * 0, p=2)


@pytest.mark.parametrize("axes", [None, [0, 2, 3], [1], [-1, -2]])
def test_mean_variance_normalization(axes):
    check("MeanVarianceNormalization", values(2, 3, 4, 5), **({} if axes is None else {"axes": axes}))


@pytest.mark.parametrize("size", [1, 3, 5])
def test_local_response_normalization(size):
    check("LRN", values(2, 6, 3, 4), size=size, alpha=0.3, beta=0.6, bias=1.5)


def test_batch_statistics_stay_opaque():
    parameters = [values(3, seed=s) for s in range(3)] + [values(3, low=0.5, high=2)]
    model = node_model("BatchNormalization", [values(2, 3, 4, 4), *parameters], outputs=3, training_mode=1)
    assert [p.op for p in fission(model).primitives] == ["Opaque"] * 3
