"""What an explanation says of a plan with two kernels that share work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from korch.backends.contract import Host, Kernel, Variant
from korch.executable import Executable, Plan, RunnerUp, Step
from korch.executable.plan import Accuracy, Choice
from korch.executable.plan_json import plan_from_json, plan_to_json
from korch.ir import Builder, Cone, Graph, Primitive, Value
from korch.ir.macs import total
from korch.ir.onnx_write import cone_to_onnx
from korch.report.explain import explain
from korch.rewrite.blocks import conv_in_blocks
from korch.rewrite.layouts import add_layouts
from korch.rewrite.strips import conv_in_squares, conv_in_strips
from korch.rewrite.table import Rewrite
from korch.rewrite.winograd import winograd


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
        Step.of(Kernel(cone, "onnxruntime", Variant(), Host(cone_to_onnx(cone).SerializeToString())), cost, up)
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
    assert lines[-5].startswith("total: 2 kernels, 0.004 ms, at most 25.0% above the cheapest plan")
    assert lines[-4] == "asked for: numerics strict, time_budget 5"
    assert lines[-3] == "multiply-adds: 0.000 G as written, 0.000 G chosen, 0.000 G executed"


def test_equal_kernels_on_different_tensors_share_nothing():
    g = Builder("g")
    x, y = g.input("x", "float32", (2,)), g.input("y", "float32", (2,))
    graph = g.graph([("a", g.op("Exp", x)), ("b", g.op("Exp", y))])
    cone = Cone.of([graph.primitives[0]])
    kernel = Kernel(cone, "onnxruntime", Variant(), Host(cone_to_onnx(cone).SerializeToString()))
    steps = tuple(Step(kernel, p.inputs, p.output, 1e-6) for p in graph.primitives)
    with Executable.link(Plan(graph, steps)) as executable:
        kernels = explain(executable).kernels
    assert [k.primitives[0].split("  #")[0] for k in kernels] == [
        f"{graph.outputs[0].name} = exp(x)",
        f"{graph.outputs[1].name} = exp(y)",
    ]
    assert not any(k.again for k in kernels)


def host_step(*primitives: Primitive) -> Step:
    cone = Cone.of(primitives)
    return Step.of(Kernel(cone, "onnxruntime", Variant(), Host(cone_to_onnx(cone).SerializeToString())), 1e-6)


def counted(plan: Plan) -> dict[str, int]:
    with Executable.link(plan) as executable:
        return explain(executable).to_json()["multiply_adds"]


def conv_3x3(b: Builder, x: Value) -> Value:
    attrs = {"strides": (1, 1), "pads": (1, 0, 1, 1), "dilations": (1, 1), "group": 1, "channels_last": 0}
    return b.op("Conv", x, b.constant(np.ones((24, 16, 3, 3), np.float32)), **attrs)


def strided_3x3(b: Builder, x: Value) -> Value:
    """6 x 5 outputs; the last column of the pads is read by no window."""
    attrs = {"strides": (2, 2), "pads": (1, 0, 2, 2), "dilations": (1, 1), "group": 1, "channels_last": 0}
    return b.op("Conv", x, b.constant(np.ones((24, 16, 3, 3), np.float32)), **attrs)


def conv_2x2(b: Builder, x: Value) -> Value:
    attrs = {"strides": (1, 1), "pads": (1, 0, 0, 1), "dilations": (1, 1), "group": 1, "channels_last": 0}
    return b.op("Conv", x, b.constant(np.ones((24, 16, 2, 2), np.float32)), **attrs)


def conv_1x3(b: Builder, x: Value) -> Value:
    return b.op(
        "Conv",
        x,
        b.constant(np.ones((24, 16, 1, 3), np.float32)),
        strides=(1, 1),
        dilations=(1, 1),
        pads=(0, 1, 0, 1),
        group=1,
        channels_last=0,
    )


def transposed(b: Builder, x: Value) -> Value:
    """18 x 19 outputs from positions 1 to 18 and 3 to 21 of the whole: of each phase 10 x 10 with one row left out."""
    attrs = {"strides": (2, 2), "pads": (1, 3, 3, 0), "dilations": (1, 1), "group": 1, "channels_last": 0}
    w = b.constant(np.ones((16, 24, 4, 4), np.float32))
    return b.op("ConvTranspose", x, w, **attrs, output_shape=(1, 24, 18, 19))


@pytest.mark.parametrize(
    ("build", "form", "executed"),
    [
        (conv_3x3, (2, 3), 5 * 5 * 16),
        (conv_3x3, (4, 3), 3 * 3 * 36),
        (strided_3x3, (3, 3), 2 * 2 * 49),
        (conv_1x3, (4, 3), 10 * 3 * 6),
        (conv_2x2, (3, 2), 4 * 4 * 16),
        (conv_2x2, (5, 2), 2 * 2 * 36),
        (transposed, (3, 2), 4 * 4 * 16 * 4),
        (transposed, (5, 2), 2 * 2 * 36 * 4),
    ],
)
def test_winograds_products_count_as_executed_and_as_the_convolution_they_stand_for(
    build: Callable[[Builder, Value], Value], form: tuple[int, int], executed: int
):
    b = Builder()
    assert_counts(b.graph([("y", build(b, b.input("x", "float32", (1, 16, 10, 10))))]), form, executed * 16 * 24)


def test_winograds_products_of_volumes_add_up_over_frames():
    """3 of 4 frames, in each 3 x 3 tiles."""
    b = Builder()
    attrs = {"strides": (1, 1, 1), "dilations": (1, 1, 1), "pads": (1, 1, 0, 0, 1, 1), "group": 1, "channels_last": 0}
    x, w = b.input("x", "float32", (1, 16, 4, 10, 10)), b.constant(np.ones((24, 16, 3, 3, 3), np.float32))
    assert_counts(b.graph([("y", b.op("Conv", x, w, **attrs))]), (4, 3), 3 * 3 * 3 * 36 * 3 * 16 * 24)


def assert_counts(plain: Graph, form: tuple[int, int], executed: int) -> None:
    """As what is written and what is executed."""
    full = winograd(add_layouts(plain))
    (last,) = (p for p in full.primitives if p.op == "WinogradOutput" and (p.attr("tile"), p.attr("kernel")) == form)
    (product,) = full.producers[last.inputs[0]]
    chain = (*full.producers[product.inputs[0]], product, last)
    to_last, to_first = sorted(filter(full.only_moves, full.primitives), key=lambda p: p.output == plain.outputs[0])
    steps = tuple(map(host_step, [to_last, *chain, to_first]))
    written = total(plain.primitives)
    assert counted(Plan(full, steps, as_written=written)) == {
        "as_written": written,
        "chosen": written,
        "executed": executed,
    }


@pytest.mark.parametrize(
    ("lengths", "pads", "tiles"),
    [
        ((80, 80), (0, 0, 0, 0), 5 * 5),
        ((75, 89), (3, 4, 2, 4), 5 * 6),
    ],
)
def test_blocks_count_as_executed_and_as_the_convolution_of_the_image(
    lengths: tuple[int, int], pads: tuple[int, ...], tiles: int
):
    b = Builder()
    x, w = b.input("x", "float32", (1, *lengths, 4)), b.constant(np.ones((3, 4, 9, 9), np.float32))
    attrs = {"strides": (1, 1), "pads": pads, "dilations": (1, 1), "group": 1, "channels_last": 1}
    plain = b.graph([("y", b.op("Conv", x, w, **attrs))])
    full = conv_in_blocks(plain)
    chain = [p for p in full.primitives if p.rule == "conv_in_blocks"]
    written = total(plain.primitives)
    found = counted(Plan(full, tuple(map(host_step, chain)), as_written=written))
    assert found == {"as_written": written, "chosen": written, "executed": tiles * 36 * 64 * 48}


@pytest.mark.parametrize("width", [20, 18])
@pytest.mark.parametrize("rewrite", [conv_in_strips, conv_in_squares], ids=lambda r: r.name)
def test_strips_multiply_zeros_that_count_as_executed_only(rewrite: Rewrite, width: int):
    b = Builder()
    x = b.input("x", "float32", (1, 9, width, 3))
    w = b.constant(np.ones((3, 3, 5, 5), np.float32))
    attrs = {"strides": (1, 1), "pads": (2, 2, 2, 2), "dilations": (1, 1), "group": 1, "channels_last": 1}
    plain = b.graph([("y", b.op("Conv", x, w, **attrs))])
    full = rewrite(plain)
    strips = [p for p in full.primitives if p.rule == rewrite.name]
    written = total(plain.primitives)
    found = counted(Plan(full, tuple(map(host_step, strips)), as_written=written))
    assert found == {"as_written": written, "chosen": written, "executed": total(strips)}
    assert total(strips) > 1.2 * written


def test_what_two_kernels_compute_is_executed_twice_and_chosen_once():
    b = Builder()
    x = b.input("x", "float32", (4, 8))
    m = x @ b.constant(np.ones((8, 2), np.float32))
    graph = b.graph([("y", b.op("Relu", m)), ("z", -m)])
    product, relu, neg = graph.primitives
    plan = Plan(graph, (host_step(product, relu), host_step(product, neg)), as_written=64)
    assert counted(plan) == {"as_written": 64, "chosen": 64, "executed": 128}


def test_choices_and_errors_are_told(plan: Plan):
    choices = (
        Choice("t1", ("winograd: WinogradOutput, F(4, 3)",), ("as written: Conv",), ("as written: Conv",), 5e-6),
        Choice("t2", ("as written: Relu",), ("channels_last: Relu",)),
        Choice("t3", ("as written: Add",), ("siblings: Add",), (), 2e-6, measured=False),
    )
    told = Accuracy("a", 2e-5, 1e-4, dropped=("t4 by low_rank: MatMul",))
    again = plan_from_json(plan_to_json(replace(plan, choices=choices, accuracy=told, as_written=7)), {})
    with Executable.link(again) as executable:
        result = explain(executable)
    text = str(result)
    assert "    t1  winograd: WinogradOutput, F(4, 3)  of 2  (next best offer: as written: Conv, +5.0 us)\n" in text
    assert "    t3  as written: Add  of 2  (next best offer: without it, at least +2.0 us)\n" in text
    assert "    where no other way fits what is around it: 1 as written: Relu\n" in text
    assert "error: 2.0e-05 of the largest magnitude at output 'a', 1.0e-04 allowed\n    without t4 by low_rank" in text
    assert result.to_json()["choices"][1]["won_by_us"] is None
    assert (again.choices, again.accuracy, again.as_written) == (choices, told, 7)


def test_each_kernel_has_its_share_of_the_squared_error(plan: Plan):
    steps = tuple(replace(s, error=e) for s, e in zip(plan.steps, (3e-6, 4e-6), strict=True))
    accuracy = Accuracy("b", 6e-6, 1e-4)
    with Executable.link(replace(plan, steps=steps, accuracy=accuracy)) as executable:
        result = explain(executable)
    assert [k.error_share for k in result.kernels] == pytest.approx([0.36, 0.64])
    lines = str(result).splitlines()
    assert "    estimated error 4.0e-06, 64.0% of the squared error" in lines
    assert any(line.endswith("1.0e-04 allowed; 5.0e-06 estimated for its loose primitives") for line in lines)
