"""A model cut into segments: islands, which have static shapes once their inputs have, and host segments between them.

Host segments hold control flow, nodes whose results have shapes that depend on data, and nodes of values that are no
numbers; onnxruntime runs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import onnx
from onnx import shape_inference

from korch.errors import ModelError, words_of
from korch.fission.engine import DTYPES, RANDOM
from korch.fission.importer.structural import NO_VALUES, deciding
from korch.fission.importer.structure import reads_of
from korch.ir.opsets import own_domain

HOST = RANDOM - {"Dropout"} | {"NonZero", "NonMaxSuppression", "Unique", "Compress", "StringNormalizer",
                               "TfIdfVectorizer"}  # fmt: skip
"""Operators of host segments, besides control flow, custom operators, and all that takes or gives other values than
numbers."""


@dataclass(frozen=True)
class Segment:
    """A part of the model that is a model of its own: it `reads` values by name and `writes` others."""

    host: bool
    model: onnx.ModelProto
    reads: tuple[str, ...]
    writes: tuple[str, ...]

    @property
    def operators(self) -> list[str]:
        return [n.op_type for n in self.model.graph.node]


def segments_of(model: onnx.ModelProto) -> list[Segment]:
    """The segments in the order in which they run; ModelError where the type of a value between two is unknown, or
    an output is a constant, which no segment would write."""
    if constant := {t.name for t in model.graph.initializer} & {o.name for o in model.graph.output}:
        raise ModelError(f"output {min(constant)!r} is a constant")
    types = _types(model)
    phases = _phases(model, types)
    result = list[Segment]()
    for phase in sorted(set(phases)):
        nodes = [n for n, p in zip(model.graph.node, phases, strict=True) if p == phase]
        later = [n for n, p in zip(model.graph.node, phases, strict=True) if p > phase]
        result.append(_segment(model, bool(phase % 2), nodes, later, types))
    return result


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


def _phases(model: onnx.ModelProto, types: Mapping[str, onnx.TypeProto]) -> list[int]:
    """Of each node the number of the segment that computes it: even for islands, odd for host segments."""
    made: dict[str, int] = {}
    valued: set[str] = {i.name for i in model.graph.input}  # what depends on the values of inputs
    phases = list[int]()
    for node in model.graph.node:
        reads = reads_of(node)
        phase = max((made.get(n, 0) for n in reads), default=0)
        host = _is_host(node, types)
        phase += phase % 2 != host
        if not host:
            computed = [made[n] for n in deciding(node) if n in made and n in valued]
            phase = max([phase, *(p + 2 - p % 2 for p in computed)])  # what decides a shape must be known before
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


_NUMPY = {kind: onnx.helper.tensor_dtype_to_np_dtype(kind).name for kind in onnx.helper.get_all_tensor_dtypes()
          if kind != onnx.TensorProto.STRING}  # fmt: skip


def _segment(model: onnx.ModelProto, host: bool, nodes: Sequence[onnx.NodeProto], later: Iterable[onnx.NodeProto],
             types: Mapping[str, onnx.TypeProto]) -> Segment:  # fmt: skip
    weights = {t.name: t for t in model.graph.initializer}
    own = {n for node in nodes for n in node.output if n}
    wanted = {n for node in later for n in reads_of(node)} | {o.name for o in model.graph.output}
    needed = dict.fromkeys(n for node in nodes for n in reads_of(node) if n not in own)
    reads = [n for n in needed if n not in weights]
    writes = [n for n in dict.fromkeys(n for node in nodes for n in node.output) if n in wanted]
    if unknown := [n for n in (*reads, *writes) if n not in types]:
        raise ModelError(f"nothing is known of the type of {unknown[0]!r}")
    graph = onnx.helper.make_graph(
        nodes, "segment", [_open(n, types[n]) for n in reads], [_open(n, types[n]) for n in writes],
        [weights[n] for n in needed if n in weights],
    )  # fmt: skip
    made = onnx.helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
    return Segment(host, made, tuple(reads), tuple(writes))


def _open(name: str, kind: onnx.TypeProto) -> onnx.ValueInfoProto:
    """The value with open lengths: those that inference tells hold for other inputs."""
    made = onnx.ValueInfoProto(name=name, type=kind)
    if kind.WhichOneof("value") == "tensor_type":
        for dim in made.type.tensor_type.shape.dim:
            dim.Clear()
    return made
