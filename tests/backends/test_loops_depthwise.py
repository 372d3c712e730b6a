"""Depthwise convolutions as generated C, with what is fused behind them, against the float64 reference."""

from __future__ import annotations

from pathlib import Path

import pytest

from korch.backends.contract import Declined
from korch.backends.cpu.loops.backend import BACKEND
from korch.ir import Builder, Cone

from .cones import DEPTHWISE, depthwise
from .measured import measured, wrong


@pytest.mark.parametrize("threads", [1, 2])
def test_right(threads: int, tmp_path: Path):
    assert not wrong(measured(BACKEND, DEPTHWISE, threads, tmp_path))


def test_declined_with_a_reason():
    b = Builder()
    x, w = b.input("x", "float32", (1, 8, 8, 4)), b.input("w", "float32", (4, 1, 3, 3))
    y = b.op("Conv", x, w, strides=(1, 1), dilations=(1, 1), pads=(1, 1, 1, 1), group=4, channels_last=1)
    computed, wide = (
        BACKEND.declines(Cone.of(b.graph([("y", y)]).primitives)),
        BACKEND.declines(depthwise((1, 30, 30, 8), (9, 9))),
    )
    assert isinstance(computed, Declined) and "computed weights" in computed.reason
    assert isinstance(wide, Declined) and "taps" in wide.reason
