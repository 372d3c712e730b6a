"""Inputs whose values decide what a model computes, not only with what: conditions, lengths, axes, shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from korch.errors import ModelError
from korch.fission.importer.load import subgraphs_of

DECIDING = {
    "If": (0,),
    "Loop": (0, 1),
    "Reshape": (1,),
    "Expand": (1,),
    "Tile": (1,),
    "Slice": (1, 2, 3, 4),
    "Pad": (1, 3),
    "Resize": (1, 2, 3),
    "Upsample": (1,),
    "TopK": (1,),
    "ConstantOfShape": (0,),
    "Range": (0, 1, 2),
    "OneHot": (1,),
    "Squeeze": (1,),
    "Unsqueeze": (1,),
    "Split": (1,),
    "SplitToSequence": (1,),
    "CumSum": (1,),
    "Trilu": (1,),
    "Dropout": (1, 2),
    "DFT": (1, 2),
    "STFT": (1, 3),
    "MelWeightMatrix": (0, 1, 2, 3, 4),
    "Col2Im": (1, 2),
    "CenterCropPad": (1,),
    "AffineGrid": (1,),
    "MaxUnpool": (2,),
    "HannWindow": (0,),
    "HammingWindow": (0,),
    "BlackmanWindow": (0,),
    "SequenceAt": (1,),
}
"""Operands, by number, that fission needs as constants; of all operators Reduce* their second one."""
NO_VALUES = frozenset({"Shape", "Size"})
"""Operators whose results depend on shapes only."""


def structural_inputs(model: onnx.ModelProto) -> tuple[str, ...]:
    """The inputs of whole numbers and booleans on whose values the operands in `DECIDING` depend, and those of any
    numbers that are such operands."""
    kinds = {i.name: i.type.tensor_type.elem_type for i in model.graph.input if i.type.HasField("tensor_type")}
    makers = {name: node for node in _nodes(model.graph) for name in node.output}
    waiting = [n for node in _nodes(model.graph) for n in deciding(node)]
    direct = set(waiting)
    seen = set[str]()
    while waiting:
        name = waiting.pop()
        if not name or name in seen:
            continue
        seen.add(name)
        node = makers.get(name)
        if node is not None and node.op_type not in NO_VALUES:
            waiting += [*node.input, *(o.name for g in _bodies(node) for o in g.output)]
    weights = {t.name for t in model.graph.initializer}
    found = (i.name for i in model.graph.input if i.name in seen and i.name not in weights)
    return tuple(n for n in found if _kind(kinds.get(n, 0)) in ("iubf" if n in direct else "iub"))


def fix_values(model: onnx.ModelProto, values: Mapping[str, Any]) -> None:
    """Makes constants of the inputs that have `values`, numbers or nested lists of them; ModelError where one does not
    fit its input."""
    inputs = {i.name: i for i in model.graph.input}
    for name, value in values.items():
        if name not in inputs:
            raise ModelError(f"a value is given for {name!r}, but the inputs are {', '.join(map(repr, inputs))}")
        array = _fitting(inputs[name], value)
        model.graph.initializer.append(numpy_helper.from_array(array, name))
        model.graph.input.remove(inputs[name])


def _fitting(info: onnx.ValueInfoProto, value: Any) -> np.ndarray:
    kind = info.type.tensor_type
    try:
        array = np.asarray(value, helper.tensor_dtype_to_np_dtype(kind.elem_type))
    except (KeyError, ValueError, TypeError, OverflowError):
        raise ModelError(f"the value {value!r} does not fit the input {info.name!r}") from None
    lengths = [d.dim_value if d.HasField("dim_value") else -1 for d in kind.shape.dim]
    if kind.HasField("shape") and (
        len(lengths) != array.ndim or any(n not in (-1, m) for n, m in zip(lengths, array.shape))
    ):
        raise ModelError(f"the value of input {info.name!r} has shape {list(array.shape)}, the model says {lengths}")
    return array


def deciding(node: onnx.NodeProto) -> Sequence[str]:
    """The operands of a node whose values decide what it computes."""
    numbers = (1,) if node.op_type.startswith("Reduce") else DECIDING.get(node.op_type, ())
    return [node.input[i] for i in numbers if i < len(node.input)]


def _nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    """All nodes, those of bodies included."""
    yield from graph.node
    for inner in subgraphs_of(graph):
        yield from _nodes(inner)


def _bodies(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    return [g for a in node.attribute for g in ([a.g] if a.HasField("g") else []) + list(a.graphs)]


def _kind(element: int) -> str:
    """numpy's letter for the kind of an element type; `O` for what is no number."""
    try:
        return np.dtype(helper.tensor_dtype_to_np_dtype(element)).kind
    except (KeyError, TypeError):
        return "O"
