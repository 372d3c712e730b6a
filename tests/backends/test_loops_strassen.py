"""The sums around Strassen's products as generated C, with what is fused behind them, against the float64 reference."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from korch.backends.contract import Backend, Refusal
from korch.backends.cpu.loops.backend import BACKEND
from korch.backends.cpu.onednn.backend import BACKEND as ONEDNN
from korch.backends.cuda.triton.backend import BACKEND as TRITON
from korch.backends.cuda.vendor.backend import BACKEND as VENDOR
from korch.ir import Builder, Cone, Value

from .cones import silu
from .measured import THREADS, measured, wrong

Shape = tuple[int, ...]


def cone_of(b: Builder, y: Value) -> Cone:
    return Cone.of(b.graph([("y", y)]).primitives)


def into(*shape: int) -> Cone:
    b = Builder()
    return cone_of(b, b.op("StrassenInput", b.input("x", "float32", shape)))


def back(shape: Shape, *others: Shape) -> Cone:
    """With tensors of the shapes `others` behind it, and an activation."""
    b = Builder()
    m = b.input("m", "float32", (7, math.prod(shape[:-1]) // 2, shape[-1] // 2))
    y = b.op("StrassenOutput", m, shape=shape)
    for i, other in enumerate(others):
        y = b.op("Tanh", y * 0.5 + b.input(f"o{i}", "float32", other))
    return cone_of(b, y)


def activated(*shape: int) -> Cone:
    b = Builder()
    m = b.input("m", "float32", (7, math.prod(shape[:-1]) // 2, shape[-1] // 2))
    return cone_of(b, silu(b, b.op("StrassenOutput", m, shape=shape) + b.input("o", "float32", shape[-1:])))


CONES = [
    into(64, 32),
    into(2, 2),
    into(1, 10, 7, 38),
    into(3, 2, 5, 2, 130),
    into(130, 192),
    back((2, 2)),
    back((64, 32)),
    back((130, 130)),
    back((1, 10, 7, 38)),
    back((3, 2, 5, 2, 200)),
    activated(64, 160),
    activated(3, 2, 5, 2, 200),
    back((64, 160), (160,), (64, 160), (64, 1)),
    back((1, 96, 256), (256,), (1, 96, 256), ()),
    back((2, 6, 7, 100), (100,), (2, 1, 1, 100), (6, 1, 100), (2, 6, 7, 100), (7, 1)),
    back((5, 2, 2, 3, 2), (5, 1, 2, 1, 2), (3, 1), (2, 1, 1, 2)),
]


@pytest.mark.parametrize("threads", THREADS)
def test_right(threads: int, tmp_path: Path):
    assert not wrong(measured(BACKEND, CONES, threads, tmp_path))


def test_refused_with_a_reason():
    b = Builder()
    x = b.input("x", "float32", (8, 16))
    before = BACKEND.refuses(cone_of(b, b.op("StrassenInput", b.op("Exp", x))))
    after = BACKEND.refuses(cone_of(b, b.op("Relu", b.op("StrassenInput", x))))
    y = b.op("StrassenOutput", b.input("m", "float32", (7, 4, 8)), shape=(8, 16))
    moved = BACKEND.refuses(cone_of(b, b.op("Transpose", y, perm=(1, 0))))
    assert isinstance(before, Refusal) and "computes what" in before.reason
    assert isinstance(after, Refusal) and "behind a StrassenInput" in after.reason
    assert isinstance(moved, Refusal) and "elementwise" in moved.reason


@pytest.mark.parametrize("backend", [ONEDNN, TRITON, VENDOR], ids=lambda b: b.name)
def test_no_other_backend_takes_them(backend: Backend):
    for cone in (into(64, 32), back((64, 32)), back((64, 160), (160,))):
        assert isinstance(backend.refuses(cone), Refusal)
