"""Direct convolutions to few channels, channels-first, as generated C, against the float64 reference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from korch.backends.cpu.loops.backend import BACKEND
from korch.backends.cpu.loops.forms import planar as kernels
from korch.ir import Builder, Cone

from .cones import PLANAR, planar
from .measured import THREADS, measured, refusal, wrong


@pytest.mark.parametrize("threads", THREADS)
def test_right(threads: int, tmp_path: Path):
    assert all(map(kernels.FORM.matches, PLANAR))
    assert not wrong(measured(BACKEND, PLANAR, threads, tmp_path))


def test_left_to_others():
    assert not kernels.FORM.matches(planar((1, 8, 20, 40), 16, (3, 3)))  # whole vectors of channels
    assert not kernels.FORM.matches(planar((1, 8, 20, 40), 3, (3, 3), (1, 2)))
    assert not kernels.FORM.matches(planar((1, 8, 20, 40), 3, (1, 1)))  # a matrix product
    assert not kernels.FORM.matches(planar((1, 8, 20, 6), 3, (3, 3)))  # rows shorter than a vector


def test_refused_with_a_reason():
    assert "row" in refusal(BACKEND, planar((1, 1, 3, 12000), 3, (3, 3)))
    assert "negative" in refusal(BACKEND, planar((1, 3, 20, 40), 3, (3, 3), pads=(0, -1, 0, 0)))
    b = Builder()
    x, w = b.input("x", "float32", (1, 3, 20, 40)), b.input("w", "float32", (2, 3, 3, 3))
    y = b.op("Conv", x, w, strides=(1, 1), dilations=(1, 1), pads=(0,) * 4, group=1, channels_last=0)
    assert "computed weights" in refusal(BACKEND, Cone.of(b.graph([("y", y)]).primitives))


def test_another_type_behind_it_is_refused():
    b = Builder()
    w = b.constant(np.ones((2, 3, 3, 3), np.float32))
    y = b.op(
        "Conv",
        b.input("x", "float32", (1, 3, 20, 40)),
        w,
        strides=(1, 1),
        dilations=(1, 1),
        pads=(0,) * 4,
        group=1,
        channels_last=0,
    )
    y = b.op("Cast", y, to="uint8")
    assert "uint8" in refusal(BACKEND, Cone.of(b.graph([("y", y)]).primitives))
