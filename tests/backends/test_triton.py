"""Generated Triton, interpreted, against the float64 reference; compiled for devices that are not there."""

from __future__ import annotations

import timeit
from concurrent.futures import Executor
from dataclasses import replace

import numpy as np
import pytest
from tests.marks import Part, parts

from korch.backends.contract import Kernel, Refusal
from korch.devices import device_named
from korch.ir import Builder, Cone, Value

from .cones import CONES, DEPTHWISE, Build, cone_of, depthwise, pad, random_cone, sliced
from .interpreted import built, compilations, failures, output, wrong

pytest.importorskip("triton")

from korch.backends.cuda.triton.backend import BACKEND

H200 = device_named("H200")
FEW = 4
"""Multiprocessors: so few that small tensors keep them busy, so that blocks are as large as ever."""

LARGE = 1 << 16
"""Elements of windows whose interpretation takes a minute."""


def turned(perm: tuple[int, ...]) -> Build:
    return lambda b, x: b.op("Exp", b.op("Transpose", x, perm=perm))


def shuffled(b: Builder, x: Value) -> Value:
    """Channels of two groups, interleaved."""
    n, c, h, w = x.shape
    x = b.op("Transpose", b.op("Reshape", x, shape=(n, 2, c // 2, h, w)), perm=(0, 2, 1, 3, 4))
    return b.op("Relu", b.op("Reshape", x, shape=(n, c, h, w)))


def padded_twice(b: Builder, x: Value) -> Value:
    x = b.op("Pad", x, pads=(1, 0, 2, 1), mode="constant", value=0.5)
    return b.op("Pad", b.op("Exp", x), pads=(0, 3, 2, 0), mode="constant", value=-1.0)


def unlike_reshapes(b: Builder, x: Value) -> Value:
    """Positions that no axes have in common."""
    y = b.op("Reshape", x + b.input("a", "float32", (4,)), shape=(8, 3))
    return b.op("Transpose", y * b.input("b", "float32", (3,)), perm=(1, 0))


MAPS = {
    "one": cone_of(lambda b, x: b.op("Exp", x), (1, 1)),
    "prime": cone_of(lambda b, x: b.op("Exp", x), (4099,)),
    "columns": cone_of(lambda b, x, y: x * y, (37, 5, 129), (37, 1, 1)),
    "rows": cone_of(lambda b, x, y: x * y, (37, 5, 129), (129,)),
    "outer": cone_of(lambda b, x, y: x - y, (53, 1), (1, 67)),
    "turned": cone_of(turned((1, 0)), (131, 67)),
    "turned batches": cone_of(turned((0, 2, 1)), (3, 100, 36)),
    "turned far": cone_of(turned((2, 1, 0)), (17, 19, 23)),
    "turned thin": cone_of(turned((1, 0)), (5, 1000)),
    "turned and padded": cone_of(
        lambda b, x: b.op("Pad", turned((0, 2, 1))(b, x), pads=(0, 1, 0, 0, 2, 3), mode="edge", value=0.0), (2, 40, 33)
    ),
    "shuffled": cone_of(shuffled, (2, 6, 5, 7)),
    "padded twice": cone_of(padded_twice, (7, 9)),
    "cut short": cone_of(pad("constant"), (1, 2, 3, 4)),
    "unlike reshapes": cone_of(unlike_reshapes, (6, 4)),
    "backwards": cone_of(sliced((6, 99), (-2, -3), (3, 33)), (7, 100)),
    "bytes": cone_of(lambda b, x: b.op("Cast", x, to="int8"), (301,)),
    "truth": cone_of(lambda b, x: b.op("Not", b.op("Less", x, 0.0)), (301,)),
    "truth read": cone_of(lambda b, x: b.op("Cast", b.op("Not", x), to="float32"), (301,), dtype="bool"),
    "remainders": cone_of(lambda b, x, y: b.op("Mod", x, y, fmod=0) + x / y, (99,), (99,), dtype="int32"),
}


def kernels_of_all() -> dict[str, Kernel]:
    depth = {f"depthwise {i}": c for i, c in enumerate(DEPTHWISE) if c.root.size < LARGE}
    return built(BACKEND, CONES | MAPS | depth, FEW) | built(BACKEND, MAPS, H200.multiprocessors)


@pytest.mark.parametrize("part", parts(16), ids=str)
def test_conformance(part: Part, compiling: Executor):
    kernels = part.named(kernels_of_all())
    asked = compilations(compiling, kernels)
    assert not wrong(kernels)
    assert not failures(asked)


@pytest.mark.parametrize("part", parts(5), ids=str)
def test_random_cones(part: Part, compiling: Executor):
    cones = {f"seed {seed}": random_cone(seed) for seed in part(range(100, 140))}
    kernels = built(BACKEND, cones, FEW)
    asked = compilations(compiling, kernels)
    assert not wrong(kernels)
    assert not failures(asked)


def test_what_is_wrong_is_found():
    (kernel, *_) = BACKEND.build(CONES["gelu"], FEW)
    (name, *_) = wrong(
        {"sine": replace(kernel, body=replace(kernel.body, source=kernel.source.replace("tl.erf", "tl.sin")))}
    )
    assert name == "sine"
    unwritten = [replace(launch, grid=(1, 1, 1)) for launch in kernel.launches]
    assert (
        "nan instead of"
        in wrong({"short": replace(kernel, body=replace(kernel.body, launches=tuple(unwritten)))})["short"]
    )


def test_extremes_are_nan_where_one_value_is():
    cone = cone_of(lambda b, x, y: b.op("Max", b.op("Min", x, y), 0.0), (70,), (70,))
    x, y = np.ones((2, 70), np.float32)
    x[3], y[5] = np.nan, np.nan
    leaves = [{"x0": x, "x1": y}.get(t.name, np.float32(0)) for t in cone.leaves]
    (kernel,) = BACKEND.build(cone, FEW)
    root = output(kernel, leaves)
    assert np.flatnonzero(np.isnan(root)).tolist() == [3, 5]


def test_indices_outside_of_an_axis_mean_its_nearest_element():
    b = Builder()
    y = b.op("Take", b.input("x", "float32", (5, 40)), b.input("i", "int64", (4,)), axis=0, batch=0)
    cone = Cone.of(b.graph([("y", y)]).primitives)
    x, i = np.arange(200, dtype=np.float32).reshape(5, 40), np.array([-99, -1, 4, 2**40])
    for kernel in BACKEND.build(cone, FEW):
        root = output(kernel, [x, i])
        assert (root == x[[0, 4, 4, 4]]).all()


def test_refusals_say_why():
    def reason(cone: Cone) -> str:
        refusal = BACKEND.refuses(cone)
        assert isinstance(refusal, Refusal)
        return refusal.reason

    assert "without elements" in reason(cone_of(lambda b, x: b.op("Exp", x), (0, 4)))
    assert "2^31" in reason(cone_of(lambda b, x: b.op("Exp", x), (1 << 16, 1 << 16)))
    assert "float16" in reason(cone_of(lambda b, x: b.op("Exp", x), (4,), dtype="float16"))
    assert "taps" in reason(depthwise((1, 30, 30, 8), (9, 9)))


def test_a_refusal_is_quick():
    cone = CONES["instance norm pad"]
    assert min(timeit.repeat(lambda: BACKEND.refuses(cone), number=20, repeat=5)) / 20 < 1e-3


def test_a_view_runs_nothing_and_is_bound_by_nothing():
    cone = cone_of(lambda b, x: b.op("Reshape", x, shape=(20,)), (4, 5))
    (kernel,) = BACKEND.build(cone, FEW)
    assert kernel.alias and not kernel.launches and BACKEND.bound(cone, H200.machine) == 0.0


def test_a_bound_is_what_memory_takes():
    cone = cone_of(lambda b, x: b.op("Relu", x), (1 << 28,))
    assert BACKEND.bound(cone, H200.machine) == pytest.approx(8 * (1 << 28) / 4.8e12)


def test_equal_cones_have_equal_kernels():
    assert BACKEND.build(CONES["softmax last"], 132) == BACKEND.build(CONES["softmax last"], 132)


def test_numerics_are_passed_on():
    assert BACKEND.under("strict").precisions == ("ieee",)
    assert BACKEND.version.startswith("3 triton ")


def test_transposed_maps_are_computed_in_tiles():
    (first, *_) = BACKEND.build(MAPS["turned"], 132)
    assert first.variant.stages[0].variant.form == "t{}x{} w{}"
