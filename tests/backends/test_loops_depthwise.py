"""Depthwise convolutions as generated C, with what is fused behind them, against the float64 reference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.marks import Part, parts

from korch.backends.contract import Refusal
from korch.backends.cpu.loops import epilogue
from korch.backends.cpu.loops.backend import BACKEND
from korch.backends.cpu.loops.forms import depthwise as loops
from korch.backends.cpu.loops.tile import Registers
from korch.ir import Builder, Cone

from .cones import DEPTHWISE, depthwise
from .measured import THREADS, measured, wrong
from .prefetches import LINE, inside, prefetched


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("part", parts(3), ids=str)
def test_right(part: Part, threads: int, tmp_path: Path):
    assert not wrong(measured(BACKEND, part(DEPTHWISE), threads, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("threads", THREADS)
def test_right_with_sixteen_registers(threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """On any machine: with more registers, blocks have two rows and go nowhere. Inputs are asked for as from memory."""
    monkeypatch.setattr(loops, "registers", lambda: Registers(16, 8))
    monkeypatch.setattr(loops, "outgrows", lambda shape: True)
    assert not wrong(measured(BACKEND, DEPTHWISE, threads, tmp_path))


@pytest.mark.parametrize("registers", [Registers(16, 8), Registers(32, 16)], ids=["avx2", "avx512"])
@pytest.mark.parametrize("part", parts(4), ids=str)
def test_right_past_the_caches(part: Part, registers: Registers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Also where a vector is half of a line, which is stored when it is whole."""
    monkeypatch.setattr(loops, "registers", lambda: registers)
    monkeypatch.setattr(epilogue, "outgrows", lambda shape: True)
    assert not wrong(measured(BACKEND, part(DEPTHWISE), 2, tmp_path))


def test_what_the_next_block_reads_is_asked_for_line_after_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Nearly all that the first block does not read, and hardly anything again: bands share some rows."""
    monkeypatch.setattr(loops, "registers", lambda: Registers(16, 8))
    monkeypatch.setattr(loops, "outgrows", lambda shape: True)
    (kernel,) = BACKEND.build(depthwise((1, 97, 80, 32), (5, 5), 2, pads=(2,) * 4), 1)
    lines = prefetched(kernel, tmp_path)
    own, size = inside(lines, kernel), kernel.cone.leaves[0].nbytes // LINE
    again = 1 - len(np.unique(own)) / len(own)
    assert len(np.unique(own)) > 0.9 * size and again < 0.25
    assert np.mean(np.diff(lines) == 1) > 0.9


def test_refused_with_a_reason():
    b = Builder()
    x, w = b.input("x", "float32", (1, 8, 8, 4)), b.input("w", "float32", (4, 1, 3, 3))
    y = b.op("Conv", x, w, strides=(1, 1), dilations=(1, 1), pads=(1, 1, 1, 1), group=4, channels_last=1)
    computed, wide = (
        BACKEND.refuses(Cone.of(b.graph([("y", y)]).primitives)),
        BACKEND.refuses(depthwise((1, 30, 30, 8), (9, 9))),
    )
    assert isinstance(computed, Refusal) and "computed weights" in computed.reason
    assert isinstance(wide, Refusal) and "taps" in wide.reason
