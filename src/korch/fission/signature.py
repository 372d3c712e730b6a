"""Do a node's inputs fit its operator? ONNX's schema says which dtypes it takes, its inference which shapes."""

from __future__ import annotations

import math

import numpy as np
import onnx
from onnx import checker, defs, helper, numpy_helper, shape_inference

from korch import limits
from korch.errors import ModelError
from korch.fission.einsum import result_shape
from korch.fission.opaque import RUNTIME_TYPES, SMALL, Node
from korch.ir.builder import Value
from korch.ir.ops.table import Array
from korch.ir.opsets import own_domain

LENIENT = frozenset({"Einsum"})
"""Operators whose rule takes more than ONNX's inference: an ellipsis of any rank in each operand."""


def check_fit(node: Node) -> int:
    """Bytes of the node's outputs, as far as ONNX infers their shapes. ModelError where an input has a dtype or a shape
    that the operator does not take, or an output is larger than any tensor may be."""
    try:
        schema = defs.get_schema(node.proto.op_type, node.opset, own_domain(node.proto.domain))
    except defs.SchemaError:
        return 0  # onnxruntime's, or nobody's: whoever runs it says so
    _check_dtypes(node, schema)
    if node.proto.op_type in LENIENT:
        sizes = [_einsum_bytes(node)]
    else:
        sizes = [_bytes(t) for t in _output_types(node, schema)]
    for size in sizes:
        limits.check_tensor(size, node.title)
    return sum(sizes)


def empty_outputs(node: Node) -> list[Array] | None:
    """The outputs of a node that reads something without elements and makes nothing else; None of all other nodes."""
    if all(v is None or v.tensor.size for v in node.inputs) or node.proto.op_type in LENIENT:
        return None
    try:
        schema = defs.get_schema(node.proto.op_type, node.opset, own_domain(node.proto.domain))
        types = _output_types(node, schema)
    except (defs.SchemaError, ModelError):
        return None
    if len(types) < len(node.proto.output) or not all(map(_is_empty, types)):
        return None
    return [np.zeros(*_array_type(t)) for t in types]


def _einsum_bytes(node: Node) -> int:
    """Bytes of an Einsum's result; 0 where the operands do not fit, which its rule reports."""
    operands = [v for v in node.inputs if v is not None]
    equation = next((a.s.decode(errors="replace") for a in node.proto.attribute if a.name == "equation"), "")
    try:
        shape = result_shape(operands, equation)
    except (ValueError, LookupError):
        return 0
    return math.prod(shape) * np.dtype(operands[0].dtype).itemsize


def _is_empty(kind: onnx.TypeProto) -> bool:
    t = kind.tensor_type
    known = t.elem_type in RUNTIME_TYPES and all(d.HasField("dim_value") for d in t.shape.dim)
    return known and any(d.dim_value == 0 for d in t.shape.dim)


def _array_type(kind: onnx.TypeProto) -> tuple[list[int], np.dtype[np.generic]]:
    t = kind.tensor_type
    return [d.dim_value for d in t.shape.dim], np.dtype(helper.tensor_dtype_to_np_dtype(t.elem_type))


def _check_dtypes(node: Node, schema: defs.OpSchema) -> None:
    """Each input has a dtype of its list; inputs that share a list share the dtype."""
    allowed = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    chosen: dict[str, str] = {}
    for i, v in enumerate(node.inputs):
        if v is None:
            continue
        formal = schema.inputs[min(i, len(schema.inputs) - 1)]
        if RUNTIME_TYPES[_element(v)] not in allowed.get(formal.type_str, (formal.type_str,)):
            raise ModelError(f"{node.title} does not take {v.dtype} as its input {formal.name!r}")
        if formal.is_homogeneous and chosen.setdefault(formal.type_str, v.dtype) != v.dtype:
            raise ModelError(f"{node.title} has inputs of {chosen[formal.type_str]} and {v.dtype}; cast one of them")


def _output_types(node: Node, schema: defs.OpSchema) -> list[onnx.TypeProto]:
    """The types of outputs as far as ONNX infers them; ModelError where it finds that shapes do not fit."""
    named = {n: v for n, v in zip(node.proto.input, node.inputs, strict=True) if v is not None}
    types = {n: helper.make_tensor_type_proto(_element(v), v.shape) for n, v in named.items()}
    numbers = {n: v.array for n, v in named.items() if v.tensor.size <= SMALL}
    data = {n: numpy_helper.from_array(x) for n, x in numbers.items() if x is not None and x.dtype.kind in "iuf"}
    opset = helper.make_opsetid(own_domain(node.proto.domain), node.opset)
    try:
        return list(shape_inference.infer_node_outputs(schema, node.proto, types, data, opset_imports=[opset]).values())
    except shape_inference.InferenceError as e:
        shapes = ", ".join(str(list(v.shape)) for v in named.values())
        raise ModelError(f"{node.title} does not take inputs of the shapes {shapes}: {_reason(e)}") from e
    except MemoryError as e:
        raise ModelError(f"{node.title} has more outputs than there is memory for") from e
    except checker.ValidationError:
        return []  # deprecated, or with attributes of another opset; the importer has looked at what is wrong


def _bytes(kind: onnx.TypeProto) -> int:
    """Bytes of a tensor of static shape; 0 for others."""
    dims = kind.tensor_type.shape.dim
    if kind.tensor_type.elem_type not in RUNTIME_TYPES or not all(d.HasField("dim_value") for d in dims):
        return 0
    itemsize = helper.tensor_dtype_to_np_dtype(kind.tensor_type.elem_type).itemsize
    return math.prod(max(d.dim_value, 0) for d in dims) * itemsize


def _reason(e: Exception) -> str:
    """What comes behind the name of the operator, and no question."""
    return " ".join(str(e).split()).rpartition("] ")[2][:160]


def _element(v: Value) -> int:
    return helper.np_dtype_to_tensor_dtype(np.dtype(v.dtype))
