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
from korch.ir.opsets import ONNX, at_opset, opset_for, opset_of
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor

IR_VERSION = 10


class OnnxWriter:
    """Collects ONNX nodes and initializers at `opset` (the `Emit` that primitives write themselves to)."""

    def __init__(self, opset: int) -> None:
        self.opset = opset
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.domains: dict[str, int] = {}

    def node(
        self, op: str, inputs: Sequence[str], output: str | None = None, more: Sequence[str] = (), **attrs: Any
    ) -> str:
        name = output or f"{op.lower()}_{len(self.nodes)}__"
        self.nodes.append(helper.make_node(op, list(inputs), [name, *more], **attrs))
        return name

    def const(self, value: Array) -> str:
        name = f"constant_{len(self.initializers)}__"
        self.initializers.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def opaque(self, model: onnx.ModelProto, inputs: Sequence[str], output: str, index: int) -> None:
        converted = at_opset(model, self.opset).graph
        names = dict(zip((i.name for i in model.graph.input), inputs, strict=True))
        names |= {"": "", model.graph.output[index].name: output}
        for x in converted.initializer:
            self.initializers.append(onnx.TensorProto())
            self.initializers[-1].CopyFrom(x)
            self.initializers[-1].name = names[x.name] = f"{output}_{x.name}"
        for node in converted.node:
            names |= {o: f"{output}_{o}" for o in node.output if o not in names}
            self.nodes.append(_renamed(node, names))
            if node.domain not in ONNX:
                self.domains[node.domain] = max(self.domains.get(node.domain, 0), opset_of(model, node.domain))


def _renamed(node: onnx.NodeProto, names: Mapping[str, str]) -> onnx.NodeProto:
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    copy.name = ""
    del copy.input[:], copy.output[:]
    copy.input.extend(names[i] for i in node.input)
    copy.output.extend(names[o] for o in node.output)
    return copy


def _info(t: Tensor, name: str | None = None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name or t.name, helper.np_dtype_to_tensor_dtype(np.dtype(t.dtype)), t.shape)


def _model(
    name: str,
    primitives: Iterable[Primitive],
    inputs: Sequence[Tensor],
    outputs: Sequence[tuple[str, Tensor]],
    constants: Mapping[str, Array],
) -> onnx.ModelProto:
    primitives = tuple(primitives)
    opaque = [onnx.load_from_string(p.attr("model")) for p in primitives if p.op == "Opaque"]
    writer = OnnxWriter(opset_for(opaque, others=len(opaque) < len(primitives)))
    for p in primitives:
        p.spec.write(p, [t.name for t in p.inputs], writer)
    ends = dict(outputs)  # exporters name an output twice
    for name_out, t in ends.items():
        if name_out != t.name:
            writer.node("Identity", [t.name], name_out)
    weights = [numpy_helper.from_array(np.asarray(x, order="C"), n) for n, x in constants.items()]
    graph = helper.make_graph(
        writer.nodes,
        name,
        [_info(t) for t in inputs],
        [_info(t, n) for n, t in ends.items()],
        [*weights, *writer.initializers],
    )
    opsets = [helper.make_opsetid(d, v) for d, v in [("", writer.opset), *sorted(writer.domains.items())]]
    ir_version = max(IR_VERSION, helper.find_min_ir_version_for(opsets, ignore_unknown=True))
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir_version, producer_name="korch")


def graph_to_onnx(graph: Graph) -> onnx.ModelProto:
    """The graph's choice-free selection; opens in any ONNX tool."""
    plain = graph.plain()
    ends = list(zip(plain.output_names, plain.outputs, strict=True))
    return _model(plain.name, plain.primitives, plain.inputs, ends, plain.constants)


def cone_to_onnx(cone: Cone) -> onnx.ModelProto:
    """The cone as a model whose inputs are all of its leaves, constants included, in order."""
    return _model("cone", cone.primitives, cone.leaves, [(cone.root.name, cone.root)], {})
