"""Walks a prepared model and takes every node apart; what has no rule becomes opaque primitives."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from korch import limits
from korch.errors import ModelError, NeedsSegments
from korch.fission.blocks import four_bits
from korch.fission.control import CONTROL, unrolled
from korch.fission.fold import fold
from korch.fission.opaque import Node, constant_outputs, opaque_outputs
from korch.fission.rule import FissionRule, Opaque, RuleResult, attributes
from korch.fission.signature import check_fit, empty_outputs
from korch.fission.table import rule_for
from korch.ir.builder import Builder, Value
from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.ir.opsets import opsets_of, own_domain

log = logging.getLogger(__name__)

DTYPES = frozenset(
    {"float16", "float32", "float64", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
)
RANDOM = frozenset(
    {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial", "Dropout"}
)


def fission(model: onnx.ModelProto) -> Graph:
    """The primitive graph of a model that `importer.read` has prepared.

    Constant arithmetic is folded, so the shape arithmetic of raw exports leaves nothing behind. ModelError
    where a node is malformed, has a data-dependent shape, or computes what has no number (strings, sequences).
    """
    walk = _Walk(model)
    for node in model.graph.node:
        walk.node(node)
    return fold(walk.graph())


@dataclass
class _Walk:
    """The values of the model's names so far."""

    model: onnx.ModelProto
    builder: Builder = field(init=False)
    allowance: limits.Allowance = field(default_factory=limits.Allowance)
    values: dict[str, Value] = field(default_factory=dict[str, Value])
    opsets: dict[str, int] = field(init=False)
    walked: int = 0
    _given: set[str] = field(default_factory=set[str])
    _codes: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        g = self.model.graph
        self.builder = Builder(g.name or "model", allowance=self.allowance)
        self.builder.reserve(o.name for o in g.output)
        self.opsets = opsets_of(self.model)
        weights = {t.name for t in g.initializer}
        self._codes = _only_dequantized(g)
        for i in g.input:
            if i.name not in weights:
                self.values[i.name] = self._settled(self._input(i))
        for t in g.initializer:
            self.values[t.name] = self._constant(numpy_helper.to_array(t), t.name)

    def _input(self, info: onnx.ValueInfoProto) -> Value:
        kind = info.type.tensor_type
        dims = kind.shape.dim
        if not info.type.HasField("tensor_type") or any(not d.HasField("dim_value") for d in dims):
            raise ModelError(f"input {info.name!r} has no static shape: give it one (--shape {info.name}=...)")
        dtype = _dtype(kind.elem_type, f"input {info.name!r}")
        _check_dtype(dtype, f"input {info.name!r}")
        value = self.builder.input(info.name, dtype, tuple(d.dim_value for d in dims))
        limits.check_tensor(value.tensor.nbytes, f"input {info.name!r}")
        return value

    def _constant(self, array: Array, name: str) -> Value:
        """A constant that the model holds; those of a body once, however often it runs."""
        if name not in self._given:
            self._given.add(name)
            self.allowance.given += array.nbytes
        return self._known(array, name)

    def _known(self, array: Array, name: str) -> Value:
        if array.dtype.name in ("int4", "uint4") and name in self._codes:
            return four_bits(self.builder, array)
        _check_dtype(array.dtype.name, f"constant {name!r}")
        return self.builder.constant(array, name=name)

    def node(self, proto: onnx.NodeProto) -> None:
        """Defines the outputs of one node."""
        self.walked += 1
        if proto.op_type in CONTROL and not own_domain(proto.domain):
            results = unrolled(self, proto)
        else:
            node = self.read(proto)
            self.builder.origin = node.title
            results = self._results(node, check_fit(node))
        for name, value in zip(proto.output, results, strict=False):
            if name and value is not None:
                self.values[name] = self._settled(value)

    def read(self, proto: onnx.NodeProto) -> Node:
        """The node with the values that it reads."""
        try:
            inputs = tuple(self.values[n] if n else None for n in proto.input)
        except KeyError as e:
            title = Node(proto, (), 1).title
            raise ModelError(f"{title} reads {e.args[0]!r}, which nothing computes") from e
        return Node(proto, inputs, self.opsets.get(own_domain(proto.domain), 1))

    def run(self, body: onnx.GraphProto, given: Mapping[str, Value]) -> list[Value]:
        """The outputs of the body of a node; names inside of it end with it."""
        outside = dict(self.values)
        self.values |= given
        for t in body.initializer:
            self.values[t.name] = self._constant(numpy_helper.to_array(t), t.name)
        for inner in body.node:
            self.node(inner)
        results = [self._output(o.name) for o in body.output]
        self.values = outside
        return results

    def _results(self, node: Node, nbytes: int) -> tuple[Value | None, ...]:
        if (nothing := empty_outputs(node)) is not None:
            return tuple(self.builder.constant(x) for x in nothing)
        answer = self._ruled(node)
        if not isinstance(answer, Opaque):
            for v in filter(None, answer):
                _check_dtype(v.dtype, f"the result of {node.title}")
            return answer
        if node.proto.op_type in RANDOM:
            raise NeedsSegments(f"{node.title} draws random numbers; make them an input of the model")
        if all(v is None or v.tensor.const for v in node.inputs):
            return self._computed(node, nbytes)
        log.info("%s stays opaque: %s", node.title, answer.reason)
        return opaque_outputs(self.builder, node)

    def _computed(self, node: Node, nbytes: int) -> tuple[Value | None, ...]:
        """The outputs of a node whose inputs are constants. `nbytes`: inferred bytes of its outputs."""
        self.allowance.compute(nbytes, node.title)
        arrays = constant_outputs(node)
        self.allowance.compute(max(sum(a.nbytes for a in arrays if a is not None) - nbytes, 0), node.title)
        named = zip(arrays, node.proto.output, strict=False)
        return tuple(None if a is None else self._known(a, name) for a, name in named)

    def _ruled(self, node: Node) -> tuple[Value | None, ...] | Opaque:
        proto = node.proto
        rule = rule_for(proto.op_type, proto.domain, node.opset)
        if rule is None:
            return Opaque("there is no rule for it")
        try:
            answer = _apply(rule, self.builder, node)
        except limits.TooManyPositions as e:
            return Opaque(str(e))
        except MemoryError as e:
            raise ModelError(f"{node.title} needs more memory than there is: give it smaller shapes") from e
        except (ValueError, LookupError, ArithmeticError, AssertionError, TypeError, AttributeError) as e:
            raise ModelError(f"{node.title} cannot be taken apart: {e}") from e
        used = max((i + 1 for i, n in enumerate(proto.output) if n), default=0)
        results = (answer,) if isinstance(answer, Value) else answer
        if isinstance(results, tuple) and len(results) < used:
            return Opaque(f"its rule gives {len(results)} of {used} outputs")
        return results

    def _settled(self, v: Value) -> Value:
        """A value without elements is known: it needs no computation."""
        if v.tensor.size or v.tensor.const:
            return v
        return self.builder.constant(np.zeros(v.shape, v.dtype))

    def graph(self) -> Graph:
        """What the model's outputs need."""
        return self.builder.graph([(o.name, self._declared(o)) for o in self.model.graph.output])

    def _declared(self, info: onnx.ValueInfoProto) -> Value:
        """An output, of the dtype that the model says it has, if it says so."""
        value, kind, what = self._output(info.name), info.type.tensor_type.elem_type, f"output {info.name!r}"
        if kind and _dtype(kind, what) != value.dtype:
            raise ModelError(f"{what} is declared as {_dtype(kind, what)} but computed as {value.dtype}")
        return value

    def _output(self, name: str) -> Value:
        if name not in self.values:
            raise ModelError(f"output {name!r} is computed by no node")
        return self.values[name]


