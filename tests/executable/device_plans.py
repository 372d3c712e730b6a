"""Small plans for a device: calls that the reference evaluates, so that no GPU and no Triton are needed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from korch.backends.contract import Kernel, LibraryCall, Prepared, Variant
from korch.executable.plan import Plan
from korch.ir import Builder, Cone, Primitive, Value
from korch.ir.evaluate import evaluate_cone

from .small_plans import alias, plan_of


def called(p: Primitive) -> Kernel:
    return alias(p) if p.op == "Reshape" else Kernel(Cone.of([p]), "hand", Variant("plain"), LibraryCall("reference"))


def reference(kernel: Kernel, buffers: Sequence[np.ndarray]) -> None:
    """Computes the kernel's cone, and writes nonsense to its workspace."""
    cone = kernel.cone
    leaves = [np.array(x) for x in buffers[: len(cone.leaves)]]
    if kernel.workspace:
        buffers[-1][...] = 0xAB
    buffers[len(leaves)][...] = evaluate_cone(cone, leaves, precision="float32")


def device_plan(graph: object, **more: object) -> Plan:
    return replace(plan_of(graph, called), **more).on("cuda", "H200")  # pyright: ignore


def random_plan(seed: int, most: int = 30) -> Plan:
    """Elementwise steps on tensors of several sizes, aliases, workspaces, several outputs among them."""
    draw, b = random.Random(seed), Builder()
    values: list[Value] = [b.input("x", "float32", (4, 24)), b.constant(np.ones((4, 24), np.float32), name="w")]
    for _ in range(draw.randint(1, most)):
        values.append(_next(b, draw, values))
    outputs = [values[-1], *draw.sample(values, draw.randint(0, min(3, len(values))))]
    plan = device_plan(b.graph([(f"y{i}", v) for i, v in enumerate(outputs)]))
    spaces = [draw.choice((0, 0, 100, 1000)) for _ in plan.steps]
    return replace(
        plan,
        steps=tuple(
            s if s.kernel.alias else replace(s, kernel=replace(s.kernel, body=replace(s.kernel.body, workspace=n)))
            for s, n in zip(plan.steps, spaces, strict=True)
        ),
    )


def _next(b: Builder, draw: random.Random, values: Sequence[Value]) -> Value:
    v, recent = draw.choice(values), values[-1]
    match draw.choice(("one", "one", "two", "two", "alias")):
        case "one":
            return b.op(draw.choice(("Relu", "Neg")), draw.choice((v, recent)))
        case "alias":
            shape = (96,) if v.tensor.rank == 2 else (4, 24)
            return b.op("Reshape", v, shape=shape)
        case _:
            fitting = [u for u in values if u.tensor.shape == v.tensor.shape]
            return v + draw.choice(fitting)


def prepared_kernel(p: Primitive) -> Kernel:
    """A kernel of `x + w` that reads `w` doubled... as it is prepared: transposed, in half precision."""
    leaf = next(i for i, t in enumerate(p.inputs) if t.const)
    made = Prepared("float16", tuple(reversed(p.inputs[leaf].shape)), leaf, (1, 0))
    kernel = called(p)
    assert kernel.call
    return replace(kernel, body=replace(kernel.call, prepared=(made, Prepared("int32", (2,), values=(3, 4)))))
