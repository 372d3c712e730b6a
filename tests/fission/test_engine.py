"""The walk over a model: names, outputs, opaque nodes, versions of rules."""

import numpy as np
import onnx
import pytest
from onnx import parser

from korch.errors import ModelError
from korch.fission import fission, rule_for
from korch.fission.importer import read
from korch.fission.rule import Opaque, attributes
from korch.fission.rule import fission as rule
from korch.fission.table import all_rules
from korch.ir.onnx_write import graph_to_onnx

from .oracle import check_model, values


def model(text: str, opset: int = 17):
    return read(parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}, "com.microsoft": 1]>\ng {text}'))


def test_rules_of_their_time():
    old, new = rule_for("Softmax", "", 12), rule_for("Softmax", "ai.onnx", 13)
    assert old is not None and new is not None and (old.since, new.since) == (1, 13)
    assert rule_for("Softmax", "elsewhere", 13) is None
    assert rule_for("GroupNormalization", "", 17) is None
    assert rule_for("NonZero", "", 17) is None


def test_every_rule_says_what_it_computes():
    assert all(r.fn.__doc__ for r in all_rules())


def test_text_attributes_are_decoded():
    assert attributes({"a": b"SAME", "b": [b"x"], "c": [1, 2]}) == {"a": "SAME", "b": ["x"], "c": [1, 2]}


def test_the_text_of_a_graph():
    graph = fission(model("(float[2,3] x) => (float[2,3] y) { [soft] y = Softmax<axis=-1>(x) }"))
    assert str(graph).splitlines() == [
        "# inputs: x: f32[2,3]",
        "t2 = reduce_max(x, axes=(1,), keepdims=1)  # f32[2,1]",
        "t3 = sub(x, t2)  # f32[2,3]",
        "t4 = exp(t3)  # f32[2,3]",
        "t5 = reduce_sum(t4, axes=(1,), keepdims=1)  # f32[2,1]",
        "t6 = div(t4, t5)  # f32[2,3]",
        "return y=t6",
    ]
    assert {p.origin for p in graph.primitives} == {"soft"}


def test_equal_nodes_are_computed_once_and_dead_ones_never():
    m = model("(float[3] x) => (float[3] y) { a = Exp(x) b = Exp(x) c = Log(x) y = Add(a, b) }")
    assert [p.op for p in check_model(m, {"x": values(3)}).primitives] == ["Exp", "Add"]


def test_outputs_may_be_inputs_constants_or_the_same_twice():
    m = model("""(float[2] t3) => (float[2] t3, float[1] c, float[2] a, float[2] b, float[2] t4) {
        c = Constant<value = float[1] {3}>() a = Exp(t3) b = Identity(a) t4 = Neg(a)
    }""")
    assert fission(m).output_names == ("t3", "c", "a", "b", "t4")
    m = model("""(float[2] x) => (float[1] c, float[2] a, float[2] b, float[2] t4) {
        c = Constant<value = float[1] {3}>() a = Exp(x) b = Identity(a) t4 = Neg(a)
    }""")
    check_model(m, {"x": values(2)})


def test_nodes_without_a_rule_are_kept_whole():
    m = model("""(float[2,5] x) => (float[2,2] v, int64[2,2] i, float[2,2] z) {
        k = Constant<value = int64[1] {2}>() e = Exp(x) v, i = TopK(e, k) z = Neg(v)
    }""")
    graph = check_model(m, {"x": values(2, 5)})
    assert [p.op for p in graph.primitives] == ["Exp", "Opaque", "Opaque", "Neg"]
    assert [p.attr("index") for p in graph.primitives if p.op == "Opaque"] == [0, 1]


def test_an_output_that_is_named_twice():
    m = model("(float[2] x) => (float[2] y, float[2] y, float[2] z) { y = Relu(x) z = Neg(y) }")
    graph = fission(m)
    assert graph.output_names == ("y", "y", "z")
    written = graph_to_onnx(graph)
    onnx.checker.check_model(written, full_check=True)
    assert [o.name for o in written.graph.output] == ["y", "z"]


