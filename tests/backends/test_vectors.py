"""The vectors of korch_vectors.h, as compilers for several instruction sets see them."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from korch.backends.cpu.loops.backend import HEADERS
from korch.backends.program import include
from korch.backends.toolchain import find_toolchain

LANES = (4, 8, 16)
SETS = {"all": (), "no avx512": ("-mno-avx512f",), "no avx": ("-mno-avx", "-Wno-psabi")}


def moved(lanes: int) -> str:
    """C that loads `count` numbers and stores the whole vector, and stores so many of another's."""
    cases = "".join(
        f"case {n}: *(korch_at{lanes} *)loaded = korch_load_first{lanes}(x, {n}); "
        f"korch_store_first{lanes}(stored, *(const korch_at{lanes} *)y, {n}); break;\n"
        for n in range(1, lanes)
    )
    return (f"void move{lanes}(const float *x, const float *y, float *loaded, float *stored, int count) "
            f"{{ switch (count) {{ {cases} }} }}")  # fmt: skip


@pytest.fixture(scope="module", params=SETS.values(), ids=SETS)
def library(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> ctypes.CDLL:
    file: Path = tmp_path_factory.mktemp("vectors") / "vectors.so"
    source = "\n".join((include("korch_rt.h"), *map(include, HEADERS), *map(moved, LANES)))
    find_toolchain().compile_library({"vectors.c": source}, file, defines=request.param)
    return ctypes.CDLL(str(file))


@pytest.mark.parametrize("lanes", LANES)
def test_the_first_numbers_of_a_vector_and_no_others(library: ctypes.CDLL, lanes: int):
    """What lies behind them belongs to others, or to nobody."""
    x, y = np.arange(1, 33, dtype=np.float32), np.arange(101, 133, dtype=np.float32)
    for count in range(1, lanes):
        loaded, stored = np.full(lanes, np.nan, np.float32), np.full(32, -1, np.float32)
        arrays = (ctypes.c_void_p(a.ctypes.data) for a in (x[1:], y[1:], loaded, stored[3:]))
        getattr(library, f"move{lanes}")(*arrays, ctypes.c_int(count))
        assert loaded.tolist() == [*x[1 : 1 + count], *[0] * (lanes - count)]
        assert stored.tolist() == [-1] * 3 + [*y[1 : 1 + count]] + [-1] * (29 - count)
