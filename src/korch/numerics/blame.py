"""Which choices of a plan cost most error, when the plan as a whole errs too much.

Every choice is looked at by itself: from the values that the model as written has in float64, the tensor that the
choice makes is computed with every step rounded to float32, and compared with its value as written. So rounding
counts that the choice amplifies, on values that occur, and so does what a rule says wrongly. How these errors add up
at the outputs nobody can say cheaply: it is taken for granted that they do so in proportion.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from math import inf

import numpy as np

from korch.ir.cone import Cone
from korch.ir.evaluate import evaluate_cone, values_of
from korch.ir.graph import Graph, topological
from korch.ir.ops.axes import first_to_last
from korch.ir.ops.table import Array
from korch.ir.primitive import APPROXIMATE, EXACT, REASSOCIATED, Primitive
from korch.ir.tensor import Tensor
from korch.numerics.error import error_of
from korch.numerics.exact import Arrays

SLACK = 0.5
"""Of what would just fit: choices are kept only up to this, as errors do not add up exactly."""


@dataclass(frozen=True)
class Blame:
    """A choice of the plan that is not exact, and its own error, of the largest magnitude of what it makes."""

    primitive: Primitive
    error: float


def inexact(graph: Graph) -> list[Primitive]:
    """The producers whose rounding differs from the model's as it is written."""
    written = set(graph.plain().primitives)
    return [p for p in graph.primitives if p.error != EXACT and p not in written]


def blames(graph: Graph, loose: Collection[Primitive], picked: Iterable[Primitive], feeds: Arrays) -> list[Blame]:
    """Those of the coarsest error class among `loose`, the plan's inexact choices, worst first; `picked` is all that
    the plan computes."""
    roots = set(graph.plain().producers)
    suspects = [p for p in loose if graph.value_of(p.output) in roots]
    worst = next((c for c in (APPROXIMATE, REASSOCIATED) if any(p.error == c for p in suspects)), EXACT)
    made = {p.output: p for p in picked if graph.value_of(p.output) not in roots}
    cones = [Cone.of(topological(p.output, made | {p.output: p})) for p in suspects if p.error == worst]
    values = values_of(graph, feeds, {graph.value_of(t) for c in cones for t in (c.root, *c.leaves) if not t.const})
    found = [Blame(c.primitives[-1], _error(graph, c, values)) for c in cones]
    return sorted(found, key=lambda b: -b.error)


def _error(graph: Graph, cone: Cone, values: Mapping[Tensor, Array]) -> float:
    with np.errstate(all="ignore"):
        leaves = [graph.constants[t.name] if t.const else in_layout(graph, t, values) for t in cone.leaves]
        y = evaluate_cone(cone, leaves, precision="float32")
    exact = in_layout(graph, cone.root, values)
    return error_of(y, exact, exact)


def in_layout(graph: Graph, t: Tensor, values: Mapping[Tensor, Array]) -> Array:
    """The value of `t` in the order of its axes."""
    plain = graph.value_of(t)
    return values[plain] if plain == t else values[plain].transpose(first_to_last(t.rank))


def to_drop(found: Iterable[Blame], excess: float) -> list[Primitive]:
    """The worst of `found`: at least one, and so many that the errors of the rest fit, where `excess` is the error
    of the whole in units of what is allowed."""
    ranked = sorted(found, key=lambda b: -b.error)
    total = sum(b.error for b in ranked)
    left, room = total, SLACK * total / excess if total < inf else 0.0
    result: list[Primitive] = []
    for b in ranked:
        if result and left <= room:
            break
        result.append(b.primitive)
        left -= b.error
    return result


def alike(graph: Graph, dropped: Iterable[Primitive]) -> set[Primitive]:
    """`dropped`, and the same ways to compute the same values in other layouts."""
    ways = {way_of(graph, p) for p in dropped}
    return {p for p in inexact(graph) if way_of(graph, p) in ways}


def way_of(graph: Graph, p: Primitive) -> tuple[object, ...]:
    """Equal for primitives that do the same in different layouts."""
    return p.op, graph.value_of(p.output), tuple(graph.value_of(t) for t in p.inputs if not t.const)
