"""Depthwise convolutions as generated C, with what is fused behind them, against the float64 reference."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from korch.backends.contract import Declined
from korch.backends.cpu.loops import depthwise as loops
from korch.backends.cpu.loops import epilogue
from korch.backends.cpu.loops.backend import BACKEND
from korch.backends.cpu.loops.tile import Registers
from korch.ir import Builder, Cone

from .cones import DEPTHWISE, depthwise
from .measured import measured, wrong


@pytest.mark.parametrize("threads", [1, 2])
def test_right(threads: int, tmp_path: Path):
    assert not wrong(measured(BACKEND, DEPTHWISE, threads, tmp_path))


@pytest.mark.parametrize("threads", [1, 2])
def test_right_with_sixteen_registers(threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """On any machine: with more registers, blocks have two rows and go nowhere. Inputs are asked for as from memory."""
    monkeypatch.setattr(loops, "registers", lambda: Registers(16, 8))
    monkeypatch.setattr(loops, "outgrows", lambda shape: True)
    results = measured(BACKEND, DEPTHWISE, threads, tmp_path)
    assert not wrong(results) and any("__builtin_prefetch(x" in kernel.source for kernel, _ in results)


@pytest.mark.parametrize("registers", [Registers(16, 8), Registers(32, 16)], ids=["avx2", "avx512"])
def test_right_past_the_caches(registers: Registers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Also where a vector is half of a line, which is stored when it is whole."""
    monkeypatch.setattr(loops, "registers", lambda: registers)
    monkeypatch.setattr(epilogue, "outgrows", lambda shape: True)
    results = measured(BACKEND, DEPTHWISE, 2, tmp_path)
    streamed = [kernel.source for kernel, _ in results if "korch_streamed" in kernel.source]
    assert not wrong(results) and streamed
    assert all(("float line[" in source) is (registers.lanes < 16) for source in streamed)


def test_what_a_step_adds_is_asked_for_by_both_vectors_of_a_line(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(loops, "registers", lambda: Registers(16, 8))
    monkeypatch.setattr(loops, "outgrows", lambda shape: True)
    (source,) = (k.source for k in BACKEND.build(depthwise((1, 33, 40, 64), (3, 3), 2), 1))
    inner = source[: source.index("static Block *const")].split("static void KERNEL_block")[2]
    asked = re.findall(r"__builtin_prefetch\(x \+ (\d+) \+ c0 % 16 / 8 \* (\d+) \+ c0,", inner)
    places = [(int(at) + vector * int(share)) // 64 for at, share in asked for vector in (0, 1)]
    columns = 2 * len(set(re.findall(r"a0_\d+", inner)))
    assert len(places) == 2 * columns
    assert set(places) == {row * 40 + 1 + column for row in (3, 4) for column in range(columns)}  # behind rows 0 to 2


def test_blocks_go_down_where_their_inputs_stay_near(monkeypatch: pytest.MonkeyPatch):
    near, far = depthwise((1, 33, 40, 100), (5, 5), pads=(2,) * 4), depthwise((1, 12, 40, 256), pads=(1,) * 4)
    steps, parts = "++top, row += ", "for (int part = 0; part < 100; part += "
    for registers, so in ((Registers(16, 8), True), (Registers(32, 16), False)):
        monkeypatch.setattr(loops, "registers", lambda some=registers: some)
        (source,) = (k.source for k in BACKEND.build(near, 1))
        assert (steps in source) is (parts in source) is so
        assert steps not in BACKEND.build(far, 1)[0].source  # four places of a cache for ten columns of three rows


@pytest.mark.parametrize("registers", [Registers(16, 8), Registers(32, 16)], ids=["avx2", "avx512"])
def test_wide_windows_have_several_columns(registers: Registers, monkeypatch: pytest.MonkeyPatch):
    """Also where registers do not hold a row of weights: the sums of one column wait for each other."""
    monkeypatch.setattr(loops, "registers", lambda: registers)
    (kernel,) = BACKEND.build(depthwise((1, 200, 32), (31,), pads=(15, 15)), 1)
    assert f"a0_{registers.count // 4 - 1}" in kernel.source and "a0_1 " in kernel.source


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
