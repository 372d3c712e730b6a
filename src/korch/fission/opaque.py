"""Nodes that have no rule: run once when all is constant, else kept whole for onnxruntime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper, shape_inference
from onnx.reference import ReferenceEvaluator

from korch.errors import ModelError, NeedsSegments, words_of
from korch.ir.builder import Builder, Value
from korch.ir.ops.table import Array
from korch.ir.opsets import own_domain
from korch.system.sessions import plain_session

IR_VERSION = 10
SMALL = 4096
"""Constants up to this many elements may decide a shape; larger ones are data."""
FEW = 16
"""So are floats beyond this many: more than the factors of any image's axes."""


@dataclass(frozen=True)
class Node:
    """A node of the model, its input values and the opset of its domain."""

    proto: onnx.NodeProto
    inputs: tuple[Value | None, ...]
    opset: int

    @property
    def title(self) -> str:
        """How messages and origins call it."""
        p = self.proto
        return p.name or f"{p.op_type} of {next((o for o in p.output if o), '?')}"


def constant_outputs(node: Node) -> tuple[Array | None, ...]:
    """What a node with constant inputs computes; None for outputs it does not name."""
    values = _run(_alone(node, _distinct(node), lambda v: v.array), node)
    if not all(isinstance(v, np.ndarray) for v in values):
        raise NeedsSegments(f"{node.title} gives something that is no tensor")
    return tuple(v if o else None for o, v in zip(node.proto.output, values, strict=True))


def _run(model: onnx.ModelProto, node: Node) -> list[Any]:
    """Through onnxruntime; through ONNX's reference for the few operators or types it has no kernel for."""
    try:
        return list(plain_session(model.SerializeToString(), 1).run(None, {}))
    except Exception as first:
        try:
            reference: Any = ReferenceEvaluator(model)  # its stubs know no run without output names
            return list(reference.run(None, {}))
        except Exception:
            raise ModelError(f"{node.title} cannot be evaluated: {words_of(first)}") from first


def opaque_outputs(b: Builder, node: Node) -> tuple[Value | None, ...]:
    """One opaque primitive for each output that the node names. Small constants are part of it: they may be sizes or
    axes, for which others would not do when it is measured."""
    distinct = _distinct(node)
    if not distinct:
        raise NeedsSegments(f"{node.title} has no inputs and no rule")
    model = _alone(node, distinct, _decides)
    types = _output_types(model, node)
    del model.graph.output[:]
    model.graph.output.extend(types)
    data = model.SerializeToString(deterministic=True)
    given = [v for v in distinct if _decides(v) is None]
    return tuple(b.op("Opaque", *given, model=data, index=i) if o else None for i, o in enumerate(node.proto.output))


def _decides(v: Value) -> Array | None:
    """The value of a constant that may decide a shape: an axis, a list of lengths or of factors. Weights and the scales
    of quantized ones are data, which equal nodes have their own of."""
    t = v.tensor
    listed = (t.rank == 1 and t.size <= FEW) if t.is_float else (t.rank <= 1 and t.size <= SMALL)
    return v.array if t.const and listed else None


def _distinct(node: Node) -> tuple[Value, ...]:
    """The input values, each once."""
    return tuple({v.tensor: v for v in node.inputs if v is not None}.values())


def _renamed(proto: onnx.NodeProto, distinct: Sequence[Value], inputs: Sequence[Value | None]) -> onnx.NodeProto:
    """The node with inputs x0, x1 ... and outputs y0, y1 ...: equal nodes become equal bytes."""
    number = {v.tensor: f"x{i}" for i, v in enumerate(distinct)}
    copy = onnx.NodeProto()
    copy.CopyFrom(proto)
    copy.name = copy.doc_string = ""
    del copy.metadata_props[:], copy.input[:], copy.output[:]
    copy.input.extend(number[v.tensor] if v is not None else "" for v in inputs)
    copy.output.extend(f"y{i}" for i in range(len(proto.output)))  # onnxruntime wants required ones named
    return copy


def _alone(node: Node, distinct: Sequence[Value], value: Callable[[Value], Array | None]) -> onnx.ModelProto:
    """A model of the one node; inputs for which `value` gives an array become initializers."""
    proto = _renamed(node.proto, distinct, node.inputs)
    inputs: list[onnx.ValueInfoProto] = []
    weights: list[onnx.TensorProto] = []
    for i, v in enumerate(distinct):
        array = value(v)
        if array is None:
            kind = helper.np_dtype_to_tensor_dtype(np.dtype(v.dtype))
            inputs.append(helper.make_tensor_value_info(f"x{i}", kind, v.shape))
        else:
            weights.append(numpy_helper.from_array(array, f"x{i}"))
    outputs = [onnx.ValueInfoProto(name=o) for o in proto.output]
    graph = helper.make_graph([proto], "node", inputs, outputs, weights)
    opsets = [helper.make_opsetid(proto.domain, node.opset)]
    opsets += [helper.make_opsetid("", 18)] if own_domain(proto.domain) else []
    return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)


