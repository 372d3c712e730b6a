"""A model with wider floats in the place of narrow ones.

`single`: float16 and bfloat16 become float32, in which processors compute. Nothing is rounded between nodes
then, and no value leaves float16's range on the way. Weights keep their values, and large ones of float16 their type:
they are cast where they are read. Inputs and outputs stay float16; those of bfloat16, which numpy does not have, are
float32.

`double`: all become float64, for what weights and literals mean before any rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, defs, helper, numpy_helper

from korch.fission.importer.load import subgraphs_of, tensors_of
from korch.ir.opsets import opsets_of, own_domain

LARGE = 1 << 13
"""Elements of weights that stay float16."""
HALVES = (TensorProto.FLOAT16, TensorProto.BFLOAT16)
DTYPE_ATTRIBUTES = {"Cast": "to", "EyeLike": "dtype", "DequantizeLinear": "output_dtype", "SequenceEmpty": "dtype"}
SINGLE = "tensor(float)"
FLOAT_CONSTANTS = ("value_float", "value_floats")


@dataclass(frozen=True)
class _Widening:
    """Tensor types, and the one that takes their place."""

    narrow: tuple[int, ...]
    wide: int

    @property
    def dtype(self) -> np.dtype[np.floating]:
        return np.dtype(helper.tensor_dtype_to_np_dtype(self.wide))


TO_SINGLE = _Widening(HALVES, TensorProto.FLOAT)
TO_DOUBLE = _Widening((*HALVES, TensorProto.FLOAT), TensorProto.DOUBLE)


def double(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy of `model` that computes with float64; the names stay. Not every operator has such a form."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for info in (*copy.graph.input, *copy.graph.output):
        _widen_type(info, TO_DOUBLE)
    _widen(copy, TO_DOUBLE)
    return copy


def single(model: onnx.ModelProto) -> None:
    """Makes `model`, whose nodes are in order, compute with float32 where it does with float16 or bfloat16."""
    if not _has(model.graph, TO_SINGLE):
        return
    g = model.graph
    weights = {t.name for t in g.initializer}
    given = [i.name for i in g.input if _is_half(i) and i.name not in weights]
    made = [o.name for o in g.output if _is_half(o) and o.name not in given]
    kept = _taken_out(g)
    inner = {name: f"{name}_single__" for name in (*given, *made, *(t.name for t in kept))}
    _rename(g, inner)
    for info in (*g.input, *g.output):
        if info.name not in inner:
            _widen_type(info, TO_SINGLE)
    _widen(model, TO_SINGLE)
    g.initializer.extend(kept)
    read = (*given, *(t.name for t in kept))
    before = [helper.make_node("Cast", [name], [inner[name]], to=TensorProto.FLOAT) for name in read]
    after = [helper.make_node("Cast", [inner[name]], [name], to=TensorProto.FLOAT16) for name in made]
    nodes = [*before, *g.node, *after]
    del g.node[:]
    g.node.extend(nodes)


def _taken_out(graph: onnx.GraphProto) -> list[onnx.TensorProto]:
    """The large weights of float16, which the graph has no longer."""
    outputs = {o.name for o in graph.output}
    taken, left = list[onnx.TensorProto](), list[onnx.TensorProto]()
    for t in graph.initializer:
        large = t.data_type == TensorProto.FLOAT16 and prod(t.dims) >= LARGE and t.name not in outputs
        (taken if large else left).append(t)
    if taken:
        del graph.initializer[:]
        graph.initializer.extend(left)
    return taken


def _is_half(info: onnx.ValueInfoProto) -> bool:
    return info.type.tensor_type.elem_type == TensorProto.FLOAT16


def _has(graph: onnx.GraphProto, widening: _Widening) -> bool:
    """Whether the graph says anywhere that something is narrow."""
    infos = (*graph.input, *graph.output, *graph.value_info)
    return (
        any(i.type.tensor_type.elem_type in widening.narrow for i in infos)
        or any(t.data_type in widening.narrow for t in tensors_of(graph))
        or any(_says(a, node, widening) for node in graph.node for a in node.attribute)
        or any(_has(inner, widening) for inner in subgraphs_of(graph))
    )


def _says(a: AttributeProto, node: onnx.NodeProto, widening: _Widening) -> bool:
    return a.name == DTYPE_ATTRIBUTES.get(node.op_type) and a.i in widening.narrow


def _rename(graph: onnx.GraphProto, names: Mapping[str, str]) -> None:
    """Renames values in nodes and initializers, where an inner graph has no value of its own by that name."""
    for node in graph.node:
        for some in (node.input, node.output):
            some[:] = [names.get(name, name) for name in some]
    for t in graph.initializer:
        t.name = names.get(t.name, t.name)
    for inner in subgraphs_of(graph):
        own = {*(i.name for i in (*inner.input, *inner.initializer)), *(o for node in inner.node for o in node.output)}
        left = {name: new for name, new in names.items() if name not in own}
        _rename(inner, left)
        for info in inner.output:
            info.name = left.get(info.name, info.name)


def _widen(model: onnx.ModelProto, widening: _Widening) -> None:
    for t in list(tensors_of(model.graph)):
        if t.data_type in widening.narrow:
            t.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(t).astype(widening.dtype), t.name))
    _widen_graph(model.graph, widening, opsets_of(model))


def _widen_graph(graph: onnx.GraphProto, widening: _Widening, opsets: Mapping[str, int]) -> None:
    del graph.value_info[:]
    for node in graph.node:
        _widen_node(node, widening)
    for inner in subgraphs_of(graph):
        for info in (*inner.input, *inner.output):
            _widen_type(info, widening)
        _widen_graph(inner, widening, opsets)
    if widening is TO_DOUBLE:
        nodes = [n for node in graph.node for n in (*_casts(node, opsets), node)]
        del graph.node[:]
        graph.node.extend(nodes)


def _widen_type(info: onnx.ValueInfoProto, widening: _Widening) -> None:
    if info.type.tensor_type.elem_type in widening.narrow:
        info.type.tensor_type.elem_type = widening.wide


def _casts(node: onnx.NodeProto, opsets: Mapping[str, int]) -> Iterable[onnx.NodeProto]:
    """Casts before the inputs that take float32 only, such as the scales of Resize; `node` reads these instead."""
    try:
        domain = own_domain(node.domain)
        formal = defs.get_schema(node.op_type, opsets.get(domain, 1), domain).inputs
    except defs.SchemaError:
        return
    for i, name in enumerate(node.input):
        if name and formal[min(i, len(formal) - 1)].type_str == SINGLE:
            node.input[i] = f"{node.output[0]}_single{i}__"
            yield helper.make_node("Cast", [name], [node.input[i]], to=TensorProto.FLOAT)


def _widen_node(node: onnx.NodeProto, widening: _Widening) -> None:
    """Widens attributes that name a narrow float, and constants in attributes."""
    for a in node.attribute:
        if _says(a, node, widening):
            a.i = widening.wide
        elif node.op_type == "Constant" and a.name in FLOAT_CONSTANTS and TensorProto.FLOAT in widening.narrow:
            _make_tensor(a, widening)
    if node.op_type == "ConstantOfShape" and not node.attribute and TensorProto.FLOAT in widening.narrow:
        node.attribute.append(helper.make_attribute("value", numpy_helper.from_array(np.zeros(1, widening.dtype))))


def _make_tensor(a: AttributeProto, widening: _Widening) -> None:
    values = np.asarray(a.f if a.name == "value_float" else list(a.floats), widening.dtype)
    a.CopyFrom(helper.make_attribute("value", numpy_helper.from_array(values)))
