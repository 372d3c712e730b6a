"""Opaque nodes mean what they meant in the opset of their model, whatever is written around them."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import pytest

from korch.backends.onnxruntime.backend import BACKEND
from korch.errors import Error
from korch.fission import fission
from korch.ir import Cone
from korch.ir.onnx_write import OnnxWriter, graph_to_onnx
from korch.ir.opsets import OPSET, at_opset, opset_of

from .oracle import assert_near, check_model, run, values

ALIGN = """
  b = Constant<value = int64[1] {0}>()
  a = RoiAlign<output_height=2, output_width=2, sampling_ratio=2>(e, rois, b)
"""
FEEDS = {"x": values(1, 1, 6, 6), "rois": np.float32([[0.4, 0.7, 4.1, 5.3]])}


def model(opset: int, body: str, ends: str = "float[1,1,2,2] y", domains: str = "") -> onnx.ModelProto:
    """A model of x and rois whose body gives `ends`."""
    return onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["": {opset}{domains}]>
        g (float[1,1,6,6] x, float[1,4] rois) => ({ends}) {{ {body} }}""")


def aligned(opset: int) -> onnx.ModelProto:
    """Exp and Neg around RoiAlign, whose coordinates are shifted by half a pixel from opset 16 on."""
    return model(opset, f"e = Exp(x) {ALIGN} y = Neg(a)")


def test_the_meaning_really_changed():
    assert not np.allclose(run(aligned(10), FEEDS)[0], run(aligned(16), FEEDS)[0])


@pytest.mark.parametrize("opset", [10, 15, 16, 21])
def test_written_among_newer_nodes(opset: int):
    """`check_model` compares with onnxruntime: evaluated and written."""
    graph = check_model(aligned(opset), FEEDS)
    assert [p.op for p in graph.primitives] == ["Exp", "Opaque", "Neg"]
    assert opset_of(graph_to_onnx(graph)) == OPSET


@pytest.mark.parametrize("opset", [10, 16])
def test_a_kernel_of_onnxruntime_keeps_the_opset(opset: int):
    opaque = next(p for p in fission(aligned(opset)).primitives if p.op == "Opaque")
    kernel = onnx.load_from_string(BACKEND.build(Cone.of([opaque]), 1)[0].host or b"")
    assert opset_of(kernel) == opset
    feeds = {
        t.name: value for t, value in zip(opaque.inputs, (np.exp(FEEDS["x"]), FEEDS["rois"], np.zeros(1, np.int64)))
    }
    assert_near(-run(kernel, feeds)[0], run(aligned(opset), FEEDS)[0])


def test_a_newer_operator_takes_the_rest_with_it():
    body = "k = Constant<value = int64[1] {3}>() e = Exp(x) a = CumProd(e, k) y = Neg(a)"
    written = graph_to_onnx(check_model(model(26, body, "float[1,1,6,6] y"), FEEDS))
    assert opset_of(written) == 26 and written.ir_version >= 13


def test_what_a_conversion_adds_gets_names_of_its_own():
    """The scales of Upsample were an attribute once."""
    body = "a = Upsample<scales=[1.0, 1.0, 2.0, 1.0]>(x) y = Relu(a)"
    old = model(7, body, "float[1,1,12,6] y")
    node = onnx.ModelProto()
    node.CopyFrom(old)
    del node.graph.node[1:], node.graph.input[1:]
    node.graph.output[0].name = "a"
    writer = OnnxWriter(OPSET)
    for k in range(2):
        writer.opaque(node, [f"x{k}"], f"y{k}", 0)
    names = [o for n in writer.nodes for o in n.output] + [t.name for t in writer.initializers]
    assert len(writer.nodes) + len(writer.initializers) > 2 and len(set(names)) == len(names)
    assert {i for n in writer.nodes for i in n.input if i} <= {*names, "x0", "x1"}


def test_other_domains_keep_their_version():
    body = "z = Exp(x) y = ai.onnx.ml.Binarizer<threshold = 1.5>(z)"
    written = graph_to_onnx(check_model(model(15, body, "float[1,1,6,6] y", ', "ai.onnx.ml": 3'), FEEDS))
    assert opset_of(written, "ai.onnx.ml") == 3


def test_what_cannot_be_converted_is_one_line():
    m = model(15, "y = Exp(x)", "float[1,1,6,6] y")
    m.graph.node[0].op_type = "Unheard"
    m.opset_import[0].version = 9
    assert at_opset(m, OPSET) is m  # neither opset knows it
    m.graph.node[0].op_type, m.opset_import[0].version = "Swish", 24
    with pytest.raises(Error, match="Swish of opset 24 cannot be written at opset 21") as e:
        at_opset(m, OPSET)
    assert "\n" not in str(e.value)