def _output_types(model: onnx.ModelProto, node: Node) -> list[onnx.ValueInfoProto]:
    """Exact types of the outputs of the node's `model`, from ONNX's inference or else onnxruntime's."""
    inferred = _inferred(model)
    reported = _runtime_types(model, node)  # also the proof that onnxruntime has such an operator
    if all(map(_is_static, inferred)):
        return inferred
    unknown = any(_is_unknown(mine, theirs) for mine, theirs in zip(inferred, reported, strict=True))
    foreign = own_domain(node.proto.domain) != ""  # ONNX's own operators tell every shape that does not depend on data
    if unknown and foreign:
        reported = _tried(model, node)
    if (unknown and not foreign) or not all(map(_is_static, reported)):
        raise NeedsSegments(
            f"{node.title}: the shape of its output depends on data, which cannot be compiled; "
            f"give it constant parameters or cut the model before it"
        )
    return reported


def _is_unknown(inferred: onnx.ValueInfoProto, reported: onnx.ValueInfoProto) -> bool:
    """Whether nobody knows a shape: onnxruntime says then what it says of a single number."""
    return not inferred.type.tensor_type.HasField("shape") and not reported.type.tensor_type.shape.dim


def _tried(model: onnx.ModelProto, node: Node) -> list[onnx.ValueInfoProto]:
    """The types of what the node computes of zeros, and of ones. (Most of ONNX's operators for classical learning tell
    no shape.)"""
    try:
        session = plain_session(model.SerializeToString(), 1)
        names = [o.name for o in session.get_outputs()]
        zeros, ones = (list(map(np.asarray, session.run(None, _filled(model, value)))) for value in (0, 1))
    except Exception as e:
        raise NeedsSegments(f"{node.title}: nothing is known of the shape of its output: {words_of(e)}") from e
    lengths = [x.shape if x.shape == y.shape else (None,) for x, y in zip(zeros, ones, strict=True)]
    return [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), shape)
        for name, x, shape in zip(names, zeros, lengths, strict=True)
    ]


def _filled(model: onnx.ModelProto, value: int) -> dict[str, Array]:
    return {
        i.name: np.full(_shape(i), value, helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type))
        for i in model.graph.input
    }


def _shape(info: onnx.ValueInfoProto) -> tuple[int, ...]:
    return tuple(d.dim_value for d in info.type.tensor_type.shape.dim)


def _inferred(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    try:
        return list(shape_inference.infer_shapes(model, strict_mode=True, data_prop=True).graph.output)
    except Exception:
        return list(model.graph.output)


def _runtime_types(model: onnx.ModelProto, node: Node) -> list[onnx.ValueInfoProto]:
    try:
        session = plain_session(model.SerializeToString(), 1)
    except Exception as e:
        raise NeedsSegments(f"{node.title} has no rule and onnxruntime refuses it: {words_of(e)}") from e
    kinds = {t: k for k, t in RUNTIME_TYPES.items()}
    for o in session.get_outputs():
        if o.type not in kinds:
            raise NeedsSegments(f"{node.title} gives a {o.type}, which Korch does not compute with")
    return [helper.make_tensor_value_info(o.name, kinds[o.type], o.shape) for o in session.get_outputs()]


RUNTIME_TYPES: dict[int, str] = {
    onnx.TensorProto.FLOAT: "tensor(float)", onnx.TensorProto.DOUBLE: "tensor(double)",
    onnx.TensorProto.FLOAT16: "tensor(float16)", onnx.TensorProto.BOOL: "tensor(bool)",
    onnx.TensorProto.INT8: "tensor(int8)", onnx.TensorProto.INT16: "tensor(int16)",
    onnx.TensorProto.INT32: "tensor(int32)", onnx.TensorProto.INT64: "tensor(int64)",
    onnx.TensorProto.UINT8: "tensor(uint8)", onnx.TensorProto.UINT16: "tensor(uint16)",
    onnx.TensorProto.UINT32: "tensor(uint32)", onnx.TensorProto.UINT64: "tensor(uint64)",
}  # fmt: skip


def _is_static(info: onnx.ValueInfoProto) -> bool:
    kind = info.type.tensor_type
    return (
        kind.elem_type in RUNTIME_TYPES
        and kind.HasField("shape")
        and all(d.HasField("dim_value") and d.dim_value >= 0 for d in kind.shape.dim)
    )
