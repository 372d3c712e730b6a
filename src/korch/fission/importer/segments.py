"""A model cut into segments: islands, which have static shapes once their inputs have, and what lies between them.

That is host segments, which onnxruntime runs: nodes whose results have shapes that depend on data, and nodes of values
that are no numbers; and control flow, whose bodies are cut in turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum

import onnx
from onnx import numpy_helper, shape_inference

from korch.errors import ModelError, words_of
from korch.fission.control import CONTROL
from korch.fission.engine import DTYPES, RANDOM
from korch.fission.importer.structural import NO_VALUES, deciding
from korch.fission.importer.structure import free_names, reads_of
from korch.ir.ops.table import Array
from korch.ir.opsets import opsets_of, own_domain

HOST = RANDOM - {"Dropout"} | {
    "NonZero",
    "NonMaxSuppression",
    "Unique",
    "Compress",
    "StringNormalizer",
    "TfIdfVectorizer",
}
"""Operators of host segments, besides custom operators and all that takes or gives other values than numbers."""


class SegmentKind(IntEnum):
    """Of a segment."""

    ISLAND = 0
    HOST = 1
    CONTROL = 2


@dataclass(frozen=True)
class Segment:
    """A part of the model that is a model of its own: it `reads` values by name and `writes` others. A segment of
    control flow is one node with its `bodies`."""

    kind: SegmentKind
    model: onnx.ModelProto
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    bodies: tuple[SegmentedGraph, ...] = ()

    @property
    def operators(self) -> list[str]:
        return [n.op_type for n in self.model.graph.node]


@dataclass(frozen=True)
class SegmentedGraph:
    """A graph as segments in the order in which they run: the whole model, or the body of a branch or loop.

    `arguments`, `results`: the names of its inputs and outputs. `constants`: results that no node computes.
    """

    arguments: tuple[str, ...]
    results: tuple[str, ...]
    segments: tuple[Segment, ...]
    constants: Mapping[str, Array] = field(default_factory=dict[str, Array])


def cut(model: onnx.ModelProto) -> SegmentedGraph:
    """The model in segments; ModelError where the type of a value between two is unknown."""
    types = _types(model)
    bodies = {n: found for n, node in enumerate(model.graph.node) if (found := _bodies(node, model, types))}
    phases = _phases(model, types, bodies)
    numbered = list(enumerate(model.graph.node))
    groups = list[tuple[SegmentKind, list[int]]]()
    for phase in sorted(set(phases)):
        members = [n for n, _ in numbered if phases[n] == phase]
        kind = SegmentKind(phase % len(SegmentKind))
        groups += [(kind, [n]) for n in members] if kind is SegmentKind.CONTROL else [(kind, members)]
    segments = [_segment(model, kind, members, types, bodies.get(members[0], ())) for kind, members in groups]
    graph = model.graph
    results = tuple(o.name for o in graph.output)
    constants = {t.name: numpy_helper.to_array(t) for t in graph.initializer if t.name in results}
    return SegmentedGraph(tuple(i.name for i in graph.input), results, tuple(segments), constants)


def _bodies(
    node: onnx.NodeProto, model: onnx.ModelProto, types: Mapping[str, onnx.TypeProto]
) -> tuple[SegmentedGraph, ...]:
    """The bodies of a branch or loop; none where they cannot be cut, and of all other nodes."""
    if own_domain(node.domain) or node.op_type not in CONTROL or (node.op_type == "Scan" and opsets_of(model)[""] < 9):
        return ()
    attributes = {a.name: a.g for a in node.attribute if a.HasField("g")}
    names = ("then_branch", "else_branch") if node.op_type == "If" else ("body",)
    try:
        bodies = [attributes[name] for name in names]
        return tuple(
            replace(cut(_standalone(body, model, types)), arguments=tuple(i.name for i in body.input))
            for body in bodies
        )
    except (ModelError, KeyError):
        return ()


def _standalone(body: onnx.GraphProto, model: onnx.ModelProto, types: Mapping[str, onnx.TypeProto]) -> onnx.ModelProto:
    """The body as a model, whose inputs are also the values that it takes from outside."""
    own = {i.name for i in body.input}
    captured = [n for n in dict.fromkeys(free_names(body)) if n not in own]
    if unknown := [n for n in captured if n not in types]:
        raise ModelError(f"nothing is known of the type of {unknown[0]!r}")
    weights = {t.name: t for t in model.graph.initializer}
    graph = onnx.helper.make_graph(
        body.node,
        body.name or "body",
        [*body.input, *(_open(n, types[n]) for n in captured if n not in weights)],
        body.output,
        [*body.initializer, *(weights[n] for n in captured if n in weights)],
    )
    return onnx.helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)


def _types(model: onnx.ModelProto) -> dict[str, onnx.TypeProto]:
    """The types of all values, as far as inference tells them."""
    try:
        inferred = shape_inference.infer_shapes(model, data_prop=True)
    except Exception as e:
        raise ModelError(f"nothing is known of the types of the model's values: {words_of(e)}") from e
    graph = inferred.graph
    known = {v.name: v.type for v in (*graph.value_info, *graph.input, *graph.output) if v.type.WhichOneof("value")}
    for t in graph.initializer:
        known[t.name] = onnx.helper.make_tensor_type_proto(t.data_type, list(t.dims))
    return known


def _phases(
    model: onnx.ModelProto, types: Mapping[str, onnx.TypeProto], bodies: Mapping[int, tuple[SegmentedGraph, ...]]
) -> list[int]:
    """Of each node the number of the phase in which it runs; modulo the kinds, its kind."""
    made: dict[str, int] = {}
    valued: set[str] = {i.name for i in model.graph.input}  # what depends on the values of inputs
    phases = list[int]()
    for number, node in enumerate(model.graph.node):
        reads = reads_of(node)
        phase = max((made.get(n, 0) for n in reads), default=0)
        kind = (
            SegmentKind.CONTROL
            if number in bodies
            else SegmentKind.HOST
            if _is_host(node, types)
            else SegmentKind.ISLAND
        )
        phase += (kind - phase) % len(SegmentKind)
        if kind is SegmentKind.ISLAND:
            computed = [made[n] for n in deciding(node) if n in made and n in valued]
            later = (p + len(SegmentKind) - p % len(SegmentKind) for p in computed)
            phase = max([phase, *later])  # what decides a shape must be known before
        phases.append(phase)
        made |= dict.fromkeys(filter(None, node.output), phase)
        if node.op_type not in NO_VALUES and not valued.isdisjoint(reads):
            valued.update(filter(None, node.output))
    return phases


def _is_host(node: onnx.NodeProto, types: Mapping[str, onnx.TypeProto]) -> bool:
    known = (types[n] for n in (*node.input, *node.output) if n in types)
    control = any(a.HasField("g") or a.graphs for a in node.attribute)
    foreign = own_domain(node.domain) not in ("", "com.microsoft", "ai.onnx.ml")
    return control or foreign or node.op_type in HOST or not all(map(_is_numeric, known))


def _is_numeric(kind: onnx.TypeProto) -> bool:
    """Whether fission computes with values of the type."""
    if kind.WhichOneof("value") != "tensor_type":
        return False
    element = kind.tensor_type.elem_type
    return not element or (element in _NUMPY and _NUMPY[element] in DTYPES)


_NUMPY = {
    kind: onnx.helper.tensor_dtype_to_np_dtype(kind).name
    for kind in onnx.helper.get_all_tensor_dtypes()
    if kind != onnx.TensorProto.STRING
}


def _segment(
    model: onnx.ModelProto,
    kind: SegmentKind,
    members: Iterable[int],
    types: Mapping[str, onnx.TypeProto],
    bodies: tuple[SegmentedGraph, ...],
) -> Segment:
    inside = set(members)
    nodes = [node for n, node in enumerate(model.graph.node) if n in inside]
    others = [node for n, node in enumerate(model.graph.node) if n not in inside]
    weights = {t.name: t for t in model.graph.initializer}
    own = {n for node in nodes for n in node.output if n}
    wanted = {n for node in others for n in reads_of(node)} | {o.name for o in model.graph.output}
    needed = dict.fromkeys(n for node in nodes for n in reads_of(node) if n not in own)
    reads = [n for n in needed if n not in weights]
    writes = [n for n in dict.fromkeys(n for node in nodes for n in node.output) if n in wanted]
    if unknown := [n for n in (*reads, *writes) if n not in types]:
        raise ModelError(f"nothing is known of the type of {unknown[0]!r}")
    graph = onnx.helper.make_graph(
        nodes,
        "segment",
        [_open(n, types[n]) for n in reads],
        [_open(n, types[n]) for n in writes],
        [weights[n] for n in needed if n in weights],
    )
    made = onnx.helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
    return Segment(kind, made, tuple(reads), tuple(writes), bodies)


def _open(name: str, kind: onnx.TypeProto) -> onnx.ValueInfoProto:
    """The value with open lengths: those that inference tells hold for other inputs."""
    made = onnx.ValueInfoProto(name=name, type=kind)
    if kind.WhichOneof("value") == "tensor_type":
        for dim in made.type.tensor_type.shape.dim:
            dim.Clear()
    return made
