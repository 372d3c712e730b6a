"""Bodies of control flow fit their nodes."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper

from korch.fission import fission
from korch.fission.importer import read

from .test_importer import model, refused

STEP = "(int64 i, bool go, float[2] v) => (bool on, float[2] u) { on = Identity(go)  u = Add(v, v) }"
COUNTED = "(float[2] x) => (float[2] y) <int64 n = {3}, bool t = {1}> "
CONTROL = {
    "no body": (COUNTED + "{ y = Loop(n, t, x) }", "has no body"),
    "no state inside": (COUNTED + f"{{ y = Loop(n, t) <body = b {STEP}> }}", "3 inputs and 2 outputs; it needs 2"),
    "more state outside": (COUNTED + f"{{ y = Loop(n, t, x, x) <body = b {STEP}> }}", "it needs 4 and at least 3"),
    "more results": (COUNTED + f"{{ y, z, a = Loop(n, t, x) <body = b {STEP}> }}", "it needs 3 and at least 4"),
    "no branch": (COUNTED + "{ y = If(t) <then_branch = b () => (float[2] p) { p = Neg(x) }> }", "has no else_branch"),
    "no result": (
        COUNTED + "{ y, z = If(t) <then_branch = b () => (float[2] p) { p = Neg(x) }, "
        "else_branch = c () => (float[2] q) { q = Abs(x) }> }",
        "0 inputs and 1 outputs; it needs 0 and at least 2",
    ),
    "nothing scanned": (
        COUNTED + "{ y = Scan<num_scan_inputs = 0, body = b (float v) => (float u) { u = Neg(v) }>(x) }",
        "scans 0 of 1 inputs",
    ),
    "more scanned": (
        COUNTED + "{ y = Scan<num_scan_inputs = 1, body = b (float v) => (float u) { u = Neg(v) }>(x, x) }",
        "1 inputs and 1 outputs; it needs 2",
    ),
}


@pytest.mark.parametrize("case", CONTROL)
@pytest.mark.parametrize("inside", [False, True])
def test_bodies_fit_their_nodes(case: str, inside: bool):
    text, words = CONTROL[case]
    m = model(text)
    if inside:
        branch = helper.make_graph([m.graph.node[0]], "b", [], m.graph.output)
        del m.graph.node[:]
        m.graph.node.append(helper.make_node("If", ["t"], ["y"], then_branch=branch, else_branch=branch))
    refused(m, words)


def test_weights_that_a_body_lists_among_its_inputs():
    """As models of before 2019 do."""
    body = "(float v) => (float u) <float w = {3}> { u = Mul(v, w) }"
    m = model(COUNTED + f"{{ y = Scan<num_scan_inputs = 1, body = b {body}>(x) }}")
    inner = next(a.g for a in m.graph.node[0].attribute if a.name == "body")
    inner.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, []))
    assert [p.op for p in fission(read(m)).primitives].count("Mul") == 2


def test_a_loop_may_leave_out_its_last_results():
    m = model(
        COUNTED + "{ y = Loop(n, t, x) <body = b (int64 i, bool go, float[2] v) => "
        "(bool on, float[2] u, float[2] z) { on = Identity(go)  u = Add(v, v)  z = Neg(v) }> }"
    )
    assert [p.op for p in fission(read(m)).primitives if p.op == "Add"] == ["Add"] * 3


def test_a_copy_of_nothing_in_a_loop():
    m = model(COUNTED + f"{{ y = Loop(n, t, x) <body = b {STEP}> }}")
    body = m.graph.node[0].attribute[0].g
    del body.node[0].output[:]
    refused(m, "reads 'on', which nothing defines")