@pytest.mark.parametrize(
    ("opset", "text"),
    [
        (16, '(float[1,1,4,4] x, float[1,2,2,2] z) => (float[1,1,2,2] y) { y = GridSample<mode="bilinear">(x, z) }'),
        (9, "(float[2,5] x, float[2,5] z) => (float[2,2] y) { y, i = TopK<k=2>(x) }"),
        (22, '(float[1,1,4,4] x, float[1,2,2,2] z) => (float[1,1,2,2] y) { y = GridSample<mode="linear">(x, z) }'),
    ],
)
def test_opaque_nodes_are_brought_to_the_opset_of_the_primitives(opset: int, text: str):
    m = model(text, opset)
    feeds = {i.name: values(*(d.dim_value for d in i.type.tensor_type.shape.dim)) / 2 for i in m.graph.input}
    graph = check_model(m, feeds)
    assert [p.op for p in graph.primitives] == ["Opaque"]


def test_outputs_nobody_names_and_inputs_left_out():
    m = model("""(float[2,5] x) => (int64[2,2] i) {
        k = Constant<value = int64[1] {2}>() v, i = TopK(x, k)
    }""")
    m.graph.node[-1].output[0] = ""
    assert [p.op for p in fission(m).primitives] == ["Opaque"]
    m = model("(float[4] x, float h) => (float[4] y) { y = Clip(x, , h) }")
    check_model(m, {"x": values(4), "h": np.array(0.5, np.float32)})


def test_nodes_of_onnxruntime_are_kept_whole():
    m = model("(float[2,2] x) => (float[2,2] y) { y = com.microsoft.Inverse(x) }")
    graph = check_model(m, {"x": values(2, 2)})
    assert [p.op for p in graph.primitives] == ["Opaque"]


def test_constants_are_computed_once():
    m = model("""(float[2] x) => (float[2] y) {
        a = Constant<value = float[4] {1, 4, 2, 3}>() k = Constant<value = int64[1] {2}>()
        v, i = TopK(a, k) y = Add(x, v)
    }""")
    graph = check_model(m, {"x": values(2)})
    assert [p.op for p in graph.primitives] == ["Add"]
    assert [c.tolist() for c in graph.constants.values()] == [[4, 3]]


def test_a_rule_is_a_frozen_value():
    def fn(b, x, *, alpha=1.0):
        """x."""
        return x

    made = rule("Twice", "Thrice", since=3, domain="here")(fn)
    assert (made.ops, made.since, made.domain) == (("Twice", "Thrice"), 3, "here")
    assert made.accepts("alpha") and not made.accepts("outputs")
    assert made == rule("Twice", "Thrice", since=3, domain="here")(fn)
    assert Opaque("why") == Opaque("why")


def test_what_neither_a_rule_nor_onnxruntime_knows_is_refused():
    m = model("(float[1,2,4,4] x) => (float[1,2,2,2] y) { y = MaxPool<kernel_shape=[3,3]>(x) }")
    m.graph.node[0].attribute.add(name="novelty", i=1, type=2)
    with pytest.raises(ModelError, match=r"onnxruntime refuses it.*novelty"):
        fission(m)


def test_sequences_are_refused():
    m = model("""(float[2] x) => (float[2] y) {
        s = SequenceConstruct(x) i = Constant<value_int=0>() y = SequenceAt(s, i)
    }""")
    with pytest.raises(ModelError, match="SequenceConstruct of s gives a seq"):
        fission(m)


@pytest.mark.parametrize("dtype", ["float16", "double"])
def test_other_floats(dtype):
    m = model(
        f"({dtype}[2,3] x) => ({dtype}[2,4] y) <{dtype}[3,4] w = {{1,2,3,4,5,6,7,8,9,10,11,12}}>"
        f"{{ a = MatMul(x, w) y = Softmax<axis=1>(a) }}"
    )
    name = "float64" if dtype == "double" else dtype
    check_model(m, {"x": values(2, 3).astype(name)})


@pytest.mark.parametrize(
    "node",
    [
        "Hardmax<axis=1>(x)",
        "Softmax<axis=1>(x)",
        "LogSoftmax<axis=0>(x)",
        "ReduceMean<axes=[1], keepdims=0>(z)",
        "Gather(x, i)",
        "Transpose(x)",
    ],
)
def test_values_without_elements_are_known(node: str):
    """Rules that fold an axis would have nothing to fold."""
    text = f"(float[3,0] x, float[0,4] z) => (y) <int64[2] i = {{0, 2}}> {{ y = {node} }}"
    feeds = {"x": np.zeros((3, 0), np.float32), "z": np.zeros((0, 4), np.float32)}
    (y,) = check_model(model(text), feeds).outputs
    assert y.const and not y.size
