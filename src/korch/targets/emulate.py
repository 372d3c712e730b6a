"""What a plan for a device computes, worked out on the host: float32, with the factors of products rounded as its
kernels round them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from korch.executable.plan import Plan, Step
from korch.ir.evaluate import evaluate_primitive
from korch.ir.ops.table import Array
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.numerics.rounding import rounded

TensorValues = dict[Tensor, Array]


def emulated(plan: Plan, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """The outputs of `plan` by name. Sums are added up in numpy's order, not in the device's."""
    graph = plan.graph
    values: TensorValues = {t: np.asarray(feeds[t.name]) for t in graph.inputs}
    values.update({t: graph.constants[t.name] for t in plan.constants})
    uses = Counter(t for s in plan.steps for t in s.reads)
    uses.update((*graph.outputs, *values))
    with np.errstate(all="ignore"):
        for step in plan.steps:
            values.update(_made(step, values))
            uses.subtract(step.reads)
            values = {t: x for t, x in values.items() if uses[t] > 0}
    return {n: values[t].astype(t.dtype, copy=False) for n, t in zip(graph.output_names, graph.outputs, strict=True)}


def _made(step: Step, values: Mapping[Tensor, Array]) -> TensorValues:
    """What the step stores."""
    cone, precision = step.kernel.cone, step.kernel.variant.precision
    inside: TensorValues = {leaf: values[t] for leaf, t in zip(cone.leaves, step.reads, strict=True)}
    for p in cone.primitives:
        inside[p.output] = evaluate_primitive(p, _inputs(p, inside, precision), "float32")
    return {step.writes: inside[cone.root]}


def _inputs(p: Primitive, inside: Mapping[Tensor, Array], precision: str) -> list[Array]:
    if not p.spec.is_bilinear:
        return [inside[t] for t in p.inputs]
    return [rounded(inside[t], precision) for t in p.inputs]
