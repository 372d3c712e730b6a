"""Quantized programs are judged step by step where their outputs cannot tell right from wrong."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

import korch
from korch.backends.cpu.loops.backend import BACKEND
from korch.executable import Executable, Plan, Step
from korch.executable.by_step import MOST_BYTES, exposed, rounds_to_bytes, wrong_step
from korch.fission import fission
from korch.fission.importer import read
from korch.ir import Cone, Graph
from korch.ir.ops.table import Array
from korch.numerics.judge import Judge
from korch.numerics.verdict import Verdict
from korch.report import verify as verifying
from korch.report.verify import OutputCheck, Verification, verify

MODEL = """<ir_version: 8, opset_import: ["": 17]>
g (float[4,16] x) => (float[4,8] y, uint8[4,16] codes)
<float scale = {0.05}, uint8 zero = {120}, float half = {0.5}, float[16,8] w = {WEIGHTS}>
{ codes = QuantizeLinear(x, scale, zero) d = DequantizeLinear(codes, scale, zero) m = MatMul(d, w)
  again = QuantizeLinear(m, half, zero) e = DequantizeLinear(again, half, zero) y = Relu(e) }
"""
RNG = np.random.default_rng(0)
FEEDS = {"x": RNG.standard_normal((4, 16), dtype=np.float32)}


def model() -> onnx.ModelProto:
    weights = ", ".join(f"{w:.3f}" for w in RNG.standard_normal(16 * 8))
    return onnx.parser.parse_model(MODEL.replace("WEIGHTS", weights))


def plan_of(graph: Graph) -> Plan:
    """A kernel for each primitive."""
    kernels = [BACKEND.build(Cone.of([p]), 1)[0] for p in graph.primitives]
    return Plan(graph, tuple(Step.of(kernel, 1e-6) for kernel in kernels))


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_of(fission(read(model())))


@pytest.fixture(scope="module")
def values(plan: Plan) -> dict[str, Array]:
    with Executable.link(exposed(plan)) as program:
        return {**FEEDS, **program.run(FEEDS)}


def test_all_that_steps_make_is_there(plan: Plan, values: dict[str, Array]):
    assert set(values) == {"x", *(s.writes.name for s in plan.steps)}
    with Executable.link(plan) as program:
        for name, t in zip(plan.graph.output_names, plan.graph.outputs, strict=True):
            np.testing.assert_array_equal(program.run(FEEDS)[name], values[t.name])


def test_steps_of_a_right_program_are_right(plan: Plan, values: dict[str, Array]):
    assert rounds_to_bytes(plan) and wrong_step(plan, values) == ""


@pytest.mark.parametrize("change, reason", [(1, "differ"), (2, "bytes are 2 apart")])
def test_bytes_that_no_rounding_explains_are_wrong(plan: Plan, values: dict[str, Array], change: int, reason: str):
    codes = next(t for t in plan.graph.outputs if t.dtype == "uint8")
    wrong = wrong_step(plan, values | {codes.name: values[codes.name] + np.uint8(change)})
    assert wrong.startswith(f"step {codes.name}: ") and reason in wrong


def test_one_byte_at_a_tie_is_right(plan: Plan, values: dict[str, Array]):
    """Whatever follows is compared with what this byte gives, not with the other one."""
    codes = next(t for t in plan.graph.outputs if t.dtype == "uint8")
    end = 1 + next(i for i, s in enumerate(plan.steps) if s.writes == codes)
    (kernel,) = BACKEND.build(Cone.of(plan.graph.primitives[:end]), 1)
    fused = replace(plan, steps=(Step.of(kernel, 1e-6), *plan.steps[end:]))
    fallen = values[codes.name].copy()
    fallen[0, 0] += 1
    wrong = wrong_step(fused, values | {codes.name: fallen})
    assert wrong.startswith(f"step {plan.steps[end].writes.name}: "), "which has not seen the byte"


@pytest.mark.parametrize("name", ["mul", "mat_mul"])
def test_floats_are_right_within_roundings(plan: Plan, values: dict[str, Array], name: str):
    step = next(s for s in plan.steps if s.kernel.cone.primitives[-1].op.lower() == name.replace("_", ""))
    wrong = wrong_step(plan, values | {step.writes.name: values[step.writes.name] * np.float32(1.001)})
    assert wrong.startswith(f"step {step.writes.name}: wrong at")


def test_constants_of_one_element_have_their_shape():
    """One that is put beside another tensor."""
    text = """<ir_version: 8, opset_import: ["": 17]> g (float[4] x) => (float[5] y) <float[1] c = {2.5}>
    { y = Concat<axis=0>(x, c) }"""
    plan, x = plan_of(fission(read(onnx.parser.parse_model(text)))), np.arange(4, dtype=np.float32)
    assert wrong_step(plan, {"x": x, plan.steps[0].writes.name: np.append(x, np.float32(2.5))}) == ""
    assert wrong_step(plan, {"x": x, plan.steps[0].writes.name: np.append(x, np.float32(2.6))})


def test_programs_of_floats_are_not_judged_so():
    text = '<ir_version: 8, opset_import: ["": 17]> g (float[4] x) => (float[4] y) { r = Round(x) y = Exp(r) }'
    assert not rounds_to_bytes(plan_of(fission(read(onnx.parser.parse_model(text)))))


def test_what_no_memory_holds_is_not_judged_so(plan: Plan, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("korch.executable.by_step.MOST_BYTES", MOST_BYTES >> 30)
    assert not rounds_to_bytes(plan)


@pytest.mark.parametrize("bound, passes", [(None, True), (0.05, True), (1e-4, False)])
def test_verification_takes_the_verdict_of_steps_where_outputs_cannot_tell(
    plan: Plan, bound: float | None, passes: bool, monkeypatch: pytest.MonkeyPatch
):
    """Where onnxruntime errs as much: not where the numerics' own bound is missed."""
    result = Verification("default", (OutputCheck("y", 0.5, 0.1, 0.1, bound),))
    monkeypatch.setattr(verifying, "_compared", lambda *_: result)
    with Executable.link(plan) as program:
        found = verify(program, model())
    assert found.by_step == found.passed == passes and found.to_json()["by_step"] == passes
    if passes:
        found.require()


@pytest.mark.slow
@pytest.mark.parametrize("right", [True, False])
def test_a_search_takes_the_verdict_of_steps(
    right: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setenv("KORCH_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(Judge, "verdict", lambda *_: Verdict("y", 0.5, None, "nobody can tell"))
    if not right:
        monkeypatch.setattr("korch.search.model.first_wrong", lambda *_: "step y: wrong")
    with caplog.at_level(logging.INFO), korch.optimize(model(), threads=1, time_budget=1) as program:
        accuracy = program.plan.accuracy
    assert accuracy and accuracy.by_step == accuracy.passed == right
    assert ("step y: wrong" in caplog.text) != right
