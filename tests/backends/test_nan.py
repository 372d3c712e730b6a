"""NaN in, NaN out: in every form of kernel, wherever the reference, which is numpy's, has it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import korch.backends.cpu.onednn.backend as onednn
import korch.backends.cpu.scatter.backend as scatter
from korch.backends.contract import Backend
from korch.backends.cpu.loops.backend import BACKEND
from korch.errors import BackendError
from korch.ir import Builder, Cone, Value
from korch.ir.ops.table import Category

from .cones import CONES, Build, cone_of, pool, softmax, total
from .measured import THREADS
from .ran import Library, forgotten, poisoned
from .test_onednn import ACTIVATED

EXTREMES = ("ReduceMax", "ReduceMin", "ArgMax", "ArgMin", "Max", "Min")
SHAPES = ((1, 1, 1), (4, 1, 3), (1, 9, 1), (3, 5, 7), (2, 17, 33), (5, 64, 2), (1, 40_000, 1), (3, 40, 300))


def arg(op: str, axis: int, last: int) -> Build:
    return lambda b, x: b.op(op, x, axis=axis, keepdims=0, select_last_index=last)


def clipped(b: Builder, x: Value) -> Value:
    return b.op("Min", b.op("Max", x, -0.5), 0.5)


def scattered(reduction: str) -> Build:
    def build(b: Builder, x: Value, u: Value) -> Value:
        places = b.input("places", "int64", (u.shape[0], 1))
        return b.op("Scatter", x, places, u, axis=0, length=x.shape[0], reduction=reduction)

    return build


REDUCED: dict[str, Cone] = {
    f"{op} of {shape} by {axes} {dtype}": cone_of(total(axes, 0, op), shape, dtype=dtype)
    for dtype, ops in (("float32", ("ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd")), ("float64", ("ReduceMax",)))
    for op in ops
    for shape in SHAPES
    for axes in ((0,), (1,), (2,), (0, 2), (0, 1, 2))
}
PLACED = {
    f"{op} {last} of {shape} by {axis}": cone_of(arg(op, axis, last), shape)
    for op in ("ArgMax", "ArgMin")
    for last in (0, 1)
    for shape in SHAPES
    for axis in range(3)
}
POOLED = {
    f"{op} {kernel} by {stride} of {shape} {last}": cone_of(pool(op, last, kernel, stride), shape)
    for op in ("MaxPool", "AveragePool")
    for last in (0, 1)
    for kernel, stride in ((2, 2), (3, 1), (3, 2), (5, 3))
    for shape in ((1, 5, 5, 5), (2, 3, 17, 9), (1, 20, 19, 24))
}
ELEMENTWISE = {
    "larger of two": cone_of(lambda b, x, y: b.op("Max", x, y), (3, 37), (3, 37)),
    "smaller of two": cone_of(lambda b, x, y: b.op("Min", x, y), (3, 37), (37,)),
    "larger than NaN": cone_of(lambda b, x: b.op("Max", x, float("nan")), (3, 37)),
    "smaller than NaN": cone_of(lambda b, x: b.op("Min", x, float("nan")), (3, 37)),
    "clipped": cone_of(clipped, (5, 77)),
    "relu": cone_of(lambda b, x: b.op("Relu", x), (5, 77)),
    "relu of doubles": cone_of(lambda b, x: b.op("Relu", x), (5, 77), dtype="float64"),
    "softplus": cone_of(lambda b, x: b.op("Softplus", x), (5, 77)),
    "compared": cone_of(lambda b, x, y: b.op("LessOrEqual", x, y), (3, 37), (3, 37)),
    "sign": cone_of(lambda b, x: b.op("Sign", x), (3, 37)),
    "softmax of many": cone_of(softmax(2), (2, 3, 130)),
    "largest of clipped": cone_of(lambda b, x: b.op("ReduceMax", clipped(b, x), axes=(1,), keepdims=1), (9, 130)),
    "pool of relu": cone_of(lambda b, x: pool("MaxPool", 1)(b, b.op("Relu", x)), (1, 9, 9, 20)),
}
SCATTERED = {f"scattered by {r}": cone_of(scattered(r), (7, 19), (30, 19)) for r in ("add", "mul", "max", "min")}


def lost(cones: dict[str, Cone], threads: int, folder: Path, backend: Backend = BACKEND) -> dict[str, str]:
    """Which cones' kernels lose NaN or make one up."""
    kernels = [(name, k) for name, cone in cones.items() for k in backend.build(cone, threads) if k.source]
    library = Library([k for _, k in kernels], folder)
    found: dict[str, str] = {}
    for i, (name, k) in enumerate(kernels):
        for leaves in poisoned(k.cone, i):
            try:
                outputs = library.run(i, leaves)
            except BackendError:  # oneDNN has no such implementation
                break
            if reason := forgotten(outputs, k.cone, leaves):
                found[name] = reason
    return found


@pytest.mark.parametrize("cones", [REDUCED, PLACED, POOLED, ELEMENTWISE], ids=["reduced", "placed", "pooled", "maps"])
def test_loops(cones: dict[str, Cone], tmp_path: Path):
    assert not lost(cones, 1, tmp_path)


def test_updates(tmp_path: Path):
    assert not lost(SCATTERED, 1, tmp_path, scatter.BACKEND)


@pytest.mark.parametrize("threads", THREADS)
def test_forms_of_loops(tmp_path: Path, threads: int):
    """Fused norms, softmax, and whatever else kernels are tried on: all that reduces or compares."""
    wanted = {
        name: c
        for name, c in CONES.items()
        if any(p.category is Category.REDUCE or p.op in EXTREMES for p in c.primitives)
    }
    assert not lost(wanted, threads, tmp_path)


def test_a_maximum_of_zeros_and_nan(tmp_path: Path):
    cones = [cone_of(total((0,), 0, "ReduceMax"), (4,)), cone_of(pool("MaxPool", 1), (1, 1, 4, 1))]
    library = Library([BACKEND.build(c, 1)[0] for c in cones], tmp_path)
    x = np.array([0.0, -0.0, 2.0, np.nan], np.float32)
    assert np.isnan(library.run(0, [x])[0])
    np.testing.assert_array_equal(library.run(1, [x.reshape(1, 1, 4, 1)])[0].reshape(-1), [0, 2, np.nan, np.nan])


@pytest.mark.onednn
@pytest.mark.parametrize("last", [1, 0])
def test_post_ops(tmp_path: Path, last: int):
    """Of oneDNN, in every form that it has an implementation for, channels last or first."""
    cones: dict[str, Cone] = {}
    for name, act in ACTIVATED.items():
        b = Builder()
        w = b.constant(np.random.default_rng(1).standard_normal((16, 8, 3, 3)).astype(np.float32))
        y = b.op(
            "Conv",
            b.input("x", "float32", (1, 9, 9, 8) if last else (1, 8, 9, 9)),
            w,
            strides=(1, 1),
            dilations=(1, 1),
            pads=(1,) * 4,
            group=1,
            channels_last=last,
        )
        cone = Cone.of(b.graph([("y", act(b, y))]).primitives)
        if onednn.BACKEND.refuses(cone) is None:
            cones[name] = cone
        b = Builder()
        y = b.input("x", "float32", (9, 20)) @ b.input("w", "float32", (20, 33))
        cones[f"{name} of a product"] = Cone.of(b.graph([("y", act(b, y))]).primitives)
    assert len(cones) > len(ACTIVATED)
    assert not lost(cones, 1, tmp_path, onednn.BACKEND)
