"""Constant factors and summands: what vanishes, what must stay, and that the value is the same."""

import numpy as np
import onnx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from onnx import helper, numpy_helper, parser

from korch.fission import fission
from korch.ir.evaluate import evaluate_graph

from .oracle import check_model, values


def model(text: str, **weights: np.ndarray) -> onnx.ModelProto:
    m = parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]>\ng {text}')
    m.graph.initializer.extend(numpy_helper.from_array(w, n) for n, w in weights.items())
    return m


def ops(m: onnx.ModelProto, *shape: int) -> list[str]:
    """The primitives of `m`, after a check of its value on a random x."""
    return [p.op for p in check_model(m, {"x": values(*shape)}).primitives]


STATISTICS = {"s": values(4), "t": values(4, seed=1), "m": values(4, seed=2), "v": values(4, low=0.5, high=2)}
NORM = "BatchNormalization({}, s, t, m, v)"


def test_batch_normalization_vanishes_into_a_convolution():
    text = "(float[1,2,6,6] x) => (float[1,4,4,4] y) {{ c = Conv({}) y = {} }}"
    w, b = values(4, 2, 3, 3), values(4, seed=5)
    assert ops(model(text.format("x, w", NORM.format("c")), w=w, **STATISTICS), 1, 2, 6, 6) == ["Conv", "Add"]
    assert ops(model(text.format("x, w, b", NORM.format("c")), w=w, b=b, **STATISTICS), 1, 2, 6, 6) == ["Conv", "Add"]


def test_channels_that_weight_decay_has_ended_keep_nothing_from_vanishing():
    """1e-41 is below the normal numbers of float32, and its product with a weight below all of them."""
    w = values(4, 2, 3, 3)
    w[1, :, 0, 0] = 1e-5
    faint = {**STATISTICS, "s": np.array([1, 1e-41, -1e-41, 2], np.float32)}
    for bias in ({}, {"b": np.full(4, 1e-6, np.float32)}):
        call = ", ".join(("x", "w", *bias))
        m = model(
            f"(float[1,2,6,6] x) => (float[1,4,4,4] y) {{ c = Conv({call}) y = {NORM.format('c')} }}",
            w=w,
            **bias,
            **faint,
        )
        assert ops(m, 1, 2, 6, 6) == ["Conv", "Add"]


@pytest.mark.parametrize("group", [1, 2])
def test_batch_normalization_vanishes_into_a_transposed_convolution(group):
    m = model(
        f"(float[1,4,5,5] x) => (float[1,4,9,9] y) {{ c = ConvTranspose<strides=[2,2], pads=[1,1,1,1],"
        f"group={group}>(x, w, b) y = {NORM.format('c')} }}",
        w=values(4, 4 // group, 3, 3),
        b=values(4, seed=5),
        **STATISTICS,
    )
    assert ops(m, 1, 4, 5, 5) == ["ConvTranspose", "Add"]


def test_batch_normalization_vanishes_into_a_product():
    m = model(
        f"(float[3,5] x) => (float[3,4] y) {{ c = Gemm(x, w, b) y = {NORM.format('c')} }}",
        w=values(5, 4),
        b=values(4, seed=5),
        **STATISTICS,
    )
    assert ops(m, 3, 5) == ["MatMul", "Add"]


def test_a_number_passes_layout_and_a_product_of_two_values():
    m = model(
        """(float[3,4] x) => (float[2,3,3] y) {
        q0 = MatMul(x, wq) q1 = Add(q0, b) q2 = Reshape(q1, r) q = Transpose<perm=[1,0,2]>(q2)
        k0 = MatMul(x, wk) k2 = Reshape(k0, r) k = Transpose<perm=[1,2,0]>(k2)
        a = MatMul(q, k) y = Div(a, scale)
    }""",
        wq=values(4, 4),
        wk=values(4, 4, seed=1),
        b=values(4),
        r=np.array([3, 2, 2]),
        scale=np.array(1.5, np.float32),
    )
    found = ops(m, 3, 4)
    assert "Div" not in found and "Mul" not in found


@pytest.mark.parametrize("move", ["t = Transpose<perm=[0,2,1]>(c)", "t = Slice(c, zero, three, two)"])
def test_a_number_of_more_axes_passes_layout(move):
    m = model(
        f"""(float[2,3,4] x) => (float y) {{
        a = MatMul(x, w) c = Add(a, b) {move} u = Unsqueeze(t, one) y = Mul(u, k)
    }}""",
        w=values(4, 5),
        b=values(5),
        k=values(1, 1, 1, 1),
        one=np.array([1]),
        zero=np.array([0]),
        two=np.array([2]),
        three=np.array([3]),
    )
    assert "Mul" not in ops(m, 2, 3, 4)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = Add(x, c) y = Add(a, d)", ["Add"]),
        ("a = Add(c, x) y = Sub(a, d)", ["Add"]),
        ("a = Mul(x, c) y = Mul(d, a)", ["Mul"]),
        ("a = Sub(x, c) y = Sub(d, a)", ["Add", "Sub"]),
        ("a = Add(x, c) b = Relu(a) y = Add(b, d)", ["Add", "Relu", "Add"]),
        ("a = Add(x, c) b = Add(a, d) y = Mul(a, b)", ["Add", "Add", "Mul"]),
        ("a = Add(x, row) y = Add(a, column)", ["Add", "Add"]),
    ],
)
def test_chains_of_constants(text, expected):
    m = model(
        f"(float[3,4] x) => (float[3,4] y) {{ {text} }}",
        c=values(4),
        d=values(4, seed=1),
        row=values(1, 4),
        column=values(3, 1),
    )
    assert ops(m, 3, 4) == expected


