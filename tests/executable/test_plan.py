"""Plans: what they select, their JSON, and what `check` refuses."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from korch.backends.contract import Kernel, Launch, LibraryCall, Prepared, StageVariant, Triton, Variant
from korch.errors import Error
from korch.executable.plan import Plan, Step, check
from korch.executable.plan_json import pack, plan_from_json, plan_to_json, unpack
from korch.ir import Builder, Cone
from korch.ir.evaluate import evaluate_graph

from .small_plans import chain, feeds_of, host, native, plan_of


@pytest.mark.parametrize("value", [1, 1.5, True, "x", None, (1, (2, 3)), b"\0\xff", math.inf, -math.inf])
def test_values_survive_json(value: object) -> None:
    assert unpack(pack(value)) == value


def test_nan_and_numpy_numbers_survive_json() -> None:
    assert math.isnan(unpack(pack(math.nan))) and unpack(pack(np.float32(0.5))) == 0.5


def test_a_plan_survives_json() -> None:
    plan = chain()
    again = plan_from_json(plan_to_json(plan), plan.graph.constants)
    assert again.steps == plan.steps and str(again.graph) == str(plan.graph)
    assert plan_to_json(again) == plan_to_json(plan)
    assert (again.threads, again.options, again.gap) == (plan.threads, plan.options, plan.gap)


def test_host_models_and_infinite_attributes_survive_json() -> None:
    b = Builder()
    x = b.input("x", "float32", (2, 3))
    y = b.op("Pad", x, pads=(0, 1, 0, 1), mode="constant", value=-math.inf)
    plan = plan_of(b.graph([("y", y)]), host)
    assert plan_from_json(plan_to_json(plan), {}).steps == plan.steps


def test_the_selection_holds_what_is_computed_twice_under_two_names() -> None:
    b = Builder()
    x = b.input("x", "float32", (4,))
    n = b.op("Neg", x)
    g = b.graph([("y", b.op("Relu", n)), ("z", n * n)])
    neg, relu, mul = g.primitives
    cones = [Cone.of([neg, relu]), Cone.of([neg, mul])]
    steps = tuple(replace(Step.of(replace(native(relu), cone=c))) for c in cones)
    selection = Plan(g, steps).selection()
    feeds = {"x": np.arange(4, dtype=np.float32)}
    for name, y in evaluate_graph(selection, feeds).items():
        np.testing.assert_array_equal(y, evaluate_graph(g, feeds)[name])
    assert len(selection.primitives) == 3


def test_equal_cones_share_a_kernel_under_other_names() -> None:
    plan = chain(4)
    shared = plan.steps[1].kernel  # a Relu, like step 3
    steps = (*plan.steps[:3], replace(plan.steps[3], kernel=shared))
    selection = replace(plan, steps=steps).selection()
    feeds = feeds_of(plan)
    np.testing.assert_array_equal(evaluate_graph(selection, feeds)["y"], evaluate_graph(plan.graph, feeds)["y"])


def test_check_names_what_is_wrong() -> None:
    plan = chain(3)
    check(plan)
    with pytest.raises(Error, match="which no earlier step writes"):
        check(replace(plan, steps=plan.steps[1:]))
    with pytest.raises(Error, match="no step writes the output 'y'"):
        check(replace(plan, steps=plan.steps[:-1]))
    with pytest.raises(Error, match="exists already"):
        check(replace(plan, steps=(*plan.steps, plan.steps[-1])))
    with pytest.raises(Error, match="is a constant, and an input"):
        check(replace(plan, graph=replace(plan.graph, inputs=tuple(replace(t, const=True) for t in plan.graph.inputs))))
    other = replace(plan.steps[0].writes, shape=(1,))
    with pytest.raises(Error, match="to a kernel for"):
        check(replace(plan, steps=(replace(plan.steps[0], writes=other), *plan.steps[1:])))


def test_launches_calls_and_prepared_constants_survive_json() -> None:
    plan = chain(2)
    made = (Prepared("float16", (50, 3), 1, (1, 0)), Prepared("float32", (2,), values=(math.inf, 0.5)))
    launches = (Launch("f", (4, 2, 1), (0, 1, 3), 8, 3), Launch("g", (1, 1, 1), (3, 2)))
    call = LibraryCall("product", (("a", (0, (3, 4), None)), ("relu", True)))
    first, second = (s.kernel.cone for s in plan.steps)
    tiled = Variant("{}x{} w{}", "tf32", (64, 32, 4))
    chained = Variant("{} rows", numbers=(8,), stages=(StageVariant(tiled, "triton"), StageVariant(Variant("plain"))))
    kernels = (
        Kernel(first, "triton", tiled, Triton("def f(): ...", launches, made, 64)),
        Kernel(second, "vendor", chained, call),
    )
    plan = replace(plan, steps=tuple(replace(s, kernel=k) for s, k in zip(plan.steps, kernels, strict=True)))
    again = plan_from_json(plan_to_json(plan.on("cuda", "H200")), plan.graph.constants)
    assert again.steps == plan.steps
    assert (again.target, again.device) == ("cuda", "H200") and (plan.target, plan.device) == ("cpu", "")
