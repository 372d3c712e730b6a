"""What an explanation says of a plan with two kernels that share work."""

from __future__ import annotations

import pytest

from korch.backends.contract import Kernel
from korch.executable import Executable, Plan, RunnerUp, Step
from korch.ir import Builder, Cone
from korch.ir.onnx_write import cone_to_onnx
from korch.report.explain import explain


@pytest.fixture(scope="module")
def plan() -> Plan:
    """e = exp(x) inside both kernels: a = -e, b = e + a."""
    g = Builder("g")
    x = g.input("x", "float32", (2, 3))
    e = g.op("Exp", x)
    a = -e
    graph = g.graph([("a", a), ("b", e + a)])
    exp, neg, add = graph.primitives
    steps = tuple(
        Step.of(Kernel(cone, "onnxruntime", host=cone_to_onnx(cone).SerializeToString()), cost, up)
        for cone, cost, up in (
            (Cone.of([exp, neg]), 3e-6, RunnerUp("loops", "bound", 4e-6)),
            (Cone.of([exp, add]), 1e-6, None),
        )
    )
    return Plan(graph, steps, 1, "strict", 4e-6, 0.25, (("numerics", "strict"), ("time_budget", "5")))


def test_explanation(plan: Plan):
    with Executable.link(plan) as executable:
        result = explain(executable)
        first, second = result.kernels
        assert result.memory["peak"] == executable.peak_bytes
    assert (first.root, first.type, first.backend, first.share) == (
        plan.steps[0].writes.name,
        "f32[2,3]",
        "onnxruntime",
        0.75,
    )
    assert first.runner_up == {"backend": "loops", "variant": "bound", "cost_us": pytest.approx(4.0)}
    assert first.primitives[0] == "v1 = exp(x)  # f32[2,3]"
    assert [a.primitive for a in first.again] == ["v1 = exp(x)  # f32[2,3]"]
    assert first.again[0].also_in == (1,) and second.again[0].also_in == (0,)
    assert (result.total_us, result.gap, result.numerics) == (pytest.approx(4.0), 0.25, "strict")


def test_text(plan: Plan):
    with Executable.link(plan) as executable:
        lines = str(explain(executable)).splitlines()
    root = plan.steps[0].writes.name
    assert lines[0] == f"0: {root}  onnxruntime  3.0 us  75.0%  (next best: loops, at least 4.0 us)"
    assert lines[1:4] == [
        "    v1 = exp(x)  # f32[2,3]",
        f"    {root} = neg(v1)  # f32[2,3]",
        "    computed in 1 too: v1",
    ]
    assert lines[-5].startswith("total: 2 kernels, 0.004 ms, within 25.0% of the optimum")
    assert lines[-4] == "asked for: numerics strict, time_budget 5"
    assert lines[-3] == "multiply-adds: 0.000 G as written, 0.000 G chosen, 0.000 G executed"


def test_equal_kernels_on_different_tensors_share_nothing():
    g = Builder("g")
    x, y = g.input("x", "float32", (2,)), g.input("y", "float32", (2,))
    graph = g.graph([("a", g.op("Exp", x)), ("b", g.op("Exp", y))])
    cone = Cone.of([graph.primitives[0]])
    kernel = Kernel(cone, "onnxruntime", host=cone_to_onnx(cone).SerializeToString())
    steps = tuple(Step(kernel, p.inputs, p.output, 1e-6) for p in graph.primitives)
    with Executable.link(Plan(graph, steps)) as executable:
        kernels = explain(executable).kernels
    assert [k.primitives[0].split("  #")[0] for k in kernels] == [
        f"{graph.outputs[0].name} = exp(x)", f"{graph.outputs[1].name} = exp(y)"]  # fmt: skip
    assert not any(k.again for k in kernels)
