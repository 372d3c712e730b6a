"""Small plans over hand-written kernels, one primitive a step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from tests.by_hand import by_hand, code

from korch.backends.contract import Alias, Host, Kernel, Variant
from korch.backends.cpu.c import Comment
from korch.executable.plan import Plan, RunnerUp, Step
from korch.ir import Builder, Cone, Graph, Primitive, Value
from korch.ir.onnx_write import cone_to_onnx

BODIES = {
    "Relu": "y[i] = a[i] > 0 ? a[i] : 0",
    "Neg": "y[i] = -a[i]",
    "Add": "y[i] = a[i] + b[i]",
    "Mul": "y[i] = a[i] * b[i]",
}
LOOP = """const float *a = in[0], *b = in[{second}];
    float *y = out;
#pragma omp parallel for simd
    for (int i = 0; i < {size}; ++i) {body};"""


def native(p: Primitive) -> Kernel:
    """A kernel for elementwise `p` whose operands have the shape of its output."""
    second = len(p.inputs) - 1
    run = LOOP.format(second=second, size=p.output.size, body=BODIES[p.op])
    return by_hand(Cone.of([p]), code(run, before=(Comment.of(p.op),), opens=True), "plain", "hand")


def alias(p: Primitive) -> Kernel:
    return Kernel(Cone.of([p]), "alias", Variant(), Alias())


def host(p: Primitive) -> Kernel:
    cone = Cone.of([p])
    return Kernel(cone, "onnxruntime", Variant(), Host(cone_to_onnx(cone).SerializeToString()))


def kernel_of(p: Primitive) -> Kernel:
    if p.op == "Reshape":
        return alias(p)
    return native(p) if p.op in BODIES else host(p)


def plan_of(graph: Graph, choose: Callable[[Primitive], Kernel] = kernel_of, threads: int = 2) -> Plan:
    """Every primitive in order, each by the kernel that `choose` makes for it."""
    steps = tuple(Step.of(choose(p), 1e-6, RunnerUp("other", "v2", 2e-6)) for p in graph.primitives)
    return Plan(graph, steps, threads, "default", 1e-6 * len(steps), 0.0, (("model", "hand-written"),))


def chain(length: int = 6, shape: tuple[int, ...] = (3, 50)) -> Plan:
    """x -> alternately relu(x) and x + w."""
    b = Builder("chain")
    x = b.input("x", "float32", shape)
    v: Value = x
    for i in range(length):
        w = b.constant(np.random.default_rng(i).normal(size=shape).astype(np.float32), name=f"w{i}")
        v = b.op("Relu", v) if i % 2 else v + w
    return plan_of(b.graph([("y", v)]))


def feeds_of(plan: Plan, seed: int = 0) -> dict[str, np.ndarray]:
    r = np.random.default_rng(seed)
    return {t.name: r.normal(size=t.shape).astype(t.dtype) for t in plan.graph.inputs}


def with_workspace(plan: Plan, sizes: dict[int, int]) -> Plan:
    steps = [
        replace(s, kernel=replace(s.kernel, body=replace(s.kernel.body, workspace=sizes.get(i, 0))))
        for i, s in enumerate(plan.steps)
    ]
    return replace(plan, steps=tuple(steps))
