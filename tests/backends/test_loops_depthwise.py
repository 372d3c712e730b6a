"""Depthwise convolutions as generated C, with what is fused behind them, against the float64 reference."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from korch.backends.contract import Declined
from korch.backends.cpu.loops import depthwise as loops
from korch.backends.cpu.loops import epilogue
from korch.backends.cpu.loops.backend import BACKEND
from korch.backends.cpu.loops.tile import Registers
from korch.backends.program import compose
from korch.backends.toolchain import find_toolchain
from korch.executable.buffers import aligned_empty
from korch.ir import Builder, Cone
from korch.profile.runners import entry

from .cones import DEPTHWISE, depthwise
from .measured import THREADS, measured, wrong


@pytest.mark.parametrize("threads", THREADS)
def test_right(threads: int, tmp_path: Path):
    assert not wrong(measured(BACKEND, DEPTHWISE, threads, tmp_path))


@pytest.mark.parametrize("threads", THREADS)
def test_right_with_sixteen_registers(threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """On any machine: with more registers, blocks have two rows and go nowhere. Inputs are asked for as from memory."""
    monkeypatch.setattr(loops, "registers", lambda: Registers(16, 8))
    monkeypatch.setattr(loops, "outgrows", lambda shape: True)
    results = measured(BACKEND, DEPTHWISE, threads, tmp_path)
    assert not wrong(results) and any("__builtin_prefetch(next" in kernel.source for kernel, _ in results)


@pytest.mark.parametrize("registers", [Registers(16, 8), Registers(32, 16)], ids=["avx2", "avx512"])
def test_right_past_the_caches(registers: Registers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Also where a vector is half of a line, which is stored when it is whole."""
    monkeypatch.setattr(loops, "registers", lambda: registers)
    monkeypatch.setattr(epilogue, "outgrows", lambda shape: True)
    results = measured(BACKEND, DEPTHWISE, 2, tmp_path)
    streamed = [kernel.source for kernel, _ in results if "korch_streamed" in kernel.source]
    assert not wrong(results) and streamed
    assert all(("float line[" in source) is (registers.lanes < 16) for source in streamed)


NOTED = """const char *noted[1 << 16]; int notes;
#define NOTE(place, ...) (noted[notes++] = (const char *)(place))
"""


def test_what_the_next_block_reads_is_asked_for_line_after_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Nearly all that the first block does not read, and hardly anything again: bands share some rows."""
    monkeypatch.setattr(loops, "registers", lambda: Registers(16, 8))
    monkeypatch.setattr(loops, "outgrows", lambda shape: True)
    (kernel,) = BACKEND.build(depthwise((1, 97, 80, 32), (5, 5), 2, pads=(2,) * 4), 1)
    text = NOTED + compose([kernel]).replace("__builtin_prefetch(", "NOTE(")
    find_toolchain().compile_library({"k.c": text}, tmp_path / "k.so")
    library = ctypes.CDLL(str(tmp_path / "k.so"))
    arrays = [aligned_empty(t.shape, "float32") for t in (*kernel.cone.leaves, kernel.cone.root)]
    for a in arrays:
        a[...] = 0
    table = (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
    row, state = entry(library, 0), ctypes.c_void_p()
    begun = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 2)(row.init)(ctypes.byref(state), table)
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(row.run)(state, table, arrays[-1].ctypes.data, None)
    count = ctypes.c_int.in_dll(library, "notes").value
    noted = np.array((ctypes.c_void_p * count).in_dll(library, "noted")[:], np.uint64).astype(np.int64)
    lines = (noted - arrays[0].ctypes.data) // 64
    inside = lines[(lines >= 0) & (lines < arrays[0].nbytes // 64)]
    again = 1 - len(np.unique(inside)) / len(inside)
    assert not begun and len(np.unique(inside)) > 0.9 * arrays[0].nbytes / 64
    assert again < 0.25 and np.mean(np.diff(lines) == 1) > 0.9


def test_blocks_go_down_where_their_inputs_stay_near(monkeypatch: pytest.MonkeyPatch):
    near, far = depthwise((1, 33, 40, 100), (5, 5), pads=(2,) * 4), depthwise((1, 12, 40, 256), pads=(1,) * 4)
    steps, parts = "++top, row += ", "for (int part = 0; part < 100; part += "
    monkeypatch.setattr(loops, "WAYS", 8)
    for registers, so in ((Registers(16, 8), True), (Registers(32, 16), False)):
        monkeypatch.setattr(loops, "registers", lambda some=registers: some)
        (source,) = (k.source for k in BACKEND.build(near, 1))
        assert (steps in source) is (parts in source) is so
        assert steps not in BACKEND.build(far, 1)[0].source  # four sets of a cache for ten columns of three rows


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
