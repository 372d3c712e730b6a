"""Opsets and operators: what the model's nodes mean."""

from __future__ import annotations

import onnx
from onnx import checker, defs, version_converter

from korch.errors import ModelError, words_of
from korch.fission.importer.load import subgraphs_of
from korch.fission.importer.structure import title
from korch.fission.table import rule_for
from korch.ir.opsets import opsets_of, own_domain

OLDEST = 7
"""Fission rules know operators from this opset on; older models are converted by onnx."""
CONVERTED = 13
LATEST = 2**31 - 1
"""The largest number that onnx takes for a version."""


def in_own_domain(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model, whose nodes of ONNX's own operators say so by the one name that its checker looks for."""
    for graph in (model.graph, *model.functions):
        _rename_domains(graph)
    return model


def _rename_domains(graph: onnx.GraphProto | onnx.FunctionProto) -> None:
    for node in graph.node:
        node.domain = own_domain(node.domain)
    for inner in subgraphs_of(graph):
        _rename_domains(inner)


def settle_opset(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model at an opset that fission knows."""
    opset = _own_opset(model)
    newest = defs.onnx_opset_version()
    if opset > newest:
        raise ModelError(f"the model is of opset {opset}; the installed onnx knows up to {newest}: upgrade it")
    if opset >= OLDEST:
        return model
    try:
        return version_converter.convert_version(model, CONVERTED)
    except Exception as e:
        raise ModelError(f"the model is of opset {opset} and cannot be converted to {CONVERTED}: {words_of(e)}") from e


def _own_opset(model: onnx.ModelProto) -> int:
    """The version of ONNX's own operators that the model uses."""
    asked = opsets_of(model).get("")
    if asked is None and any(not own_domain(n.domain) for n in model.graph.node):
        raise ModelError("the model does not say which opset it uses (opset_import)")
    return CONVERTED if asked is None else asked


def check_nodes(model: onnx.ModelProto) -> None:
    """Refuses operators that the opset does not have, and nodes that do not fit their operator."""
    context = checker.DEFAULT_CONTEXT.__class__()
    versions = {"ir_version": model.ir_version, **opsets_of(model)}
    if unknown := next((name for name, version in versions.items() if not 0 <= version <= LATEST), None):
        raise ModelError(f"the model has version {versions[unknown]} of {unknown!r}, which is no version")
    context.ir_version = model.ir_version or onnx.IR_VERSION
    context.opset_imports = opsets_of(model)
    for node in model.graph.node:
        if not any(a.HasField("g") for a in node.attribute) and not _is_ours(node, model):
            _check_node(node, context)


def _is_ours(node: onnx.NodeProto, model: onnx.ModelProto) -> bool:
    """Whether fission knows an operator that ONNX, in this opset, does not, or calls deprecated: onnxruntime's
    optimiser puts some into ONNX's domain, and exporters wrote GroupNormalization before it was replaced."""
    opset, domain = _own_opset(model), own_domain(node.domain)
    rule = rule_for(node.op_type, domain, opset)
    try:
        schema = defs.get_schema(node.op_type, domain) if domain else defs.get_schema(node.op_type, opset, "")
    except defs.SchemaError:
        return rule is not None
    return rule is not None and schema.deprecated and rule.since >= schema.since_version


def _check_node(node: onnx.NodeProto, context: checker.C.CheckerContext) -> None:
    try:
        checker.check_node(node, context)
    except checker.ValidationError as e:
        raise ModelError(f"{title(node)} is malformed: {words_of(e)}") from e
