"""State of loops that never changes is read from outside."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime as ort

from korch.fission.importer import ordered

LOOP = """<ir_version: 8, opset_import: ["": 17]> g
(float[2,4] x, int64 n) => (float[2,4] y, float[4,4] w) <float[4,4] weights = {1,2,3,4,5,6,7,8,9,8,7,6,5,4,3,2}> {
  t = Constant<value = bool {1}>()
  y, w, unused = Loop(n, t, x, weights, x) <
    body = b (int64 i, bool going, float[2,4] s, float[4,4] own, float[2,4] first)
      => (bool more, float[2,4] next, float[4,4] same, float[2,4] first) {
      more = Identity(going)  same = Identity(own)  m = MatMul(s, own)  a = Add(m, first)
      next = If(going) <then_branch = p () => (float[2,4] q) { q = Tanh(a) },
                        else_branch = r () => (float[2,4] z) { z = Add(a, first) }> }> }"""


def test_invariant_state_leaves_the_loop():
    model = onnx.parser.parse_model(LOOP)
    freed = ordered(model)
    (loop,) = [n for n in freed.graph.node if n.op_type == "Loop"]
    (body,) = [a.g for a in loop.attribute]
    assert [i.name for i in body.input] == ["i", "going", "s"] and [o.name for o in body.output] == ["more", "next"]
    assert list(loop.input) == ["n", "t", "x"] and list(loop.output) == ["y"]
    rng = np.random.default_rng(0)
    feeds = {"x": rng.standard_normal((2, 4)).astype(np.float32), "n": np.array(3)}
    expected, found = (ort.InferenceSession(m.SerializeToString()).run(None, feeds) for m in (model, freed))
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_an_early_scan_keeps_its_state():
    """Its first input is the lengths of sequences: numbers of inputs and of the body's differ by one."""
    text = """<ir_version: 3, opset_import: ["": 8]> g (float[1,2] s, float[1,3,2] x) => (float[1,2] y, float[1,3,2] z)
    { y, z = Scan<num_scan_inputs=1, body = b (float[2] h, float[2] v) => (float[2] o, float[2] c)
      { o = Add(h, v)  c = Identity(v) }>("", s, x) }"""
    (scan,) = ordered(onnx.parser.parse_model(text)).graph.node
    assert len(scan.input) == 3 and len(scan.output) == 2 and len(scan.attribute[1].g.input) == 2