def _only_dequantized(g: onnx.GraphProto) -> frozenset[str]:
    """The tensors that nothing but DequantizeLinear reads: integers of four bits may stand there as such of eight."""
    read, other = set[str](), {o.name for o in g.output}
    for node in g.node:
        (read if node.op_type == "DequantizeLinear" else other).update(node.input)
    return frozenset(read - other)


def _apply(rule: FissionRule, b: Builder, node: Node) -> RuleResult:
    attrs = attributes({a.name: _attribute(a) for a in node.proto.attribute if not a.ref_attr_name})
    known = {"outputs": len(node.proto.output), "op": node.proto.op_type, "opset": node.opset}
    attrs |= {k: v for k, v in known.items() if rule.accepts(k)}
    if unknown := [name for name in attrs if not rule.accepts(name)]:
        return Opaque(f"its rule does not know the attribute {unknown[0]!r}")
    try:
        inspect.signature(rule.fn).bind(b, *node.inputs, **attrs)
    except TypeError as e:
        return Opaque(str(e))
    return rule.fn(b, *node.inputs, **attrs)


def _attribute(a: onnx.AttributeProto) -> Any:
    value = helper.get_attribute_value(a)
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _dtype(kind: int, what: str) -> str:
    """The name of an ONNX element type."""
    try:
        return helper.tensor_dtype_to_np_dtype(kind).name
    except KeyError:
        raise ModelError(f"{what} has the unknown element type {kind}") from None


def _check_dtype(dtype: str, what: str) -> None:
    if dtype not in DTYPES:  # strings are "object"
        raise NeedsSegments(f"{what} has dtype {dtype}, which Korch does not compute with")
