"""Reads the protobuf and the external data that belongs to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError

from korch.errors import ModelError


def load(source: str | Path | bytes | onnx.ModelProto) -> onnx.ModelProto:
    """A model of our own, whose data may still lie in other files."""
    if isinstance(source, onnx.ModelProto):
        model = onnx.ModelProto()
        model.CopyFrom(source)
        return model
    if isinstance(source, bytes):
        return _parse(source, "the model")
    path = Path(source)
    try:
        return _parse(path.read_bytes(), str(path))
    except OSError as e:
        raise ModelError(f"{path}: cannot be read: {e.strerror or e}") from e


def _parse(data: bytes, what: str) -> onnx.ModelProto:
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError as e:
        raise ModelError(f"{what} is not an ONNX model (no valid protobuf)") from e
    if not model.HasField("graph") or not model.graph.output:
        raise ModelError(f"{what} is not an ONNX model: it has no graph with outputs")
    return model


def with_data(model: onnx.ModelProto, source: str | Path | bytes | onnx.ModelProto) -> onnx.ModelProto:
    """The model with all its data inside, those in files beside its `source` too."""
    for t in tensors_of(model.graph):
        if t.data_location == onnx.TensorProto.EXTERNAL:
            if isinstance(source, onnx.ModelProto | bytes):
                raise ModelError(f"the model keeps {t.name!r} in another file: give the path of the model instead")
            _fetch(t, Path(source))
    return model


def _fetch(t: onnx.TensorProto, model: Path) -> None:
    """Moves a tensor's external data into it."""
    entry = {e.key: e.value for e in t.external_data}
    path = _inside(model, entry.get("location", ""), t.name)
    try:
        offset, size = int(entry.get("offset", 0)), path.stat().st_size
        length = int(entry.get("length", size - offset))
    except ValueError as e:
        raise ModelError(f"the external data of {t.name!r} has a malformed offset or length") from e
    if offset < 0 or length < 0 or offset + length > size:
        raise ModelError(f"the external data of {t.name!r} ends at byte {offset + length} of {path}, which has {size}")
    try:
        with path.open("rb") as f:
            f.seek(offset)
            t.raw_data = f.read(length)
    except OSError as e:
        raise ModelError(f"the external data of {t.name!r} cannot be read: {path}: {e.strerror or e}") from e
    del t.external_data[:]
    t.data_location = onnx.TensorProto.DEFAULT


def _inside(model: Path, location: str, name: str) -> Path:
    """The file `location` beside the model, which must lie in the model's folder, links followed; or, as in caches that
    keep files under other names and link to them, in the folder that the model itself lies in."""
    base = model.parent.resolve()
    try:
        path = (base / location).resolve()
        found = path.is_file()
        bases = (base, model.resolve().parent)
    except (OSError, ValueError) as e:  # a name that no file can have
        raise ModelError(f"the external data of {name!r} has no usable file name: {location[:40]!r}") from e
    if not location or Path(location).is_absolute() or not any(map(path.is_relative_to, bases)):
        raise ModelError(f"the external data of {name!r} lies outside of the model's folder: {location!r}")
    if not found:
        raise ModelError(f"the external data of {name!r} is missing: {path}")
    return path


def tensors_of(graph: onnx.GraphProto | onnx.FunctionProto) -> Iterator[onnx.TensorProto]:
    """Every tensor stored in the graph, or in a function: initializers, attributes, subgraphs."""
    if isinstance(graph, onnx.GraphProto):
        yield from graph.initializer
        for s in graph.sparse_initializer:
            yield from (s.values, s.indices)
    for node in graph.node:
        for a in node.attribute:
            if a.HasField("t"):
                yield a.t
            yield from a.tensors
    for inner in subgraphs_of(graph):
        yield from tensors_of(inner)


def subgraphs_of(graph: onnx.GraphProto | onnx.FunctionProto) -> Iterator[onnx.GraphProto]:
    """The bodies of control flow, one level down."""
    for node in graph.node:
        for a in node.attribute:
            if a.HasField("g"):
                yield a.g
            yield from a.graphs
