"""Direct convolutions of few channels as generated C, with what is fused behind them, against the float64 reference."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.marks import Part, parts

from korch.backends.cpu.loops.backend import BACKEND
from korch.ir import Builder, Cone

from .cones import DIRECT, direct
from .measured import THREADS, measured, refusal, wrong


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("part", parts(6), ids=str)
def test_right(part: Part, threads: int, tmp_path: Path):
    assert not wrong(measured(BACKEND, part(DIRECT), threads, tmp_path))


def test_refused_with_a_reason():
    assert "channels" in refusal(BACKEND, direct((1, 30, 30, 25), 25, (3, 3)))
    assert "edge" in refusal(BACKEND, direct((1, 900, 900, 16), 1, (30, 30), (60, 60)))
    b = Builder()
    x, w = b.input("x", "float32", (1, 8, 8, 4)), b.input("w", "float32", (4, 4, 3, 3))
    y = b.op("Conv", x, w, strides=(1, 1), dilations=(1, 1), pads=(1, 1, 1, 1), group=1, channels_last=1)
    assert "computed weights" in refusal(BACKEND, Cone.of(b.graph([("y", y)]).primitives))


def test_an_image_turned_in_another_way_is_refused():
    b = Builder()
    x = b.op("Transpose", b.input("x", "float32", (1, 3, 9, 8)), perm=(0, 3, 2, 1))
    w = b.constant([[[[1.0, 2.0], [3.0, 4.0]]] * 3] * 4, "float32")
    y = b.op("Conv", x, w, strides=(1, 1), dilations=(1, 1), pads=(0,) * 4, group=1, channels_last=1)
    assert "turned" in refusal(BACKEND, Cone.of(b.graph([("y", y)]).primitives))
