"""Plans at modelled costs: proved, honest about what they are, within the numerics as far as an emulation tells."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import numpy_helper

from korch.backends.contract import Kernel, Launch, Triton, Variant
from korch.backends.cuda.triton.compile import CompiledLaunch
from korch.devices import Device, device_named
from korch.errors import SolverError
from korch.executable import Plan
from korch.ir import Cone, Primitive, Tensor
from korch.optimize import Summary, optimized
from korch.options import Options
from korch.targets import gpu
from korch.targets.gpu import unfit

from .fake_gpu import H200, TILE, pretend, texts

MLP = """
<ir_version: 8, opset_import: ["": 17]>
mlp (float[512,1024] x) => (float[512,256] y) {
  a = MatMul(x, w)  b = Relu(a)  c = MatMul(b, v)  y = Softmax<axis=1>(c) }
"""


def mlp() -> onnx.ModelProto:
    model = onnx.parser.parse_model(MLP)
    r = np.random.default_rng(0)
    for name, shape in (("w", (1024, 512)), ("v", (512, 256))):
        w = r.standard_normal(shape).astype(np.float32) / np.float32(np.sqrt(shape[0]))
        model.graph.initializer.append(numpy_helper.from_array(w, name))
    return model


@pytest.fixture(autouse=True)
def nothing_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KORCH_CACHE_DIR", str(tmp_path / "cache"))
    pretend(monkeypatch)


def planned(numerics: str = "default", device: str = "H100") -> tuple[Plan, Summary]:
    options = Options(0, 20.0, numerics, target="cuda", costs="model", device=device)
    executable, summary, _ = optimized(mlp(), options, lambda state: None)
    return executable.plan, summary


def precisions(plan: Plan) -> list[str]:
    return [s.kernel.variant.precision for s in plan.steps if s.kernel.cone.linear]


def test_the_plan_is_proved_and_says_that_costs_are_modelled():
    plan, summary = planned("strict")
    assert plan.gap == 0.0 and plan.modelled and plan.target == "cuda"
    assert texts(plan) == {
        "target": "cuda",
        "device": "H100",
        "costs": "model",
        "numerics": "strict",
        "time_budget": "20",
    }
    assert summary.measured == 0 and summary.actual_ms is None
    assert (summary.target, summary.device, summary.costs) == ("cuda", "H100", "model")
    assert plan.predicted_seconds == pytest.approx(sum(s.cost for s in plan.steps)) and plan.threads == 132
    assert set(precisions(plan)) == {"ieee"}
    assert len(plan.steps) < 7, "a Relu is fused into its product"


def test_planning_again_gives_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    first, _ = planned()
    monkeypatch.setenv("KORCH_CACHE_DIR", str(tmp_path / "other"))
    second, _ = planned()
    assert str(first) == str(second)


def test_a_plan_is_recalled_for_the_same_device_only():
    first, _ = planned(device="H100")
    again, _ = planned(device="h100")
    other, _ = planned(device="A100")
    assert str(first) == str(again) != str(other)


def test_precisions_that_err_too_much_are_done_without():
    """By an emulation: TF32 is allowed, but two products in it miss what `default` asks for."""
    fast, loose = planned("fast")
    plan, summary = planned("default")
    assert set(precisions(fast)) <= {"tf32", "fp16"} and loose.error_bound == 1e-3
    assert summary.error_bound and summary.error <= summary.error_bound == 1e-4
    assert "ieee" in precisions(plan)
    assert 1e-4 < loose.error < 1e-3


def test_what_does_not_compile_is_done_without(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []

    def too_large(kernels: Sequence[Kernel], device: Device) -> list[Kernel]:
        asked.append(device.arch)
        return [k for k in kernels if k.variant.numbers == (TILE, TILE)]

    before, _ = planned("strict")
    monkeypatch.setattr(gpu, "unfit", too_large)
    after, _ = planned("strict", "H200")
    assert (TILE, TILE) in {s.kernel.variant.numbers for s in before.steps}
    assert {s.kernel.variant.numbers for s in after.steps if s.kernel.cone.linear} == {(2 * TILE, 2 * TILE)}
    assert len(asked) > 1 and asked[0] == "sm_90" and after.gap == 0.0


def test_an_operator_that_no_gpu_takes_is_named_with_the_way_out():
    """At once, and nobody is sent to install a runtime that has no part in programs for GPUs."""
    text = '<ir_version: 8, opset_import: ["": 17]> m (float[3,4,4] x) => (float[3] y) { a = Relu(x) y = Det(a) }'
    options = Options(0, 20.0, target="cuda", costs="model", device="H100")
    with pytest.raises(SolverError, match=r"Det.*toy: is no toy.*--target cpu") as found:
        optimized(onnx.parser.parse_model(text), options, lambda state: None)
    assert "install" not in str(found.value)


def test_the_device_is_that_of_this_machine_where_none_is_named(monkeypatch: pytest.MonkeyPatch):
    pretend(monkeypatch, (H200,))
    _, summary = planned(device="")
    assert summary.device == "H200"


class Pool:
    """Compiles anything to a binary of so much shared memory."""

    def __init__(self, shared: int) -> None:
        self.shared = shared

    def __call__(self, jobs: int) -> Pool:
        return self

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def submit(self, *_: object) -> Future[tuple[CompiledLaunch, ...]]:
        done = Future[tuple[CompiledLaunch, ...]]()
        done.set_result((CompiledLaunch("f", b"", "f", self.shared, 4, 2),))
        return done


def test_what_does_not_fit_a_device_is_refused(monkeypatch: pytest.MonkeyPatch):
    x, y = Tensor("x", "float32", (4,)), Tensor("y", "float32", (4,))
    body = Triton("", (Launch("f", (1, 1, 1), (0, 1)),))
    kernel = Kernel(Cone.of([Primitive("Relu", (x,), y)]), "toy", Variant(), body)
    monkeypatch.setattr(gpu, "compilers", Pool(200 << 10))
    assert unfit([kernel], device_named("A100")) == [kernel] and not unfit([kernel], device_named("H100"))
