"""State that no iteration of a loop changes, weights above all, becomes what the body reads from outside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

import onnx
from onnx import helper

from korch.fission.importer.load import subgraphs_of
from korch.ir.opsets import opsets_of

FIRST = {"Loop": (2, 2, 1), "Scan": (0, 0, 0)}
"""The numbers of the first state among the inputs of the node, those of its body, and the body's outputs."""


def free_invariants(model: onnx.ModelProto) -> None:
    """Takes invariant state out of the loops of the model, those in bodies included. A Scan before opset 9 has another
    first input, and keeps its state."""
    _free(model.graph, {"Loop", "Scan"} if opsets_of(model).get("", 9) >= 9 else {"Loop"})


def _free(graph: onnx.GraphProto, loops: Set[str]) -> None:
    nodes = list[onnx.NodeProto]()
    for node in graph.node:
        copies = _freed(node) if node.op_type in loops and not node.domain else []
        nodes += [node, *copies]
    if len(nodes) != len(graph.node):
        kept = [onnx.NodeProto.FromString(n.SerializeToString()) for n in nodes]
        del graph.node[:]
        graph.node.extend(kept)
    for inner in subgraphs_of(graph):
        _free(inner, loops)


def _freed(node: onnx.NodeProto) -> list[onnx.NodeProto]:
    """Takes the invariant state out of one loop; nodes that give its outputs."""
    body = next(a.g for a in node.attribute if a.name == "body")
    first, first_inside, first_result = FIRST[node.op_type]
    copied = {n.output[0]: n.input[0] for n in body.node if _is_copy(n)}
    copies = list[onnx.NodeProto]()
    for k in reversed(range(_states(node, body))):
        inside, result, outside = (
            body.input[first_inside + k].name,
            body.output[first_result + k].name,
            node.input[first + k],
        )
        if copied.get(result, result) != inside or len(node.output) <= k:
            continue
        del body.input[first_inside + k], body.output[first_result + k], node.input[first + k]
        rename(body, {inside: outside})
        if node.output[k]:
            copies.append(helper.make_node("Identity", [outside], [node.output[k]]))
        del node.output[k]
    return copies


def _is_copy(node: onnx.NodeProto) -> bool:
    """Whether the node is an Identity with an input and an output."""
    return node.op_type == "Identity" and not node.domain and bool(node.input and node.output)


def _states(node: onnx.NodeProto, body: onnx.GraphProto) -> int:
    """How many values each iteration gives to the next."""
    if node.op_type == "Loop":
        return max(len(node.input) - 2, 0)
    return len(node.input) - next(a.i for a in node.attribute if a.name == "num_scan_inputs")


def rename(graph: onnx.GraphProto, names: Mapping[str, str]) -> None:
    """Lets nodes, those of bodies included, and outputs read values by other names."""

    def renamed(old: Iterable[str]) -> list[str]:
        return [names.get(n, n) for n in old]

    for node in graph.node:
        node.input[:] = renamed(node.input)
    for inner in subgraphs_of(graph):
        rename(inner, names)
    for output in graph.output:
        output.name = names.get(output.name, output.name)
