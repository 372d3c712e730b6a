"""KORCH_GUARD: a kernel that goes beyond its memory ends the process, and what nobody wrote is seen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.by_hand import by_hand, code

from korch.executable.plan import Plan
from korch.executable.runtime import Executable
from korch.ir import Builder

from .small_plans import chain, feeds_of, native, plan_of

ROOT = Path(__file__).parents[2]
BEYOND = "from tests.executable.test_guard import run; run({at})"
SIZE = 160
"""Elements of the intermediate result: as many as its place in the arena has room for."""


def writing(at: int) -> Plan:
    """A first kernel that writes element `at` of its result last; the second one is right."""
    b = Builder()
    v = b.op("Neg", b.input("x", "float32", (SIZE,)))
    graph = b.graph([("y", b.op("Relu", v))])
    body = f"const float *x = in[0]; float *y = out; for (int i = 0; i < {SIZE}; ++i) y[i] = -x[i]; y[{at}] = 0;"
    return plan_of(graph, lambda p: by_hand(native(p).cone, code(body)) if p.op == "Neg" else native(p), threads=1)


def run(at: int) -> None:
    plan = writing(at)
    with Executable.link(plan) as e:
        e.run(feeds_of(plan))


@pytest.mark.parametrize("at", [SIZE - 1, SIZE, -1])
def test_memory_ends_where_a_guard_begins(at: int):
    """The last element is in it, the next one not; nor the last one of the page before, where it begins a page."""
    variables = {**os.environ, "KORCH_GUARD": "1"}
    element = at if at >= 0 else -(4096 // 4)
    done = subprocess.run([sys.executable, "-c", BEYOND.format(at=element)], cwd=ROOT, env=variables)
    assert done.returncode == (0 if at == SIZE - 1 else -signal.SIGSEGV)


@pytest.mark.parametrize("guarded", [False, True])
def test_results_are_the_same(guarded: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KORCH_GUARD", "01"[guarded])
    plan = chain()
    with Executable.link(plan) as e:
        found = e.run(feeds_of(plan))["y"]
    monkeypatch.delenv("KORCH_GUARD")
    with Executable.link(plan) as e:
        np.testing.assert_array_equal(found, e.run(feeds_of(plan))["y"])


def test_what_nobody_wrote_is_no_number(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KORCH_GUARD", "1")
    b = Builder()
    graph = b.graph([("y", b.op("Neg", b.input("x", "float32", (4,))))])
    half = "const float *x = in[0]; float *y = out; for (int i = 0; i < 2; ++i) y[i] = -x[i];"
    with Executable.link(plan_of(graph, lambda p: by_hand(native(p).cone, code(half)), threads=1)) as e:
        for _ in range(2):
            np.testing.assert_array_equal(e.run({"x": np.ones(4, np.float32)})["y"], [-1, -1, np.nan, np.nan])
