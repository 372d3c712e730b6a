"""Programs in which only loose primitives round: the truth that estimates are compared with."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from korch.ir import Builder, Graph, Primitive
from korch.ir.evaluate import evaluate_cone, evaluate_graph, evaluate_primitive, widen
from korch.ir.ops.axes import last_to_first
from korch.ir.ops.table import Array
from korch.numerics.blame import in_layout
from korch.numerics.exact import Arrays
from korch.numerics.loose import with_landings
from korch.rewrite.layouts import add_layouts
from korch.rewrite.strassen import strassen
from korch.rewrite.winograd import winograd


def convolutions(count: int = 3) -> Graph:
    """Convolutions 3x3 with Relu in between, as written and by Winograd's algorithm."""
    b, rng = Builder(), np.random.default_rng(0)
    x = b.input("x", "float32", (1, 16, 24, 24))
    for _ in range(count):
        w = b.constant((rng.standard_normal((16, 16, 3, 3)) / 12).astype(np.float32))
        x = b.op("Conv", x, w, strides=(1, 1), pads=(1, 1, 1, 1), dilations=(1, 1), group=1, channels_last=0)
        x = b.op("Relu", x)
    return winograd(add_layouts(b.graph([("y", x)])))


def products() -> Graph:
    """Two products of 256 x 256 with a Tanh in between, as written and by Strassen's algorithm."""
    b, rng = Builder(), np.random.default_rng(0)
    x = b.input("x", "float32", (256, 1024))
    v, w = (b.constant((rng.standard_normal((1024, 1024)) / 32).astype(np.float32)) for _ in range(2))
    return strassen(b.graph([("y", b.op("Tanh", x @ v) @ w)]))


def rounded_outputs(graph: Graph, feeds: Arrays, loose: Iterable[Primitive]) -> dict[str, Array]:
    """The outputs where `loose` compute the values at which they land in float32, and all else is exact."""
    plain = graph.plain()
    at = {x.at: x.cone for p in with_landings(graph, loose) for x in p.landings}
    values = {t: widen(np.asarray(feeds[t.name])) for t in plain.inputs}
    for p in plain.primitives:
        if cone := at.get(p.output):
            leaves = [graph.constants[t.name] if t.const else in_layout(graph, t, values) for t in cone.leaves]
            y = evaluate_cone(cone, [x.astype(np.float32) for x in leaves], precision="float32").astype(np.float64)
            values[p.output] = y if cone.root == p.output else y.transpose(last_to_first(y.ndim))
        else:
            inputs = [graph.constants[t.name] if t.const else values[t] for t in p.inputs]
            values[p.output] = evaluate_primitive(p, inputs)
    return {n: values[t] for n, t in zip(plain.output_names, plain.outputs, strict=True)}


def measured_error(graph: Graph, feeds: Arrays, loose: Iterable[Primitive]) -> float:
    """The error of the only output, of its largest magnitude."""
    (exact,) = evaluate_graph(graph, feeds).values()
    (found,) = rounded_outputs(graph, feeds, loose).values()
    return float(np.abs(found - exact).max() / np.abs(exact).max())
