"""Inputs whose values decide what a model computes."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from korch.errors import ModelError
from korch.fission import fission
from korch.fission.importer import read, structural_inputs

HEAD = '<ir_version: 8, opset_import: ["": 18]> g '
IF = (
    HEAD
    + """(float[4] x, int64 rate) => (float[4] y) <int64 fast = {16000}> {
  quick = Equal(rate, fast)
  y = If(quick) <then_branch = t () => (float[4] a) { a = Relu(x) }, else_branch = e () => (float[4] b) { b = Neg(x) }>
}"""
)
SUM = HEAD + "(float[2,3] x, int64[n] axes) => (float[a] y) { y = ReduceSum<keepdims = 0>(x, axes) }"


def parsed(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(text)


@pytest.mark.parametrize(
    "text, names",
    [
        (IF, ("rate",)),
        (SUM, ("axes",)),
        (
            HEAD + "(float[n] x, int64 i) => (float y) { y = Gather<axis = 0>(x, i) }",
            (),
        ),  # an index computes nothing else
        (HEAD + "(float[n] x, int64[m] z) => (float[a] y) { s = Shape(z)  y = Expand(x, s) }", ()),  # its shape decides
        (
            HEAD + "(float[n] x, int64 i) => (float[a] y) <int64 o = {1}>"
            " { s = Add(i, o)  s1 = Reshape(s, t)  y = Tile(x, s1) t = Constant<value_ints = [1]>() }",
            ("i",),
        ),
    ],
)
def test_they_are_found(text: str, names: tuple[str, ...]):
    assert structural_inputs(parsed(text)) == names


def test_with_a_value_the_branch_is_known():
    for rate, op in ((16000, "Relu"), (8000, "Neg")):
        graph = fission(read(parsed(IF), values={"rate": rate}))
        assert [p.op for p in graph.primitives] == [op] and [t.name for t in graph.inputs] == ["x"]


def test_values_may_be_lists():
    graph = fission(read(parsed(SUM), values={"axes": [1]}))
    assert graph.outputs[0].shape == (2,)


@pytest.mark.parametrize(
    "values, said",
    [
        ({"speed": 1}, "a value is given for 'speed', but the inputs are 'x', 'rate'"),
        ({"rate": "fast"}, "the value 'fast' does not fit the input 'rate'"),
        ({"rate": [1, 2]}, r"has shape \[2\], the model says \[\]"),
    ],
)
def test_values_that_do_not_fit_are_refused(values: dict[str, object], said: str):
    with pytest.raises(ModelError, match=said):
        read(parsed(IF), values=values)


def test_lengths_without_a_name_may_differ():
    text = HEAD + "(float[n, m] x) => (float[n, m] y) { y = Relu(x) }"
    model = parsed(text)
    for dim in model.graph.input[0].type.tensor_type.shape.dim:
        dim.dim_param = "?"
    assert fission(read(model, {"x": (2, 3)})).inputs[0].shape == (2, 3)
    with pytest.raises(ModelError, match="dimension 'n'"):
        read(parsed(text.replace("[n, m]", "[n, n]")), {"x": (2, 3)})


def test_the_rest_of_the_graph_sees_the_constant():
    model = read(parsed(SUM), {"x": (2, 3)}, {"axes": [0]})
    assert np.array_equal(onnx.numpy_helper.to_array(model.graph.initializer[0]), [0])