def test_what_others_read_or_the_model_gives_out_stays():
    w = {"w": values(4, 2, 1, 1), "f": values(4, 1, 1)}
    text = "(float[1,2,3,3] x) => (float[1,4,3,3] y, float[1,4,3,3] z) {{ c = Conv(x, w) y = Mul(c, f) z = {} }}"
    assert ops(model(text.format("Relu(c)"), **w), 1, 2, 3, 3) == ["Conv", "Mul", "Relu"]
    m = model("(float[1,2,3,3] x) => (float[1,4,3,3] c, float[1,4,3,3] y) { c = Conv(x, w) y = Mul(c, f) }", **w)
    assert ops(m, 1, 2, 3, 3) == ["Conv", "Mul"]


def test_factors_that_no_weight_can_hold_stay():
    m = model(
        "(float[1,2,3,3] x) => (float[1,4,3,3] y) { c = Conv(x, w) y = Mul(c, f) }", w=values(4, 2, 1, 1), f=values(3)
    )
    assert ops(m, 1, 2, 3, 3) == ["Conv", "Mul"]
    m = model(
        "(float[1,2,3,3] x) => (float[1,4,3,3] y) { c = Conv(x, w) y = Div(c, f) }",
        w=values(4, 2, 1, 1),
        f=np.array([1, 0, 1, 1], np.float32).reshape(4, 1, 1),
    )
    assert [p.op for p in fission(m).primitives] == ["Conv", "Div"]


def test_integers_stay():
    m = model("(int32[3] x) => (int32[3] y) { a = Add(x, c) y = Add(a, c) }", c=np.array([1, 2, 3], np.int32))
    assert [p.op for p in check_model(m, {"x": np.array([5, 6, 7], np.int32)}).primitives] == ["Add", "Add"]


HALF_LIMITS = [
    ("m = MatMul(x, w) y = Mul(m, thousand)", [[0.01]], 1000, ["MatMul", "Mul"]),
    ("m = Gemm<alpha = 1000.0>(x, w)  y = Identity(m)", [[0.01]], 1000, ["MatMul", "Mul"]),
    ("a = Add(x, big) y = Add(a, big)", [[-60000]], 60000, ["Add", "Add"]),
    ("a = Mul(x, tiny) y = Mul(a, tiny)", [[60000]], 6e-4, ["Mul", "Mul"]),
    ("m = MatMul(x, w) a = Add(m, big) y = Mul(a, two)", [[-599]], 200, ["MatMul", "Add", "Mul"]),
]


@pytest.mark.parametrize(("text", "x", "expected", "kept"), HALF_LIMITS)
def test_constants_that_a_half_does_not_reach_stay_apart(text, x, expected, kept):
    """100 * 1000, 60000 + 60000 and 1e-4 * 1e-4 would be infinite, infinite and nothing."""
    numbers = {"w": [[100]], "thousand": 1000, "big": 60000, "tiny": 1e-4, "two": 2}
    m = model(
        f"(float16[1,1] x) => (float16[1,1] y) {{ {text} }}",
        **{n: np.asarray(v, np.float16) for n, v in numbers.items()},
    )
    graph = fission(m)
    assert [p.op for p in graph.primitives] == kept
    np.testing.assert_allclose(evaluate_graph(graph, {"x": np.asarray(x, np.float16)})["y"], [[expected]], rtol=1e-2)


@pytest.mark.parametrize(("column", "kept"), [([100, 1e-5], ["MatMul"]), ([1e-5, 1e-5], ["MatMul", "Mul"])])
def test_a_weight_may_vanish_beside_larger_ones(column, kept):
    """1e-8 is nothing in halves, and nothing beside 0.1 in the same sum; alone it is what there is."""
    m = model(
        "(float16[1,2] x) => (float16[1,2] y) { m = MatMul(x, w) y = Mul(m, f) }",
        w=np.asarray([[1, 1], column], np.float16).T,
        f=np.asarray(1e-3, np.float16),
    )
    assert [p.op for p in fission(m).primitives] == kept


CHAIN = st.lists(
    st.tuples(st.sampled_from(["Add", "Sub", "Mul", "Div", "Relu", "Neg"]), st.sampled_from(["c", "s"])),
    min_size=1,
    max_size=6,
)


@settings(max_examples=15, deadline=None)
@example("MatMul", [("Add", "c"), ("Add", "c"), ("Sub", "c"), ("Add", "c")])  # comes by an equal sum twice
@example("MatMul", [("Add", "s"), ("Sub", "s"), ("Add", "c"), ("Mul", "c")])  # comes back to the product
@example("Conv", [("Mul", "c"), ("Div", "c"), ("Mul", "c")])
@given(st.sampled_from(["MatMul", "Conv"]), CHAIN)
def test_any_chain_behind_a_linear_primitive(linear, chain):
    shape, w, c = ((2, 3), (3, 4), (4,)) if linear == "MatMul" else ((1, 3, 4, 4), (4, 3, 2, 2), (4, 1, 1))
    nodes, last = [helper.make_node(linear, ["x", "w"], ["t0"])], "t0"
    for i, (op, constant) in enumerate(chain):
        nodes.append(helper.make_node(op, [last, constant] if op not in ("Relu", "Neg") else [last], [f"t{i + 1}"]))
        last = f"t{i + 1}"
    weights = {"w": values(*w), "c": values(*c, low=0.5, high=2), "s": np.array(1.5, np.float32)}
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", 1, shape)],
        [onnx.ValueInfoProto(name=last)],
        [numpy_helper.from_array(a, n) for n, a in weights.items()],
    )
    m = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    found = ops(m, *shape)
    if all(op not in ("Relu", "Neg") for op, _ in chain):
        assert len(found) <= 2
