"""Reads the protobuf and the external data that belongs to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import onnx
from google.protobuf.message import DecodeError, Message

from korch.errors import ModelError, UnreadableModel
from korch.fission.importer.external import fetch, is_external


def load(source: str | Path | bytes | onnx.ModelProto) -> onnx.ModelProto:
    """A model of our own, whose data may still lie in other files."""
    if isinstance(source, onnx.ModelProto):
        model = onnx.ModelProto()
        model.CopyFrom(source)
        return model
    source = source if isinstance(source, bytes) else Path(source)
    model, what = parsed(source), _named(source)
    if not model.HasField("graph") or not model.graph.output:
        raise ModelError(f"{what} is not an ONNX model: it has no graph with outputs")
    if not _has_texts(model):
        raise ModelError(f"{what} is not an ONNX model: it has a name that is no UTF-8 text")
    return model


def parsed(source: Path | bytes) -> onnx.ModelProto:
    """The protobuf of a model, whatever it holds; ModelError where it is none."""
    model = onnx.ModelProto()
    try:
        model.ParseFromString(source if isinstance(source, bytes) else source.read_bytes())
    except OSError as e:
        raise UnreadableModel(f"{source}: cannot be read: {e.strerror or e}") from e
    except DecodeError as e:
        raise ModelError(f"{_named(source)} is not an ONNX model (no valid protobuf)") from e
    return model


def _named(source: Path | bytes) -> str:
    return "the model" if isinstance(source, bytes) else str(source)


def _has_texts(message: Message) -> bool:
    """Whether all text is text: protobuf gives bytes where it is not UTF-8. Numbers of tensors, which may be gigabytes,
    are not read."""
    if isinstance(message, onnx.TensorProto):
        texts: list[Any] = [message.name, *(text for e in message.external_data for text in (e.key, e.value))]
        return all(isinstance(text, str) for text in texts)
    for field, value in message.ListFields():
        values = value if field.is_repeated else (value,)
        if field.type == field.TYPE_STRING and not all(isinstance(text, str) for text in values):
            return False
        if field.type == field.TYPE_MESSAGE and not all(map(_has_texts, values)):
            return False
    return True


def with_data(model: onnx.ModelProto, source: str | Path | bytes | onnx.ModelProto) -> onnx.ModelProto:
    """The model with all its data inside, those in files beside its `source` too."""
    tensors = [t for t in tensors_of(model.graph) if is_external(t)]
    if tensors and isinstance(source, onnx.ModelProto | bytes):
        raise ModelError(f"the model keeps {tensors[0].name!r} in another file: give the path of the model instead")
    if tensors and not isinstance(source, onnx.ModelProto | bytes):
        fetch(tensors, Path(source))
    return model


def tensors_of(graph: onnx.GraphProto | onnx.FunctionProto) -> Iterator[onnx.TensorProto]:
    """Every tensor stored in the graph, or in a function: initializers, attributes, subgraphs."""
    if isinstance(graph, onnx.GraphProto):
        yield from graph.initializer
        yield from _parts_of(graph.sparse_initializer)
    for node in graph.node:
        for a in node.attribute:
            if a.HasField("t"):
                yield a.t
            yield from a.tensors
            yield from _parts_of([a.sparse_tensor] if a.HasField("sparse_tensor") else a.sparse_tensors)
    for inner in subgraphs_of(graph):
        yield from tensors_of(inner)


def _parts_of(sparse: Iterable[onnx.SparseTensorProto]) -> Iterator[onnx.TensorProto]:
    for s in sparse:
        yield from (s.values, s.indices)


def subgraphs_of(graph: onnx.GraphProto | onnx.FunctionProto) -> Iterator[onnx.GraphProto]:
    """The bodies of control flow, one level down."""
    for node in graph.node:
        for a in node.attribute:
            if a.HasField("g"):
                yield a.g
            yield from a.graphs
