"""Is each step of a program right on what the steps before it made?

A quantized model rounds to bytes again and again. A value at the edge of a step falls to either side in right programs,
and whatever follows differs: onnxruntime, OpenVINO and float64 are then as far from each other as from a program. So
the outputs cannot tell a right program from a wrong one, but its steps can. Each kernel is run on what this program
itself computed, and compared with float64 on just these values, as the profiler compares it on random ones
(`korch.profile.check`): sums of bytes are equal, floats differ by roundings, and as many bytes differ as fall to the
other side in float32, by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from korch.executable.plan import Plan, Step
from korch.ir.ops.integers import BYTES
from korch.ir.ops.table import Array
from korch.ir.tensor import Tensor
from korch.profile.check import Reference, compare_part, part_of, reference

MOST_BYTES = 4 << 30
"""Of the tensors of all steps of a program, which have to be in memory together."""


def rounds_to_bytes(plan: Plan) -> bool:
    """Whether the program makes bytes of floats, and its tensors can be held together."""
    makes = any(
        p.spec.casts and p.inputs[0].is_float and p.output.dtype in BYTES
        for s in plan.steps
        for p in s.kernel.cone.primitives
    )
    return makes and sum(s.writes.nbytes for s in plan.steps) <= MOST_BYTES


def exposed(plan: Plan) -> Plan:
    """The plan with all that its steps make as outputs, under the tensors' names."""
    made = tuple(dict.fromkeys((*plan.graph.outputs, *(s.writes for s in plan.steps))))
    return replace(plan, graph=replace(plan.graph, outputs=made, output_names=tuple(t.name for t in made)))


def first_wrong(plan: Plan, feeds: Mapping[str, Array], outputs: Callable[[Plan], Mapping[str, Array]]) -> str:
    """The first wrong step of a program on `feeds`, as `wrong_step`. `outputs` links a plan and runs it on them."""
    return wrong_step(plan, {**feeds, **outputs(exposed(plan))})


def wrong_step(plan: Plan, values: Mapping[str, Array]) -> str:
    """The first step that is wrong, and why; empty where there is none. `values`: inputs and results of steps, by name.

    Steps that onnxruntime runs are taken for right.
    """
    known = {**plan.graph.constants, **values}
    for step in plan.steps:
        if step.idle or step.kernel.host:
            continue
        leaves = [_value(t, known) for t in step.reads]
        with np.errstate(all="ignore"):
            expected = reference(step.kernel.cone, leaves, step.kernel.variant.precision or "ieee")
        if reason := _reason(step, part_of(known[step.writes.name], expected), expected):
            return f"step {step.writes.name}: {reason}"
    return ""


def _value(t: Tensor, known: Mapping[str, Array]) -> Array:
    return np.full(t.shape, t.value, t.dtype) if t.value is not None else known[t.name]


def _reason(step: Step, found: Array, expected: Reference) -> str:
    """Why the step is wrong: bytes differ by more than one, or more than the check allows differs."""
    if step.writes.dtype in BYTES and found.size:
        apart = np.abs(found.astype(np.int64) - expected.values.astype(np.int64))
        if apart.max() > 1:
            return f"bytes are {apart.max()} apart"
    return compare_part(found, expected).reason
