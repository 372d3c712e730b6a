"""A random model by its seed: nodes by templates, outputs, and how its program is made."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from fuzzing.draft import MANY, MOST, Array, Draft, Rejected, Setting, model_of, reads, typed
from fuzzing.operators import Template, all_templates
from korch.ir.opsets import own_domain

OPSETS = (9, 10, 11, 13, 17, 18, 20, 21, 23, 24)
WEIGHTS = (1, 1, 1, 3, 4, 3, 2, 4, 4, 2)
DTYPES = {"float32": 70, "float64": 8, "float16": 12, "bfloat16": 10}
NUMERICS = ("default", "default", "strict", "fast", "relaxed")
NODES = (1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 10, 12)
COMMON = ("Add", "Mul", "MatMul", "Conv", "Relu", "Reshape", "Transpose", "Softmax", "LayerNormalization", "Concat")
TRIES = 60
SPECIAL, SYMBOLIC, EAGER, LARGE = 0.1, 0.15, 0.5, 0.15
"""Shares of models with NaN and infinities, with named lengths, with choices that do not pay, and with long axes."""


@dataclass(frozen=True)
class Case:
    """A model, inputs, and how its program is made: `plans` numbers the random ones; `eager`: with choices that do not
    pay; `bare`: without choices. `operators`: the templates that wrote it, with how often."""

    seed: int
    model: onnx.ModelProto
    feeds: Mapping[str, Array]
    numerics: str = "default"
    eager: bool = False
    special: bool = False
    operators: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {n: x.shape for n, x in self.feeds.items()}

    @property
    def bare(self) -> bool:
        """Algebra holds for numbers: infinity less infinity is none."""
        return self.special


def random_case(seed: int, only: str = "") -> Case:
    """The case of that seed; `only`: an operator that its first node is to have."""
    rng = Random(seed)
    while True:
        with suppress(Rejected):
            return _case(seed, rng, only)


def _case(seed: int, rng: Random, only: str) -> Case:
    dtype = rng.choices(list(DTYPES), list(DTYPES.values()))[0]
    opset = rng.choices(OPSETS, WEIGHTS)[0]
    special = rng.random() < SPECIAL and dtype == "float32"
    setting = Setting(
        opset if dtype != "bfloat16" else max(opset, 13),
        "float32" if dtype == "bfloat16" else dtype,
        special,
        rng.random() < SYMBOLIC,
        MANY if rng.random() < LARGE else MOST,
    )
    d = Draft(rng, setting)
    templates = [t for t in all_templates() if t.since <= setting.opset <= t.until]
    common = [t for t in templates if t.op in COMMON and not t.domain]
    operators, wanted = Counter[str](), rng.choice(NODES)
    for _ in range(TRIES):
        if len(d.nodes) >= wanted:
            break
        first = [t for t in templates if str(t) == only] if only and not operators else []
        if only and not operators and not first:
            raise Rejected("not in this opset")
        chosen = rng.choice(first or (common if rng.random() < 0.3 else templates))
        if written(d, chosen):
            operators[str(chosen)] += 1
    if not d.nodes:
        raise Rejected("no node")
    model, feeds = finished(d)
    if dtype == "bfloat16":
        model = in_bfloat16(model)
        feeds = {n: _rounded(x) if x.dtype == np.float32 else x for n, x in feeds.items()}
    eager = rng.random() < EAGER
    numerics = rng.choice(NUMERICS) if not special else "default"  # strict is measured by what onnxruntime makes of NaN
    return Case(seed, model, feeds, numerics, eager, special, dict(operators))


def written(d: Draft, template: Template) -> bool:
    """Whether the template has written its nodes; else the draft is as before."""
    before = replace(
        d, arrays=dict(d.arrays), nodes=list(d.nodes), made=list(d.made), inputs=list(d.inputs), weights=list(d.weights)
    )
    try:
        template.write(d, template.op)
        return len(d.nodes) > len(before.nodes)
    except Rejected:
        d.arrays, d.nodes, d.made, d.inputs, d.weights = (
            before.arrays, before.nodes, before.made, before.inputs, before.weights,
        )  # fmt: skip
        return False


def finished(d: Draft) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """The model, its outputs what nothing reads and some of the rest, and its inputs."""
    read = {n for node in d.nodes for n in reads(node)}
    computed = [n for node in d.nodes for n in node.output if n]
    outputs = [n for n in computed if n not in read or d.chance(0.15)]
    d.rng.shuffle(outputs)
    inputs = [n for n in d.inputs if n in read]
    return model_with(d.nodes, d.arrays, inputs, [n for n in d.weights if n in read], outputs, d.setting), {
        n: d.arrays[n] for n in inputs
    }


def model_with(
    nodes: list[onnx.NodeProto],
    arrays: Mapping[str, Array],
    inputs: list[str],
    weights: list[str],
    outputs: list[str],
    setting: Setting,
) -> onnx.ModelProto:
    """The model of these nodes."""
    graph = helper.make_graph(
        nodes,
        "fuzzed",
        [typed(n, arrays[n], setting.symbolic) for n in inputs],
        [typed(n, arrays[n], setting.symbolic) for n in outputs],
        [numpy_helper.from_array(arrays[n], n) for n in weights],
    )
    return model_of(graph, setting.opset)


def _rounded(x: Array) -> Array:
    """The nearest bfloat16, as float32."""
    import ml_dtypes

    return x.astype(ml_dtypes.bfloat16).astype(np.float32)


def in_bfloat16(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with bfloat16 in the place of float32."""
    import ml_dtypes

    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    g = copy.graph
    for info in (*g.input, *g.output):
        if info.type.tensor_type.elem_type == TensorProto.FLOAT:
            info.type.tensor_type.elem_type = TensorProto.BFLOAT16
    _narrow_nodes(g)
    for t in g.initializer:
        if t.data_type == TensorProto.FLOAT:
            t.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(t).astype(ml_dtypes.bfloat16), t.name))
    return copy


def _narrow_nodes(g: onnx.GraphProto) -> None:
    for node in g.node:
        for a in node.attribute:
            if a.name in ("to", "dtype", "output_dtype") and a.i == TensorProto.FLOAT:
                a.i = TensorProto.BFLOAT16
            if a.HasField("t") and a.t.data_type == TensorProto.FLOAT:
                x = numpy_helper.to_array(a.t)
                a.t.CopyFrom(numpy_helper.from_array(x.astype("bfloat16"), a.t.name))
            if a.HasField("g"):
                for info in (*a.g.input, *a.g.output):
                    if info.type.tensor_type.elem_type == TensorProto.FLOAT:
                        info.type.tensor_type.elem_type = TensorProto.BFLOAT16
                _narrow_nodes(a.g)


def operators_of(model: onnx.ModelProto) -> Iterator[str]:
    """The operators of all nodes, those of bodies too, as `domain:op`."""

    def walk(g: onnx.GraphProto) -> Iterator[str]:
        for node in g.node:
            yield f"{own_domain(node.domain)}:{node.op_type}".removeprefix(":")
            for a in node.attribute:
                if a.HasField("g"):
                    yield from walk(a.g)

    return walk(model.graph)


def size_of(case: Case) -> int:
    """How large a case is: of two with the same fault, the smaller one is kept."""
    values: list[Any] = [*case.feeds.values(), *map(numpy_helper.to_array, case.model.graph.initializer)]
    return 10_000 * len(list(operators_of(case.model))) + sum(math.prod(x.shape) for x in values)
