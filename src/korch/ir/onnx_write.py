"""Writes a choice-free primitive graph, or a cone, as plain ONNX."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from korch.ir.cone import Cone
from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor

OPSET = 21
IR_VERSION = 10


class Writer:
    """Collects ONNX nodes and initializers (the `Emit` that primitives write themselves to)."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.opsets = {"": OPSET}

    def node(self, op: str, inputs: Sequence[str], output: str | None = None, **attrs: Any) -> str:
        name = output or f"{op.lower()}_{len(self.nodes)}__"
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attrs))
        return name

    def const(self, value: Array) -> str:
        name = f"constant_{len(self.initializers)}__"
        self.initializers.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def opaque(self, node: onnx.NodeProto, opset: int) -> None:
        self.opsets[node.domain] = max(opset, self.opsets.get(node.domain, 1))
        self.nodes.append(node)


def _info(t: Tensor, name: str | None = None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name or t.name, helper.np_dtype_to_tensor_dtype(np.dtype(t.dtype)), t.shape)


def _model(
    name: str,
    primitives: Iterable[Primitive],
    inputs: Sequence[Tensor],
    outputs: Sequence[tuple[str, Tensor]],
    constants: Mapping[str, Array],
) -> onnx.ModelProto:
    writer = Writer()
    for p in primitives:
        p.spec.write(p, [t.name for t in p.inputs], writer)
    ends = dict(outputs)  # exporters name an output twice
    for name_out, t in ends.items():
        if name_out != t.name:
            writer.node("Identity", [t.name], name_out)
    weights = [numpy_helper.from_array(np.asarray(x, order="C"), n) for n, x in constants.items()]
    graph = helper.make_graph(writer.nodes, name, [_info(t) for t in inputs],
                              [_info(t, n) for n, t in ends.items()], [*weights, *writer.initializers])  # fmt: skip
    opsets = [helper.make_opsetid(domain, version) for domain, version in sorted(writer.opsets.items())]
    return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="korch")


def graph_to_onnx(graph: Graph) -> onnx.ModelProto:
    """The graph's choice-free selection; opens in any ONNX tool."""
    plain = graph.plain()
    ends = list(zip(plain.output_names, plain.outputs, strict=True))
    return _model(plain.name, plain.primitives, plain.inputs, ends, plain.constants)


def cone_to_onnx(cone: Cone) -> onnx.ModelProto:
    """The cone as a model whose inputs are all of its leaves, constants included, in order."""
    return _model("cone", cone.primitives, cone.leaves, [(cone.root.name, cone.root)], {})
