"""The graph as a graph: every name defined once, every input defined, no cycle, nodes in order."""

from __future__ import annotations

from collections.abc import Iterable, Set
from graphlib import CycleError, TopologicalSorter
from typing import Any

import onnx

from korch.errors import ModelError
from korch.fission.importer.load import subgraphs_of, tensors_of
from korch.ir.opsets import opsets_of


def check_names(graph: onnx.GraphProto) -> None:
    """Refuses names that are no text: protobuf gives those as bytes."""
    names: list[str | bytes] = [p.name for p in (*graph.input, *graph.output, *tensors_of(graph))]
    for node in graph.node:
        names += (node.name, node.op_type, node.domain, *node.input, *node.output, *(a.name for a in node.attribute))
    for name in (graph.name, *names):
        if isinstance(name, bytes):
            raise ModelError(f"the name {name[:40]!r} in the model is no UTF-8")
    for inner in subgraphs_of(graph):
        check_names(inner)


def check_control(model: onnx.ModelProto) -> None:
    """Refuses nodes of control flow whose bodies are missing, or have other numbers of inputs and outputs. Weights that
    old models list among the inputs of a body go from there."""
    _check_control(model.graph, opsets_of(model).get("", 9))


def _check_control(graph: onnx.GraphProto, opset: int) -> None:
    for inner in subgraphs_of(graph):
        _drop(inner.input, {t.name for t in inner.initializer})
    for node in graph.node:
        if not node.domain:
            match node.op_type:
                case "If":
                    for name in ("then_branch", "else_branch"):
                        _check_body(node, name, 0, least=len(node.output))
                case "Loop":
                    state = max(len(node.input) - 2, 0)
                    _check_body(node, "body", 2 + state, least=1 + max(state, len(node.output)))
                case "Scan" if opset >= 9:
                    scanned = next((a.i for a in node.attribute if a.name == "num_scan_inputs"), 0)
                    if not 0 < scanned <= len(node.input):
                        raise ModelError(f"{title(node)} scans {scanned} of {len(node.input)} inputs")
                    state = len(node.input) - scanned
                    _check_body(node, "body", len(node.input), least=max(state, len(node.output)))
                case _:
                    pass
    for inner in subgraphs_of(graph):
        _check_control(inner, opset)


def _check_body(node: onnx.NodeProto, name: str, inputs: int, least: int) -> None:
    """Refuses a body that has another number of inputs, or less than the `least` outputs."""
    attribute = next((a for a in node.attribute if a.name == name), None)
    if attribute is None or not attribute.HasField("g"):
        raise ModelError(f"{title(node)} has no {name}")
    body = attribute.g
    if len(body.input) != inputs or len(body.output) < least:
        raise ModelError(
            f"{title(node)} has a {name} of {len(body.input)} inputs and {len(body.output)} outputs; "
            f"it needs {inputs} and at least {least}"
        )


def put_in_order(model: onnx.ModelProto) -> None:
    """Sorts nodes so that inputs come first, keeping their order where it is right already; nodes and weights that no
    output depends on go. (Whoever cuts a model leaves behind it what cannot be compiled.)"""
    _order(model.graph, frozenset())


def _order(graph: onnx.GraphProto, outside: frozenset[str]) -> None:
    makers = _makers(graph)
    known = outside | {i.name for i in graph.input} | {t.name for t in graph.initializer}
    reads = [reads_of(node) for node in graph.node]
    for node, names in zip(graph.node, reads, strict=True):
        _check_defined(f"{title(node)} reads", names, known | makers.keys())
    _check_defined("the graph gives out", (o.name for o in graph.output), known | makers.keys())
    before = [[makers[n] for n in names if n in makers] for names in reads]
    needed = _needed([makers[o.name] for o in graph.output if o.name in makers], before)
    order = [i for i in _sorted(graph, before) if i in needed]
    if order != list(range(len(graph.node))):
        nodes = [onnx.NodeProto.FromString(graph.node[i].SerializeToString()) for i in order]
        del graph.node[:]
        graph.node.extend(nodes)
    _drop_weights(graph, {o.name for o in graph.output}.union(*(reads[i] for i in order)))
    for inner in subgraphs_of(graph):
        _order(inner, known | makers.keys())


def _drop_weights(graph: onnx.GraphProto, used: set[str]) -> None:
    """Drops the initializers outside of `used`, also where they are listed as inputs, which they would become."""
    unused = {t.name for t in graph.initializer} - used
    _drop(graph.initializer, unused)
    _drop(graph.input, unused)


def _drop(listed: Any, names: Set[str]) -> None:
    """Drops the entries of those names."""
    for i in reversed([i for i, entry in enumerate(listed) if entry.name in names]):
        del listed[i]


def _needed(last: list[int], before: list[list[int]]) -> set[int]:
    """The nodes `last`, and all that these need."""
    needed, todo = set[int](), last
    while todo:
        i = todo.pop()
        if i not in needed:
            needed.add(i)
            todo += before[i]
    return needed


def _makers(graph: onnx.GraphProto) -> dict[str, int]:
    """Each computed name with the index of its node."""
    weights = [t.name for t in graph.initializer]
    _check_once(weights, "initializer")
    _check_once([i.name for i in graph.input], "input")
    taken = set(weights) | {i.name for i in graph.input}
    makers: dict[str, int] = {}
    for index, node in enumerate(graph.node):
        for name in filter(None, node.output):
            if name in taken or name in makers:
                raise ModelError(f"{title(node)} defines {name!r}, which is defined already")
            makers[name] = index
    return makers


def _check_once(names: list[str], kind: str) -> None:
    if len(set(names)) != len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise ModelError(f"{kind} {twice!r} is defined twice")


def _check_defined(who: str, names: Iterable[str], known: set[str] | frozenset[str]) -> None:
    for name in names:
        if name not in known:
            raise ModelError(f"{who} {name!r}, which nothing defines")


def reads_of(node: onnx.NodeProto) -> list[str]:
    """Names that the node needs, those that its bodies take from outside included."""
    names = [n for n in node.input if n]
    for a in node.attribute:
        for inner in (*([a.g] if a.HasField("g") else []), *a.graphs):
            names.extend(free_names(inner))
    return names


def free_names(graph: onnx.GraphProto) -> list[str]:
    """Names that a body reads and does not define."""
    own = {i.name for i in graph.input} | {t.name for t in graph.initializer}
    own |= {o for node in graph.node for o in node.output}
    reads = [n for node in graph.node for n in reads_of(node)] + [o.name for o in graph.output]
    return [n for n in reads if n not in own]


def _sorted(graph: onnx.GraphProto, below: list[list[int]]) -> list[int]:
    if all(j < i for i, js in enumerate(below) for j in js):
        return list(range(len(below)))
    try:
        return list(TopologicalSorter(dict(enumerate(below))).static_order())
    except CycleError as e:
        cycle: list[int] = e.args[1]
        names = " -> ".join(title(graph.node[i]) for i in cycle[:4])
        raise ModelError(f"the graph has a cycle: {names}") from e


def title(node: onnx.NodeProto) -> str:
    """How messages call a node."""
    return f"node {node.name!r} ({node.op_type})" if node.name else f"node {node.op_type} of {node.output[:1]}"
