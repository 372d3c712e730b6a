"""The reference evaluator: float64 values of tensors, whole or on a part, straight from the definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from korch.ir.cone import Cone
from korch.ir.graph import Graph
from korch.ir.ops.table import Array, Region, whole
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor


def widen(x: Array, precision: str = "float64") -> Array:
    """Floats in the precision of the evaluation (the array itself where it has that); everything else as it is."""
    return x.astype(precision, copy=False) if x.dtype.kind == "f" else x


def evaluate_cone(
    cone: Cone,
    leaves: Sequence[Array],
    region: Region | None = None,
    precision: str = "float64",
    factor: Callable[[Array], Array] | None = None,
) -> Array:
    """The root's values on `region` (all of it by default), reading only the parts of `leaves` it needs.

    `leaves[i]` has the shape of `cone.leaves[i]`. With precision "float32" every step rounds to float32: the
    difference shows how well the computation is conditioned. `factor` makes of what a product multiplies what it
    is rounded to.
    """
    values = dict(zip(cone.leaves, leaves, strict=True))
    made = {p.output: p for p in cone.primitives}
    memo: dict[tuple[Tensor, bytes], Array] = {}

    def value(t: Tensor, part: Region) -> Array:
        if t in values:
            x = values[t]
            return widen(x[np.ix_(*part)] if x.ndim else x, precision)
        key = (t, b"|".join(r.tobytes() for r in part))
        if key not in memo:
            p = made[t]
            y = p.spec.evaluate(p, part, lambda i, r: given(p, i, r))
            memo[key] = y.astype(precision) if y.dtype.kind == "f" else y
        return memo[key]

    def given(p: Primitive, i: int, part: Region) -> Array:
        x = value(p.inputs[i], part)
        return factor(x) if factor and i < 2 and p.spec.is_bilinear else x

    return value(cone.root, whole(cone.root.shape) if region is None else region)


def evaluate_primitive(p: Primitive, inputs: Sequence[Array], precision: str = "float64") -> Array:
    """All of the output of one primitive."""
    whole_inputs = [widen(x, precision) for x in inputs]

    def pull(i: int, part: Region) -> Array:
        x = whole_inputs[i]
        if all(len(r) == n for r, n in zip(part, x.shape, strict=True)) and _ordered(part):
            return x
        return x[np.ix_(*part)] if x.ndim else x

    y = p.spec.evaluate(p, whole(p.output.shape), pull)
    return np.asarray(widen(y, precision), order="C")


def _ordered(part: Region) -> bool:
    return all(len(r) < 2 or bool((np.diff(r) == 1).all()) for r in part)


def evaluate_graph(graph: Graph, feeds: Mapping[str, Array], precision: str = "float64") -> dict[str, Array]:
    """The outputs of the graph's choice-free selection, by output name."""
    values = values_of(graph, feeds, graph.outputs, precision)
    return {n: _value(t, values, graph) for n, t in zip(graph.output_names, graph.outputs, strict=True)}


def values_of(
    graph: Graph, feeds: Mapping[str, Array], wanted: Iterable[Tensor], precision: str = "float64"
) -> dict[Tensor, Array]:
    """Those of `wanted` that the choice-free selection computes, and the inputs; others are dropped when last used."""
    plain = graph.plain()
    values: dict[Tensor, Array] = {t: widen(np.asarray(feeds[t.name]), precision) for t in plain.inputs}
    uses = Counter(t for p in plain.primitives for t in dict.fromkeys(p.inputs))
    uses.update({*wanted, *plain.inputs})
    for p in plain.primitives:
        values[p.output] = evaluate_primitive(p, [_value(t, values, plain) for t in p.inputs], precision)
        for t in dict.fromkeys(p.inputs):
            uses[t] -= 1
            if not uses[t]:
                values.pop(t, None)
    return values


def _value(t: Tensor, values: Mapping[Tensor, Array], graph: Graph) -> Array:
    return graph.constants[t.name] if t.const else values[t]
