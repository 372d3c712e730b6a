"""Results that outgrow the caches are stored past them: the same numbers, whole lines or not, on one thread and two."""

from __future__ import annotations

import ctypes
from math import inf
from pathlib import Path

import numpy as np
import pytest
from tests.marks import Part, parts

import korch.backends.cpu.tiles.backend as tiles
from korch.backends.contract import Backend
from korch.backends.cpu.loops import caches
from korch.backends.cpu.loops.backend import BACKEND as LOOPS
from korch.backends.cpu.tiles.backend import BACKEND as TILES
from korch.backends.program import include
from korch.backends.toolchain import find_toolchain
from korch.ir import Builder, Cone

from . import cones, test_loops_products, test_loops_strassen, test_loops_winograd, test_tiles
from .measured import THREADS, measured, wrong


def copied(shape: tuple[int, ...], perm: tuple[int, ...]) -> Cone:
    b = Builder()
    y = b.op("Relu", b.op("Transpose", b.input("x", "float32", shape), perm=perm))
    return Cone.of(b.graph([("y", y)]).primitives)


def scaled(*shape: int) -> Cone:
    b = Builder()
    y = b.op("Exp", b.input("x", "float32", shape) * b.input("s", "float32", shape[-1:]))
    return Cone.of(b.graph([("y", y)]).primitives)


def concat(shape: tuple[int, ...], wide: int) -> Cone:
    """Rows of a joined tensor, of which the first part is copied and the second a product."""
    y = test_tiles.conv(test_tiles.image(*shape), wide)
    z = test_tiles.conv(y, wide)
    return test_tiles.cone_of(y.builder.op("Concat", y, z, axis=3))


def expanded(shape: tuple[int, ...], wide: int, stride: int = 1) -> Cone:
    """A product and the depthwise convolution behind it."""
    y = test_tiles.relu(test_tiles.conv(test_tiles.image(*shape), wide))
    return test_tiles.cone_of(test_tiles.relu(test_tiles.conv(y, wide, 3, stride, group=wide)))


MAPS = [
    scaled(3, 70, 272),
    scaled(4, 5, 17),
    scaled(64, 1024),
    copied((2, 3, 48, 32), (0, 2, 1, 3)),
    copied((2, 40, 48), (0, 2, 1)),
    copied((2, 48, 64), (0, 2, 1)),
    *cones.CONES.values(),
]
OTHERS = [*test_loops_products.CONES.values(), *test_loops_winograd.CONES, *test_loops_strassen.CONES]
STRIPS = [
    concat((1, 24, 16, 32), 48),
    concat((1, 24, 17, 32), 24),
    expanded((1, 24, 16, 32), 48),
    expanded((1, 32, 18, 16), 48, 2),
    expanded((1, 24, 16, 32), 40),
    *test_tiles.CONES,
]


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch):
    """Kernels of stages are remembered, whatever outgrew the caches when they were written."""
    monkeypatch.setattr(tiles, "_STAGES", {})


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(
    ("backend", "some"),
    [(LOOPS, MAPS), (LOOPS, OTHERS), pytest.param(TILES, STRIPS, marks=pytest.mark.slow)],
    ids=["maps", "others", "strips"],
)
@pytest.mark.parametrize("part", parts(8), ids=str)
def test_right(
    part: Part, backend: Backend, some: list[Cone], threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    some = part(some)
    usual = {kernel.source for cone in some for kernel in backend.build(cone, threads)}
    monkeypatch.setattr(caches, "OUTGROWN", 0)
    tiles._STAGES.clear()
    results = measured(backend, some, threads, tmp_path)
    assert not wrong(results)
    assert sum(kernel.source not in usual for kernel, _ in results) >= 3


@pytest.mark.parametrize(
    "cone", [concat((1, 24, 16, 32), 48), expanded((1, 24, 16, 32), 48)], ids=["concat", "expanded"]
)
def test_only_what_outgrows_caches_goes_past_them(cone: Cone, monkeypatch: pytest.MonkeyPatch):
    """Of strips, what they pass on does not."""

    def built(limit: float) -> tuple[str, ...]:
        monkeypatch.setattr(caches, "OUTGROWN", limit)
        tiles._STAGES.clear()
        return tuple(kernel.source for kernel in TILES.build(cone, 2))

    assert built(cone.root.nbytes) == built(inf) != built(cone.root.nbytes // 4)


@pytest.mark.parametrize("flags", [(), ("-mno-avx512f",), ("-mno-avx",)], ids=["all", "no avx512", "no avx"])
def test_any_run_of_numbers_anywhere(flags: tuple[str, ...], tmp_path: Path):
    toolchain, file = find_toolchain(), tmp_path / "stream.so"
    text = (
        "void run(float *to, const float *from, int n) { korch_stream(to, from, n); korch_streamed(); }\n"
        "void one(float *to, const float *from) { korch_stream16(to, *(const korch_at16 *)from);\n"
        "  korch_stream8(to + 16, *(const korch_at8 *)from); korch_stream4(to + 24, *(const korch_at4 *)from);\n"
        "  korch_streamed(); }"
    )
    source = "\n".join((include("korch_rt.h"), include("korch_vectors.h"), text))
    toolchain.compile_library({"stream.c": source}, file, defines=flags)
    library, x = ctypes.CDLL(str(file)), np.arange(1, 200, dtype=np.float32)
    for offset in range(18):
        for count in (0, 1, 15, 16, 17, 40, 100):
            y = np.zeros(160, np.float32)
            library.run(y[offset:].ctypes.data_as(ctypes.c_void_p), x.ctypes.data_as(ctypes.c_void_p), count)
            assert (y[offset : offset + count] == x[:count]).all() and not y[:offset].any()
            assert not y[offset + count :].any()
        y = np.zeros(160, np.float32)
        library.one(y[offset:].ctypes.data_as(ctypes.c_void_p), x.ctypes.data_as(ctypes.c_void_p))
        assert (y[offset : offset + 28] == np.concatenate([x[:16], x[:8], x[:4]])).all()
        assert not y[:offset].any() and not y[offset + 28 :].any()
