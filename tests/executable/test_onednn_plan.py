"""A plan with oneDNN kernels links, runs, and comes back from its archive."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from korch.backends.libraries import find_library
from korch.errors import BackendError
from korch.executable.plan import Plan, Step
from korch.executable.runtime import Executable, load
from korch.ir import Builder, Cone, Value
from korch.ir.evaluate import evaluate_graph

from .small_plans import feeds_of


def two_convolutions() -> Plan:
    backend = pytest.importorskip("korch.backends.cpu.onednn.backend").BACKEND
    b, r = Builder(), np.random.default_rng(0)

    def conv(x: Value, name: str, shape: tuple[int, ...]) -> Value:
        w = b.constant(r.normal(size=shape).astype(np.float32), name=name)
        pad = shape[-1] // 2
        return b.op("Conv", x, w, strides=(1, 1), pads=(pad,) * 4, dilations=(1, 1), group=1, channels_last=0)

    y = conv(b.op("Relu", conv(b.input("x", "float32", (1, 16, 20, 20)), "w1", (32, 16, 3, 3))), "w2", (8, 32, 1, 1))
    g = b.graph([("y", y)])
    cones = [Cone.of(g.primitives[:2]), Cone.of(g.primitives[2:])]
    return Plan(g, tuple(Step.of(backend.build(c, 2)[0]) for c in cones), threads=2)


def test_onednn_kernels_in_a_program(tmp_path: Path) -> None:
    try:
        find_library("dnnl")
    except BackendError as e:
        pytest.skip(str(e))
    plan = two_convolutions()
    feeds = feeds_of(plan)
    with Executable.link(plan) as e:
        y = e.run(feeds)["y"]
        e.save(tmp_path / "m.korch")
    exact = evaluate_graph(plan.graph, feeds)["y"]
    assert np.abs(y - exact).max() < 1e-6 * np.abs(exact).max() * 16
    with load(tmp_path / "m.korch") as e:
        assert e.run(feeds)["y"].tobytes() == y.tobytes()
