"""Local functions of a model, which become the nodes that they stand for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

import onnx
from onnx import inliner

from korch import limits
from korch.errors import ModelError, words_of
from korch.fission.importer.load import subgraphs_of
from korch.ir.opsets import own_domain

FunctionKey = tuple[str, str, str]
"""Domain, name and overload, by which nodes call a function."""


def inline_functions(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with its local functions replaced by their bodies. ModelError where these call themselves, or have more
    nodes or bytes than `limits` allow."""
    if not model.functions:
        return model
    _check_size(model)
    _import_opsets(model)
    try:
        return inliner.inline_local_functions(model, convert_version=True)
    except Exception as e:
        raise ModelError(f"the model's functions cannot be inlined: {words_of(e)}") from e


def _import_opsets(model: onnx.ModelProto) -> None:
    """Gives the model the opsets that only its functions name: their bodies become its own nodes."""
    known = {own_domain(o.domain) for o in model.opset_import}
    for o in (o for f in model.functions for o in f.opset_import):
        if own_domain(o.domain) not in known:
            known.add(own_domain(o.domain))
            model.opset_import.add().CopyFrom(o)


@dataclass(frozen=True)
class _Size:
    """Nodes and bytes, those of all calls included."""

    nodes: int = 0
    nbytes: int = 0

    def __add__(self, other: _Size) -> _Size:
        return _Size(self.nodes + other.nodes, self.nbytes + other.nbytes)


def _check_size(model: onnx.ModelProto) -> None:
    """Counts before anything is inlined: functions that call each other twice double with each level."""
    functions = dict[FunctionKey, onnx.FunctionProto]()
    for f in model.functions:
        key = own_domain(f.domain), f.name, f.overload
        if functions.setdefault(key, f) is not f:  # which of them a call means would be anybody's guess
            raise ModelError(f"the model has two functions {f.name!r} of domain {f.domain!r}: rename one of them")
    calls = {key: [k for n in _nodes(f) if (k := _called(n)) in functions] for key, f in functions.items()}
    sizes = dict[FunctionKey, _Size]()
    for key in _callees_first(calls):
        sizes[key] = _size(functions[key], sizes)
    size = _size(model.graph, sizes)
    if size.nodes > limits.NODES or size.nbytes > limits.INLINED_BYTES:
        raise ModelError(
            f"the model's functions stand for {size.nodes} nodes of {limits.size_text(size.nbytes)}; "
            f"the most are {limits.NODES} and {limits.size_text(limits.INLINED_BYTES)}: call them less often"
        )


def _callees_first(calls: dict[FunctionKey, list[FunctionKey]]) -> list[FunctionKey]:
    try:
        return list(TopologicalSorter(calls).static_order())
    except CycleError as e:
        names = " -> ".join(repr(name) for _, name, _ in e.args[1][:4])
        raise ModelError(f"the model's functions call themselves: {names}") from None


def _size(graph: onnx.GraphProto | onnx.FunctionProto, sizes: dict[FunctionKey, _Size]) -> _Size:
    """The size of a graph whose calls of functions of these `sizes` are inlined."""
    return sum((sizes.get(_called(n), _Size(nodes=1)) for n in _nodes(graph)), _Size(nbytes=graph.ByteSize()))


def _nodes(graph: onnx.GraphProto | onnx.FunctionProto) -> Iterator[onnx.NodeProto]:
    """All nodes, those of bodies included."""
    yield from graph.node
    for inner in subgraphs_of(graph):
        yield from _nodes(inner)


def _called(node: onnx.NodeProto) -> FunctionKey:
    return own_domain(node.domain), node.op_type, node.overload
