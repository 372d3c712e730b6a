"""Control flow whose course is known becomes primitives."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime as ort
import pytest

from korch.errors import NeedsSegments
from korch.fission import fission
from korch.fission.control import MAX_UNROLLED
from korch.fission.importer import read
from korch.ir.evaluate import evaluate_graph

HEAD = '<ir_version: 8, opset_import: ["": 17]> g '
BODY = """body (int64 i, bool going, float[2,4] s) => (bool more, float[2,4] next, float[4] row) <int64 one = {1}> {
  at = Mul(i, one)  row = Gather<axis=0>(rows, at)  t = Add(s, row)  next = Tanh(t)  more = MORE }"""
LOOP = (
    HEAD
    + f"""(float[2,4] x, float[5,4] rows) => (float[2,4] y, float[a,b] z) <int64 n = {{3}}, bool yes = {{1}}> {{
  e = Exp(x)  y, r = Loop(TRIPS, yes, e) <body = {BODY}>  z = Neg(r) }}"""
)
LOOPS = {
    "counted": LOOP.replace("TRIPS", "n").replace("MORE", "Identity(going)"),
    "with a condition": LOOP.replace("TRIPS", "").replace("MORE", "Less(i, one)"),
    "with both": LOOP.replace("TRIPS", "n").replace("MORE", "Not(going)"),
    "by a shape": LOOP.replace("e = Exp(x)", "e = Exp(x) s = Shape(rows) k = Gather<axis=0>(s, zero)")
    .replace("int64 n = {3}", "int64 zero = {0}")
    .replace("TRIPS", "k")
    .replace("MORE", "Identity(going)"),
}
SCAN = (
    HEAD
    + """(float[2,3] s, float[5,2,3] x, float[2,5] w) => (float[2,3] e, float[2,5,3] z, float[5] v)
{ e, z, v = Scan<num_scan_inputs=2, scan_input_axes=[0,1], scan_input_directions=[1,0], scan_output_axes=[1,0],
                 scan_output_directions=[0,1],
  body = b (float[2,3] h, float[2,3] xi, float[2] wi) => (float[2,3] ho, float[2,3] zi, float vi) <int64[1] o = {1}>
    { c = Unsqueeze(wi, o)  p = Mul(xi, c)  ho = Add(h, p)  zi = Sigmoid(ho)  vi = ReduceSum<keepdims=0>(wi) }
  >(s, x, w) }"""
)


@pytest.mark.parametrize("text", [*LOOPS.values(), SCAN], ids=[*LOOPS, "scan"])
def test_a_loop_of_known_length_is_written_out(text: str):
    model = onnx.parser.parse_model(text)
    graph = fission(read(model))
    rng = np.random.default_rng(0)
    feeds = {t.name: rng.standard_normal(t.shape).astype(np.float32) for t in graph.inputs}
    expected = ort.InferenceSession(model.SerializeToString()).run(None, feeds)
    found = evaluate_graph(graph, feeds)
    for name, array in zip(graph.output_names, expected, strict=True):
        np.testing.assert_allclose(found[name], array, rtol=1e-5, atol=1e-6, strict=False)
        assert found[name].shape == array.shape


MANY = LOOPS["counted"].replace("{3}", f"{{{MAX_UNROLLED}}}").replace("int64 one = {1}", "int64 one = {0}")
OTHERS = {
    "is a long loop": MANY,
    "runs not once": LOOPS["counted"].replace("{3}", "{0}"),
    "ends when data say so": LOOP.replace("TRIPS", "n").replace("MORE", "Less(u, u)  u = ReduceSum<keepdims=0>(s)"),
    "as often as data say": LOOP.replace("TRIPS", "k")
    .replace("MORE", "Identity(going)")
    .replace("e = Exp(x)", "e = Exp(x)  s = ReduceMax<keepdims=0>(x)  k = Cast<to=7>(s)"),
}


@pytest.mark.parametrize("why", OTHERS)
def test_other_loops_need_segments(why: str):
    with pytest.raises(NeedsSegments, match=why):
        fission(read(onnx.parser.parse_model(OTHERS[why])))
