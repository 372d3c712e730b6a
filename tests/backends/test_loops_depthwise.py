"""Depthwise convolutions as generated C, with what is fused behind them, against the float64 reference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from korch.backends.contract import Declined
from korch.backends.cpu.loops.backend import BACKEND
from korch.ir import Builder, Cone, Value

from .measured import measured, wrong

RNG = np.random.default_rng(3)


def cone_of(y: Value) -> Cone:
    return Cone.of(y.builder.graph([("y", y)]).primitives)


def depthwise(shape: tuple[int, ...], kernel: tuple[int, int] = (3, 3), stride: int = 1, dilation: int = 1,
              pads: tuple[int, ...] = (1, 1, 1, 1), behind: bool = False) -> Cone:  # fmt: skip
    b = Builder()
    x, channels = b.input("x", "float32", shape), shape[3]
    w = b.constant(RNG.standard_normal((channels, 1, *kernel)).astype(np.float32))
    y = b.op("Conv", x, w, strides=(stride, stride), dilations=(dilation, dilation), pads=pads, group=channels,
             channels_last=1)  # fmt: skip
    if behind:
        y = b.op("Tanh", y + b.input("bias", "float32", (channels,)) + b.input("residual", "float32", y.shape)) * 0.5
    return cone_of(y)


CONES = [
    depthwise((1, 20, 21, 32)),
    depthwise((1, 20, 21, 32), behind=True),
    depthwise((2, 9, 13, 19), (5, 5), 2, pads=(2, 2, 2, 2)),
    depthwise((1, 33, 40, 100), (5, 5), pads=(2, 2, 2, 2), behind=True),
    depthwise((1, 17, 30, 65), (3, 3), 2, pads=(0, 0, 1, 1)),
    depthwise((1, 24, 24, 8), (7, 7), pads=(3, 3, 3, 3)),
    depthwise((1, 15, 16, 48), (3, 3), dilation=2, pads=(2, 2, 2, 2)),
    depthwise((3, 1, 40, 5), (1, 3), pads=(0, 1, 0, 1), behind=True),
    depthwise((1, 2, 2, 3), (5, 5), pads=(2, 2, 2, 2)),
    depthwise((1, 12, 12, 16), (3, 3), 3, pads=(1, 2, 0, 0)),
]


@pytest.mark.parametrize("threads", [1, 2])
def test_right(threads: int, tmp_path: Path):
    assert not wrong(measured(BACKEND, CONES, threads, tmp_path))


def test_declined_with_a_reason():
    b = Builder()
    x, w = b.input("x", "float32", (1, 8, 8, 4)), b.input("w", "float32", (4, 1, 3, 3))
    y = b.op("Conv", x, w, strides=(1, 1), dilations=(1, 1), pads=(1, 1, 1, 1), group=4, channels_last=1)
    computed, wide = BACKEND.declines(cone_of(y)), BACKEND.declines(depthwise((1, 30, 30, 8), (9, 9)))
    assert isinstance(computed, Declined) and "computed weights" in computed.reason
    assert isinstance(wide, Declined) and "taps" in wide.reason
