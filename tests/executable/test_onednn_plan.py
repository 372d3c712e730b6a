"""A plan with oneDNN kernels links, runs, comes back from its archive, and takes the library along where it goes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from korch.backends import libraries
from korch.backends.cpu.c import Code, Function, run_function
from korch.backends.cpu.onednn import install
from korch.backends.cpu.onednn.backend import BACKEND
from korch.errors import ArchiveError, BackendError, Error
from korch.executable.plan import Plan, Step
from korch.executable.runtime import Executable, load
from korch.ir import Builder, Cone, Value
from korch.ir.evaluate import evaluate_graph

from .small_plans import feeds_of

pytestmark = pytest.mark.onednn

RUN = """
import os, sys
import numpy as np

if sys.argv[4:]:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # where OMP_DYNAMIC starts no second thread

import korch

with korch.load(sys.argv[1]) as e:
    y = np.full(e.outputs[0].shape, np.nan, np.float32)
    np.save(sys.argv[3], e.run({"x": np.load(sys.argv[2])}, {"y": y})["y"])
"""


def two_convolutions() -> Plan:
    b, r = Builder(), np.random.default_rng(0)

    def conv(x: Value, name: str, shape: tuple[int, ...]) -> Value:
        w = b.constant(r.normal(size=shape).astype(np.float32), name=name)
        pad = shape[-1] // 2
        return b.op("Conv", x, w, strides=(1, 1), pads=(pad,) * 4, dilations=(1, 1), group=1, channels_last=0)

    y = conv(b.op("Relu", conv(b.input("x", "float32", (1, 16, 20, 20)), "w1", (32, 16, 3, 3))), "w2", (8, 32, 1, 1))
    g = b.graph([("y", y)])
    cones = [Cone.of(g.primitives[:2]), Cone.of(g.primitives[2:])]
    return Plan(g, tuple(Step.of(BACKEND.build(c, 2)[0]) for c in cones), threads=2)


def one_product() -> Plan:
    b, r = Builder(), np.random.default_rng(0)
    w = b.constant(r.normal(size=(512, 1024)).astype(np.float32), name="w")
    g = b.graph([("y", b.op("MatMul", b.input("x", "float32", (8, 512)), w))])
    return Plan(g, (Step.of(BACKEND.build(Cone.of(g.primitives), 2)[0]),), threads=2)


def assert_near(y: np.ndarray, plan: Plan, feeds: dict[str, np.ndarray]) -> None:
    exact = evaluate_graph(plan.graph, feeds)["y"]
    assert np.abs(y - exact).max() < 1e-6 * np.abs(exact).max() * 16


def test_onednn_kernels_in_a_program(tmp_path: Path) -> None:
    plan = two_convolutions()
    feeds = feeds_of(plan)
    with Executable.link(plan) as e:
        y = e.run(feeds)["y"]
        e.save(tmp_path / "m.korch")
    assert_near(y, plan, feeds)
    with load(tmp_path / "m.korch") as e:
        assert e.run(feeds)["y"].tobytes() == y.tobytes()


@pytest.mark.parametrize(("name", "value"), [("OMP_THREAD_LIMIT", "1"), ("OMP_DYNAMIC", "true")])
def test_where_openmp_would_start_fewer_threads_all_is_written(tmp_path: Path, name: str, value: str) -> None:
    """oneDNN gives each thread that it may ask for a part, whether that thread comes or not."""
    plan = one_product()
    feeds = feeds_of(plan)
    with Executable.link(plan) as e:
        archive = e.save(tmp_path / "m.korch")
    np.save(tmp_path / "x.npy", feeds["x"])
    command = [sys.executable, "-c", RUN, archive, tmp_path / "x.npy", tmp_path / "y.npy"]
    subprocess.run(
        [*command, *(["one processor"] if name == "OMP_DYNAMIC" else [])], env={**os.environ, name: value}, check=True
    )
    assert_near(np.load(tmp_path / "y.npy"), plan, feeds)


def with_run(plan: Plan, run: Function) -> Plan:
    """The plan with another function that runs each kernel."""

    def changed(code: Code) -> Code:
        return replace(code, declarations=(*(d for d in code.declarations if d != code.functions["run"]), run))

    steps = (replace(s, kernel=replace(s.kernel, body=changed(s.kernel.code))) for s in plan.steps if s.kernel.code)
    return replace(plan, steps=tuple(steps))


def test_a_call_that_fails_is_an_error_of_that_run() -> None:
    breaks = "if (*(const float *)in[0] == 7) ((korch_dnnl_state *)state)->arg_count = 0;"
    plan = with_run(one_product(), run_function(False, (breaks, "korch_dnnl_run(state, in, out);")))
    feeds = feeds_of(plan)
    with Executable.link(plan) as e:
        assert_near(e.run(feeds)["y"], plan, feeds)
        feeds["x"][0, 0] = 7
        for _ in range(2):
            with pytest.raises(Error, match=r"the library that runs step 0 \(\w+\) failed: status 2"):
                e.run(feeds)


def test_an_export_finds_the_library_beside_itself(tmp_path: Path) -> None:
    with Executable.link(one_product()) as e:
        e.export(tmp_path / "exported")
    shutil.move(tmp_path / "exported", tmp_path / "moved")
    script = "import ctypes, sys; ctypes.CDLL(sys.argv[1]); print(open('/proc/self/maps').read())"
    environment = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
    command = [sys.executable, "-c", script, tmp_path / "moved" / "libmodel.so"]
    maps = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"\S+/libdnnl\S+", maps)) == {str((tmp_path / "moved" / "libdnnl.so.3").resolve())}


def test_an_archive_needs_no_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Executable.link(one_product()) as e:
        archive = e.save(tmp_path / "m.korch")
    monkeypatch.setattr(install, "HEADERS", "no-such-distribution")
    install.find.cache_clear()
    libraries.find_library.cache_clear()
    with pytest.raises(BackendError, match="oneDNN is not installed"):
        libraries.find_library("dnnl")
    with load(archive) as e:
        feeds = feeds_of(e.plan)
        assert_near(e.run(feeds)["y"], e.plan, feeds)


def test_an_archive_whose_library_is_gone_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Executable.link(one_product()) as e:
        archive = e.save(tmp_path / "m.korch")
    monkeypatch.setattr(libraries, "HERE", tmp_path)
    libraries._install.cache_clear()  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(ArchiveError, match=r"^cannot load what the compiled program calls: no backend provides"):
        load(archive)
