"""Which opset a written model has, and how opaque nodes of other opsets come to mean the same in it."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
from onnx import defs, version_converter

from korch.errors import Error, words_of

OPSET = 21
"""What primitives write themselves in."""
ONNX = ("", "ai.onnx")


def own_domain(name: str) -> str:
    """The domain under its one name: ONNX's own has two."""
    return "" if name in ONNX else name


def opsets_of(model: onnx.ModelProto) -> dict[str, int]:
    """The version of each domain's operators that the model uses; of what it says twice, the first."""
    return {own_domain(o.domain): o.version for o in reversed(model.opset_import)}


def opset_of(model: onnx.ModelProto, domain: str = "") -> int:
    """The version of one domain's operators that the model uses; KeyError where it does not say."""
    return opsets_of(model)[own_domain(domain)]


def opset_for(opaque: Sequence[onnx.ModelProto], others: bool) -> int:
    """The opset of a model with these opaque nodes, `others` if there are more nodes than these.

    Nodes of one opset alone keep it. Else it is what primitives write themselves in, or a newer one that a node needs.
    """
    used = {opset_of(m) for m in opaque}
    if len(used) == 1 and not others:
        return used.pop()
    return max([OPSET, *(opset_of(m) for m in opaque if not _is_unchanged(m, OPSET))])


def at_opset(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    """A model of one node as nodes that compute the same at `opset`; Error where onnx does not know how."""
    if _is_unchanged(model, opset):
        return model
    try:
        return version_converter.convert_version(model, opset)
    except Exception as e:
        what = f"{model.graph.node[0].op_type} of opset {opset_of(model)}"
        raise Error(f"{what} cannot be written at opset {opset}: {words_of(e)}") from e


def _is_unchanged(model: onnx.ModelProto, opset: int) -> bool:
    """Whether the node's operator is as it was; those of other domains have their own versions."""
    node = model.graph.node[0]
    return node.domain not in ONNX or _since(node.op_type, opset_of(model)) == _since(node.op_type, opset)


def _since(op: str, opset: int) -> int:
    """The opset from which on `op` means what it means at `opset`; 0 where there is no such operator."""
    return defs.get_schema(op, opset, "").since_version if defs.has(op, opset, "") else 0
