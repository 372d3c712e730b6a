"""A model with float64 in the place of narrower floats: what its weights and literals mean before any rounding."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, defs, helper, numpy_helper

from korch.fission.importer.load import subgraphs_of, tensors_of
from korch.ir.opsets import opsets_of, own_domain

NARROW = (TensorProto.FLOAT, TensorProto.FLOAT16)
DTYPE_ATTRIBUTES = {"Cast": "to", "EyeLike": "dtype"}
SINGLE = "tensor(float)"
FLOAT_CONSTANTS = ("value_float", "value_floats")


def widened(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy of `model` that computes with float64; the names stay. Not every operator has such a form."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for t in list(tensors_of(copy.graph)):
        if t.data_type in NARROW:
            t.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(t).astype(np.float64), t.name))
    _widen_graph(copy.graph, opsets_of(copy))
    return copy


def _widen_graph(graph: onnx.GraphProto, opsets: Mapping[str, int]) -> None:
    for info in (*graph.input, *graph.output):
        if info.type.tensor_type.elem_type in NARROW:
            info.type.tensor_type.elem_type = TensorProto.DOUBLE
    for node in graph.node:
        _widen_node(node)
    for inner in subgraphs_of(graph):
        _widen_graph(inner, opsets)
    nodes = [n for node in graph.node for n in (*_casts(node, opsets), node)]
    del graph.node[:]
    graph.node.extend(nodes)


def _casts(node: onnx.NodeProto, opsets: Mapping[str, int]) -> list[onnx.NodeProto]:
    """Casts before the inputs that take float32 only, such as the scales of Resize; `node` reads these instead."""
    try:
        domain = own_domain(node.domain)
        formal = defs.get_schema(node.op_type, opsets.get(domain, 1), domain).inputs
    except defs.SchemaError:
        return []
    result: list[onnx.NodeProto] = []
    for i, name in enumerate(node.input):
        if name and formal[min(i, len(formal) - 1)].type_str == SINGLE:
            node.input[i] = f"{node.output[0]}_single{i}__"
            result.append(helper.make_node("Cast", [name], [node.input[i]], to=TensorProto.FLOAT))
    return result


def _widen_node(node: onnx.NodeProto) -> None:
    """What says float32 other than by its inputs."""
    for a in node.attribute:
        if a.name == DTYPE_ATTRIBUTES.get(node.op_type) and a.i in NARROW:
            a.i = TensorProto.DOUBLE
        elif node.op_type == "Constant" and a.name in FLOAT_CONSTANTS:
            _make_tensor(a)
    if node.op_type == "ConstantOfShape" and not node.attribute:
        node.attribute.append(helper.make_attribute("value", numpy_helper.from_array(np.zeros(1))))


def _make_tensor(a: AttributeProto) -> None:
    values = np.asarray(a.f if a.name == "value_float" else list(a.floats), np.float64)
    a.CopyFrom(helper.make_attribute("value", numpy_helper.from_array(values)))
