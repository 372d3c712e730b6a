"""Opsets, functions and operators: what the model's nodes mean."""

from __future__ import annotations

import onnx
from onnx import checker, defs, inliner, version_converter

from korch.errors import ModelError
from korch.fission.importer.structure import title
from korch.fission.table import rule_for

OLDEST = 7
"""Fission rules know operators from this opset on; older models are converted by onnx."""
CONVERTED = 13


def inline_functions(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with its local functions replaced by their bodies."""
    if not model.functions:
        return model
    try:
        return inliner.inline_local_functions(model)
    except Exception as e:
        raise ModelError(f"the model's functions cannot be inlined: {_line(e)}") from e


def settle_opset(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model at an opset that fission knows."""
    opset = opset_of(model)
    newest = defs.onnx_opset_version()
    if opset > newest:
        raise ModelError(f"the model is of opset {opset}; the installed onnx knows up to {newest}: upgrade it")
    if opset >= OLDEST:
        return model
    try:
        return version_converter.convert_version(model, CONVERTED)
    except Exception as e:
        raise ModelError(f"the model is of opset {opset} and cannot be converted to {CONVERTED}: {_line(e)}") from e


def opset_of(model: onnx.ModelProto) -> int:
    """The version of ONNX's own operators that the model uses."""
    versions = [o.version for o in model.opset_import if o.domain in ("", "ai.onnx")]
    if not versions and any(n.domain in ("", "ai.onnx") for n in model.graph.node):
        raise ModelError("the model does not say which opset it uses (opset_import)")
    return versions[0] if versions else CONVERTED


def check_nodes(model: onnx.ModelProto) -> None:
    """Refuses operators that the opset does not have, and nodes that do not fit their operator."""
    context = checker.DEFAULT_CONTEXT.__class__()
    context.ir_version = model.ir_version or onnx.IR_VERSION
    context.opset_imports = {("" if o.domain == "ai.onnx" else o.domain): o.version for o in model.opset_import}
    for node in model.graph.node:
        if node.op_type in ("Loop", "Scan"):
            raise ModelError(f"{title(node)} is a loop, which cannot be compiled: unroll it in the exporter")
        if node.op_type != "If" and not _is_ours(node, model):
            _check_node(node, context)


def _is_ours(node: onnx.NodeProto, model: onnx.ModelProto) -> bool:
    """Whether fission knows an operator that ONNX, in this opset, does not: onnxruntime's optimiser puts some into
    ONNX's domain."""
    opset = opset_of(model)
    known = defs.has(node.op_type, opset, "") if node.domain in ("", "ai.onnx") else defs.has(node.op_type, node.domain)
    return not known and rule_for(node.op_type, node.domain, opset) is not None


def _check_node(node: onnx.NodeProto, context: checker.C.CheckerContext) -> None:
    try:
        checker.check_node(node, context)
    except checker.ValidationError as e:
        raise ModelError(f"{title(node)} is malformed: {_line(e)}") from e


def _line(e: Exception) -> str:
    return " ".join(str(e).split())[:200]
