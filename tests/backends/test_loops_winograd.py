"""Winograd's transforms as generated C, with what is fused behind them, against the float64 reference."""

from __future__ import annotations

import pytest

from korch.backends.contract import Declined
from korch.backends.cpu.loops.backend import BACKEND
from korch.ir import Builder, Cone, Value
from korch.profile import Database, Measurement, Profiler


def cone_of(b: Builder, y: Value) -> Cone:
    return Cone.of(b.graph([("y", y)]).primitives)


def into(tile: int, shape: tuple[int, ...], pads: tuple[int, ...]) -> Cone:
    b = Builder()
    return cone_of(b, b.op("WinogradInput", b.input("x", "float32", shape), tile=tile, pads=pads))


def back(tile: int, shape: tuple[int, ...], behind: bool) -> Cone:
    """With `behind`: a bias per channel, a residual of the output's shape, an activation."""
    b = Builder()
    n, h, w, k = shape
    tiles = n * -(-h // tile) * -(-w // tile)
    y = b.op("WinogradOutput", b.input("m", "float32", ((tile + 2) ** 2, tiles, k)), tile=tile, shape=shape)
    if behind:
        y = b.op("Tanh", y + b.input("bias", "float32", (k,)) + b.input("residual", "float32", shape)) * 0.5
    return cone_of(b, y)


CONES = [
    into(4, (1, 9, 10, 16), (1, 1, 1, 1)),
    into(4, (2, 4, 4, 19), (0, 0, 0, 0)),
    into(4, (1, 37, 41, 64), (1, 0, 2, 3)),
    into(2, (1, 8, 7, 33), (1, 1, 1, 1)),
    into(2, (1, 2, 2, 5), (2, 2, 2, 2)),
    *(back(tile, shape, behind) for tile in (2, 4) for behind in (False, True)
      for shape in [(1, 8, 8, 16), (2, 7, 9, 19), (1, 33, 34, 100), (1, 1, 1, 1)]),
]  # fmt: skip


@pytest.mark.parametrize("threads", [1, 2])
def test_right(threads: int, tmp_path_factory: pytest.TempPathFactory):
    assert [BACKEND.declines(cone) for cone in CONES] == [None] * len(CONES)
    with Profiler(threads, Database(tmp_path_factory.mktemp("cache"))) as profiler:
        kernels = [k for cone in CONES for k in BACKEND.build(cone, threads)]
        results = profiler.measure(kernels)
    wrong = [(str(k.cone), r) for k, r in zip(kernels, results, strict=True) if not isinstance(r, Measurement)]
    assert not wrong


def test_declined_with_a_reason():
    b = Builder()
    v = b.op("WinogradInput", b.op("Exp", b.input("x", "float32", (1, 8, 8, 16))), tile=4, pads=(1, 1, 1, 1))
    before = BACKEND.declines(cone_of(b, v))
    behind = BACKEND.declines(cone_of(b, b.op("Relu", v)))
    assert isinstance(before, Declined) and "computes what" in before.reason
    assert isinstance(behind, Declined)
