"""A smaller case with the same fault: fewer outputs and nodes, then shorter axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np
import onnx
from onnx import helper, numpy_helper

from fuzzing.draft import Array, reads, typed
from fuzzing.models import Case, size_of
from korch.system.deadline import Deadline
from korch.system.sessions import plain_session

MOST, SECONDS = 80, 120.0
"""Cases that are tried, and how long."""


def shrunk(case: Case, fails: Callable[[Case], bool]) -> Case:
    """The smallest case found that `fails` as well."""
    left, again, until = MOST, True, Deadline.after(SECONDS)
    while again and left and not until.passed:
        again = False
        for smaller in _smaller(case):
            left -= 1
            if fails(smaller):
                case, again = smaller, True
                break
            if not left or until.passed:
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    """Cases that are smaller by one step, those that save most first."""
    known = _values(case)
    found = [*_by_output(case, known), *_by_cut(case, known)]
    yield from sorted((c for c in found if size_of(c) < size_of(case)), key=size_of)
    yield from (c for c in _by_length(case) if size_of(c) < size_of(case) and _values(c))


def _values(case: Case) -> dict[str, Array]:
    """All values of the model by onnxruntime; empty where it does not run it."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    names = list(dict.fromkeys(n for node in model.graph.node for n in node.output if n))
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=n) for n in names)
    with suppress(Exception):  # onnxruntime's own exceptions share no base
        found = plain_session(model.SerializeToString(), 1).run(names, dict(case.feeds))
        return {n: np.asarray(x) for n, x in zip(names, found, strict=True)}
    return {}


def _by_output(case: Case, known: Mapping[str, Array]) -> Iterator[Case]:
    """One output alone, the model's own or another value."""
    own = {o.name: o for o in case.model.graph.output}
    for node in case.model.graph.node:
        for name in node.output:
            if name in own or name in known:
                yield with_parts(case, case.model.graph.node, [own.get(name) or typed(name, known[name])], {})


def _by_cut(case: Case, known: Mapping[str, Array]) -> Iterator[Case]:
    """The outputs of a node become inputs."""
    for node in case.model.graph.node:
        values = {n: known[n] for n in node.output if n in known}
        if values and not any(o.name in values for o in case.model.graph.output):
            nodes = [n for n in case.model.graph.node if n is not node]
            yield with_parts(case, nodes, list(case.model.graph.output), values)


def with_parts(
    case: Case, nodes: Iterable[onnx.NodeProto], outputs: list[onnx.ValueInfoProto], more: Mapping[str, Array]
) -> Case:
    """The case of what `outputs` need of the nodes, with `more` inputs."""
    g = case.model.graph
    wanted, kept = {o.name for o in outputs}, list[onnx.NodeProto]()
    for node in reversed(list(nodes)):
        if wanted.intersection(node.output):
            kept.append(node)
            wanted.update(reads(node))
    inputs = [i for i in g.input if i.name in wanted] + [typed(n, x) for n, x in more.items() if n in wanted]
    graph = helper.make_graph(kept[::-1], g.name, inputs, outputs, [t for t in g.initializer if t.name in wanted])
    model = helper.make_model(graph, opset_imports=case.model.opset_import, ir_version=case.model.ir_version)
    feeds = {n: x for n, x in {**case.feeds, **more}.items() if n in wanted}
    return replace(case, model=model, feeds=feeds)


def _by_length(case: Case) -> Iterator[Case]:
    """Axes of one length are all cut to another."""
    g = case.model.graph
    weights = {t.name: numpy_helper.to_array(t) for t in g.initializer}
    lengths = sorted({n for x in (*case.feeds.values(), *weights.values()) for n in x.shape if n > 1}, reverse=True)
    for n in lengths:
        for m in (1, 2, n // 2, n - 1):
            if 0 < m < n:
                yield _cut(case, weights, n, m)


def _cut(case: Case, weights: Mapping[str, Array], n: int, m: int) -> Case:
    def cut(x: Array) -> Array:
        x = x[tuple(slice(m) if k == n else slice(None) for k in x.shape)]
        return np.where(x == n, m, x).astype(x.dtype) if x.dtype == np.int64 else x

    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    g = model.graph
    feeds = {name: cut(x) for name, x in case.feeds.items()}
    del g.initializer[:]
    g.initializer.extend(numpy_helper.from_array(cut(x), name) for name, x in weights.items())
    for info in (*g.input, *g.output):
        for dim in info.type.tensor_type.shape.dim:
            if dim.dim_value == n:
                dim.dim_value = m
    for info in g.output:
        info.type.tensor_type.ClearField("shape")
    return replace(case, model=model, feeds=feeds)
