"""Do a node's inputs fit its operator? ONNX's schema says which dtypes it takes, its inference which shapes."""

from __future__ import annotations

import numpy as np
from onnx import checker, defs, helper, numpy_helper, shape_inference

from korch.errors import ModelError
from korch.fission.opaque import RUNTIME_TYPES, SMALL, Node
from korch.ir.builder import Value
from korch.ir.opsets import own_domain

LENIENT = frozenset({"Einsum"})
"""Operators whose rule takes more than ONNX's inference: an ellipsis of any rank in each operand."""


def check_fit(node: Node) -> None:
    """ModelError where an input has a dtype or a shape that the operator does not take."""
    try:
        schema = defs.get_schema(node.proto.op_type, node.opset, own_domain(node.proto.domain))
    except defs.SchemaError:
        return  # onnxruntime's, or nobody's: whoever runs it says so
    _check_dtypes(node, schema)
    if node.proto.op_type not in LENIENT:
        _check_shapes(node, schema)


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


def _check_shapes(node: Node, schema: defs.OpSchema) -> None:
    named = {n: v for n, v in zip(node.proto.input, node.inputs, strict=True) if v is not None}
    types = {n: helper.make_tensor_type_proto(_element(v), v.shape) for n, v in named.items()}
    numbers = {n: v.array for n, v in named.items() if v.tensor.size <= SMALL}
    data = {n: numpy_helper.from_array(x) for n, x in numbers.items() if x is not None and x.dtype.kind in "iuf"}
    opset = helper.make_opsetid(own_domain(node.proto.domain), node.opset)
    try:
        shape_inference.infer_node_outputs(schema, node.proto, types, data, opset_imports=[opset])
    except shape_inference.InferenceError as e:
        shapes = ", ".join(str(list(v.shape)) for v in named.values())
        raise ModelError(f"{node.title} does not take inputs of the shapes {shapes}: {_reason(e)}") from e
    except checker.ValidationError:
        return  # deprecated, or with attributes of another opset; the importer has looked at what is wrong


def _reason(e: Exception) -> str:
    """What comes behind the name of the operator, and no question."""
    return " ".join(str(e).split()).rpartition("] ")[2][:160]


def _element(v: Value) -> int:
    return helper.np_dtype_to_tensor_dtype(np.dtype(v.dtype))
