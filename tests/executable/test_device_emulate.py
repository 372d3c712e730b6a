"""Device plans run on the host, in every order that their schedule allows, and give the reference's values."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from korch.executable.cuda.layout import DeviceLayout
from korch.executable.cuda.schedule import schedule
from korch.executable.memory import Room
from korch.executable.plan import Plan
from korch.ir import Builder, Primitive
from korch.ir.evaluate import evaluate_graph

from .device_plans import called, device_plan, prepared_kernel, random_plan, reference
from .emulator import Emulator
from .small_plans import feeds_of, plan_of


def assert_right(plan: Plan, spacious: int, seeds: range) -> None:
    emulator = Emulator(plan, schedule(plan, spacious), reference)
    feeds = feeds_of(plan)
    expected = evaluate_graph(plan.graph, feeds, precision="float32")
    for seed in seeds:
        for name, y in emulator.run(feeds, seed).items():
            np.testing.assert_array_equal(y, expected[name])
            assert y.shape == expected[name].shape


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("spacious", [0, 1 << 30])
def test_any_order_gives_the_references_values(seed: int, spacious: int) -> None:
    assert_right(random_plan(seed), spacious, range(4))


def test_a_missing_edge_shows() -> None:
    """The layout of one order, run in the order of another: the test of this file's own eyes."""
    wrong = 0
    for seed in range(30):
        plan = random_plan(seed)
        tight, free = schedule(plan, 0), schedule(plan)
        emulator = Emulator(plan, replace(tight, lanes=free.lanes), reference)
        feeds = feeds_of(plan)
        expected = evaluate_graph(plan.graph, feeds, precision="float32")
        found = [emulator.run(feeds, s) for s in range(5)]
        wrong += any(not np.array_equal(f[n], y) for f in found for n, y in expected.items())
    assert wrong > 3


def test_what_is_prepared_is_made_once_and_lies_behind_the_leaves() -> None:
    b = Builder()
    x = b.input("x", "float32", (3, 5))
    w = b.constant(np.arange(15, dtype=np.float32).reshape(3, 5), name="w")
    y = (x + w) + w
    plan = plan_of(b.graph([("y", y)]), prepared_kernel)
    seen = []
    Emulator(plan, run=lambda kernel, buffers: seen.append(buffers)).run(feeds_of(plan))
    layout = DeviceLayout(plan, schedule(plan).memory)
    assert len(layout.prepared) == 2 and len(seen) == 2
    for buffers in seen:
        np.testing.assert_array_equal(buffers[3], np.arange(15).reshape(3, 5).T)
        assert buffers[3].dtype == np.float16 and list(buffers[4]) == [3, 4]
    assert layout.total == sum(layout.sizes.values())


def test_weights_that_no_launch_reads_take_nothing() -> None:
    from korch.backends.contract import Kernel, Launch, Triton

    b = Builder()
    w = b.constant(np.ones((3, 5), np.float32), name="w")
    graph = b.graph([("y", b.input("x", "float32", (3, 5)) + w)])

    def launched(p: Primitive) -> Kernel:
        kernel = prepared_kernel(p)
        return replace(kernel, body=Triton("", (Launch("f", (1, 1, 1), (0, 2, 3)),), kernel.prepared))

    plan = plan_of(graph, launched)
    layout = DeviceLayout(plan, schedule(plan).memory)
    assert layout.sizes[Room.WEIGHTS] == 0 and layout.steps[0][1].buffer.nbytes == 0
    assert DeviceLayout(plan_of(graph, called), schedule(plan).memory).sizes[Room.WEIGHTS] == 256


def test_outputs_that_are_inputs_constants_aliases_and_repeats() -> None:
    b = Builder()
    x = b.input("x", "float32", (5, 3))
    c = b.constant(np.arange(15, dtype=np.float32).reshape(5, 3), name="c")
    y = b.op("Relu", x + c)
    outputs = [
        ("same", x),
        ("flat_x", b.op("Reshape", x, shape=(15,))),
        ("c", c),
        ("y", y),
        ("flat_c", b.op("Reshape", c, shape=(15,))),
        ("flat_y", b.op("Reshape", y, shape=(3, 5))),
        ("y_again", y),
    ]
    assert_right(device_plan(b.graph(outputs)), 0, range(2))


def test_empty_and_scalar_tensors() -> None:
    b = Builder()
    empty, one = b.input("e", "float32", (0, 4)), b.input("s", "float32", ())
    assert_right(device_plan(b.graph([("e2", b.op("Relu", empty)), ("s2", b.op("Neg", one))])), 0, range(1))


INTERPRETED = """
import numpy as np
from tests.executable.emulator import Emulator
from korch.ir.evaluate import evaluate_graph
from tests.executable.small_plans import feeds_of
from tests.executable.test_device_runtime import triton_plan

plan = triton_plan()
feeds = feeds_of(plan)
found = Emulator(plan).run(feeds)
for name, y in evaluate_graph(plan.graph, feeds, precision="float32").items():
    np.testing.assert_array_equal(found[name], y)
"""


@pytest.mark.slow
def test_functions_of_triton_are_interpreted() -> None:
    """In a process of its own: Triton must know before it is imported."""
    pytest.importorskip("triton")
    root = Path(__file__).parents[2]
    path = os.pathsep.join((str(root / "src"), str(root)))
    done = subprocess.run(
        [sys.executable, "-c", INTERPRETED],
        capture_output=True,
        text=True,
        env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": path},
    )
    assert not done.returncode, done.stderr
