"""Static shapes for the model's inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx

from korch.errors import ModelError, NeedsSegments

NAMELESS = ("", "?", "-1", "None", "unk", "unknown")
"""Names that exporters write for a length that has none: two of them need not be equal."""


def fix_shapes(model: onnx.ModelProto, shapes: Mapping[str, Sequence[int]]) -> None:
    """Gives inputs the shapes asked for; a dimension that has a name gets its length wherever it occurs.

    Initializers that are listed as inputs are constants, not inputs. Shapes of inner tensors are dropped: the
    builder knows better.
    """
    graph = model.graph
    weights = {t.name for t in graph.initializer}
    inputs = {i.name: i for i in graph.input if i.name not in weights}
    for name in shapes:
        if name not in inputs:
            raise ModelError(f"a shape is given for {name!r}, but the inputs are {', '.join(map(repr, inputs))}")
    lengths: dict[str, int] = {}
    for name, shape in shapes.items():
        _bind(inputs[name], tuple(shape), lengths)
    for i in inputs.values():
        _settle(i, lengths)
    del graph.value_info[:]
    rest = [i for i in graph.input if i.name in inputs]
    del graph.input[:]
    graph.input.extend(rest)


def _bind(info: onnx.ValueInfoProto, shape: tuple[int, ...], lengths: dict[str, int]) -> None:
    """Writes `shape` into the input and notes the lengths of named dimensions."""
    kind = info.type.tensor_type
    if kind.HasField("shape") and len(kind.shape.dim) != len(shape):
        raise ModelError(f"input {info.name!r} has {len(kind.shape.dim)} dimensions, not {len(shape)}")
    if any(n < 0 for n in shape):
        raise ModelError(f"the shape {shape} given for input {info.name!r} has a negative length")
    for dim, n in zip(kind.shape.dim, shape, strict=False):
        if dim.dim_param not in NAMELESS and lengths.setdefault(dim.dim_param, n) != n:
            raise ModelError(f"dimension {dim.dim_param!r} is given the lengths {lengths[dim.dim_param]} and {n}")
    del kind.shape.dim[:]
    for n in shape:
        kind.shape.dim.add().dim_value = n


def _settle(info: onnx.ValueInfoProto, lengths: Mapping[str, int]) -> None:
    """Refuses what is no tensor of static shape."""
    if not info.type.HasField("tensor_type"):
        raise NeedsSegments(f"input {info.name!r} is no tensor but a {info.type.WhichOneof('value')}")
    kind = info.type.tensor_type
    for dim in kind.shape.dim:
        if dim.dim_param in lengths:
            dim.dim_value = lengths[dim.dim_param]
    if not kind.HasField("shape") or any(map(_is_free, kind.shape.dim)):
        raise ModelError(
            f"input {info.name!r} has the dynamic shape [{_dims(kind, '?')}]: give it one, as in "
            f"--shape {info.name}={_dims(kind, '1', named=False) or '1,3,224,224'}, in Python "
            f"shapes={{{info.name!r}: ...}}"
        )


def _dims(kind: onnx.TypeProto.Tensor, unknown: str, named: bool = True) -> str:
    """The shape as text: lengths, else names if `named`, else `unknown`."""
    texts = ((named and d.dim_param) or unknown if _is_free(d) else str(d.dim_value) for d in kind.shape.dim)
    return ",".join(texts)


def _is_free(d: onnx.TensorShapeProto.Dimension) -> bool:
    """Whether the length is open; some exporters write -1 for that."""
    return not d.HasField("dim_value") or d.dim_value < 0
