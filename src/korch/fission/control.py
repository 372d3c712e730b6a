"""Control flow whose course is known: the branch that a constant condition takes, and loops written out.

Values of inner names end with their body. NeedsSegments where the course depends on data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import onnx
from onnx import helper

from korch.errors import ModelError, NeedsSegments
from korch.fission.opaque import Node
from korch.ir.builder import Builder, Value

CONTROL = frozenset({"If", "Loop", "Scan"})
MAX_UNROLLED = 512
"""Nodes of all iterations of a loop together. Enumerating and solving grow faster than the number of primitives; a
longer loop stays a loop, whose body is a program."""


class Walk(Protocol):
    """The walk through the model's nodes (see `engine.py`)."""

    @property
    def builder(self) -> Builder: ...

    @property
    def walked(self) -> int:
        """How many nodes were walked so far, those of each iteration counted."""
        ...

    def read(self, proto: onnx.NodeProto) -> Node:
        """The node with the values that it reads."""
        ...

    def run(self, body: onnx.GraphProto, given: Mapping[str, Value]) -> list[Value]:
        """The outputs of `body` with the values of its inputs."""
        ...


def unrolled(walk: Walk, proto: onnx.NodeProto) -> Sequence[Value | None]:
    """The outputs of a node of control flow."""
    node = walk.read(proto)
    return _OF[proto.op_type](walk, node)


def _branch(walk: Walk, node: Node) -> list[Value]:
    condition = _number(node.inputs[0]) if node.inputs else None
    if condition is None:
        raise NeedsSegments(
            f"{node.title} branches on data, which cannot be compiled: make the condition a constant, "
            "or compute both and use Where"
        )
    return walk.run(_body(node, "then_branch" if condition else "else_branch"), {})


def _loop(walk: Walk, node: Node) -> list[Value | None]:
    """`for i < trips and condition`: the condition is that of the iteration before, and at first the input's."""
    trips, first, *state = [*node.inputs, None, None][: max(2, len(node.inputs))]
    limit, going = _number(trips), _number(first, 1)
    if (trips is not None and limit is None) or going is None:
        raise NeedsSegments(f"{node.title} runs as often as data say, which cannot be compiled")
    body, b = _body(node, "body"), walk.builder
    names = [i.name for i in body.input]
    rows: list[list[Value]] = [[] for _ in body.output[1 + len(state) :]]
    count, before = 0, walk.walked
    while going and (limit is None or count < limit):
        _check_length(node, body, count + 1)
        _check_walked(node, walk.walked - before)
        values = [b.constant(np.array(count, np.int64)), b.constant(np.array(True)), *state]
        condition, *results = walk.run(body, dict(zip(names, _present(node, values), strict=True)))
        going = _number(condition)
        if going is None:
            raise NeedsSegments(f"{node.title} ends when data say so, which cannot be compiled")
        state = list[Value | None](results[: len(state)])
        for row, x in zip(rows, results[len(state) :], strict=True):
            row.append(x)
        count += 1
    return [*state, *(_stacked(node, b, row, 0) for row in rows)]


def _scan(walk: Walk, node: Node) -> list[Value | None]:
    """An iteration for each slice of the inputs that are scanned."""
    attributes = {a.name: helper.get_attribute_value(a) for a in node.proto.attribute}
    body, b, scanned = _body(node, "body"), walk.builder, int(attributes["num_scan_inputs"])
    if node.opset < 9:
        raise NeedsSegments(f"{node.title} scans sequences of different lengths")
    inputs = _present(node, node.inputs)
    state, streams = inputs[:-scanned], inputs[-scanned:]
    outputs = len(body.output) - len(state)

    def option(name: str, many: int) -> list[int]:
        return list(attributes.get(name, [0] * many))

    axes = [a % x.rank for a, x in zip(option("scan_input_axes", scanned), streams, strict=True)]
    backwards = option("scan_input_directions", scanned)
    trips = streams[0].shape[axes[0]]
    _check_length(node, body, trips)
    names = [i.name for i in body.input]
    rows: list[list[Value]] = [[] for _ in range(outputs)]
    before = walk.walked
    for i in range(trips):
        _check_walked(node, walk.walked - before)
        slices = [
            _slice(b, x, a, trips - 1 - i if back else i) for x, a, back in zip(streams, axes, backwards, strict=True)
        ]
        results = walk.run(body, dict(zip(names, [*state, *slices], strict=True)))
        state = results[: len(state)]
        for row, x in zip(rows, results[len(state) :], strict=True):
            row.append(x)
    axes, backwards = option("scan_output_axes", outputs), option("scan_output_directions", outputs)
    return [
        *state,
        *(
            _stacked(node, b, row[::-1] if back else row, axis)
            for row, axis, back in zip(rows, axes, backwards, strict=True)
        ),
    ]


def _body(node: Node, name: str) -> onnx.GraphProto:
    body = next((a.g for a in node.proto.attribute if a.name == name), None)
    if body is None:
        raise ModelError(f"{node.title} has no {name}")
    return body


def _number(v: Value | None, missing: Any = None) -> Any:
    """The number that a constant of one element holds; None where it is none, `missing` where there is no value."""
    if v is None:
        return missing
    array = v.array
    return None if array is None or array.size != 1 else array.reshape(-1)[0]


def _present(node: Node, values: Sequence[Value | None]) -> list[Value]:
    if any(v is None for v in values):
        raise ModelError(f"{node.title} lacks an input")
    return [v for v in values if v is not None]


def _check_length(node: Node, body: onnx.GraphProto, trips: int) -> None:
    if trips * len(body.node) > MAX_UNROLLED:
        raise NeedsSegments(f"{node.title} is a long loop: {trips} times {len(body.node)} nodes")


def _check_walked(node: Node, nodes: int) -> None:
    """Counts the nodes of loops in the body too, which multiply."""
    if nodes > MAX_UNROLLED:
        raise NeedsSegments(f"{node.title} is a long loop, for the loops in its body: more than {MAX_UNROLLED} nodes")


def _slice(b: Builder, x: Value, axis: int, at: int) -> Value:
    """The slice `at` along the axis, which goes."""
    starts = tuple(at if a == axis else 0 for a in range(x.rank))
    lengths = tuple(1 if a == axis else n for a, n in enumerate(x.shape))
    part = b.op("Slice", x, starts=starts, steps=(1,) * x.rank, lengths=lengths)
    return b.op("Reshape", part, shape=tuple(n for a, n in enumerate(x.shape) if a != axis))


def _stacked(node: Node, b: Builder, rows: Sequence[Value], axis: int) -> Value:
    """The values of all iterations along a new axis."""
    if not rows:
        raise NeedsSegments(f"{node.title} runs not once: nothing is known of the shape of what it collects")
    axis %= rows[0].rank + 1
    if any(r.shape != rows[0].shape for r in rows):
        raise ModelError(f"{node.title} collects values of different shapes")
    parts = [b.op("Reshape", r, shape=(*r.shape[:axis], 1, *r.shape[axis:])) for r in rows]
    return parts[0] if len(parts) == 1 else b.op("Concat", *parts, axis=axis)


_OF: Mapping[str, Callable[[Walk, Node], Sequence[Value | None]]] = {"If": _branch, "Loop": _loop, "Scan": _scan}
