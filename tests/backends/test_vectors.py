"""The vectors of korch_vectors.h, as compilers for several instruction sets see them."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

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
    return (
        f"void move{lanes}(const float *x, const float *y, float *loaded, float *stored, int count) "
        f"{{ switch (count) {{ {cases} }} }}\n"
        f"void store{lanes}(const float *y, float *stored, int count) "
        f"{{ korch_store_first{lanes}(stored, *(const korch_at{lanes} *)y, count); }}"
    )


SUMS = """float sum(const float *x) { return korch_sum32(x); }
float dot(const float *x, const float *y, int count) { return korch_dot(x, y, count); }"""


@pytest.fixture(scope="module", params=SETS.values(), ids=SETS)
def library(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> ctypes.CDLL:
    file: Path = tmp_path_factory.mktemp("vectors") / "vectors.so"
    source = "\n".join((include("korch_rt.h"), *map(include, HEADERS), *map(moved, LANES), SUMS))
    find_toolchain().compile_library({"vectors.c": source}, file, defines=request.param)
    return ctypes.CDLL(str(file))


@pytest.mark.parametrize("lanes", LANES)
def test_the_first_numbers_of_a_vector_and_no_others(library: ctypes.CDLL, lanes: int):
    """What lies behind them belongs to others, or to nobody."""
    x, y = np.arange(1, 33, dtype=np.float32), np.arange(101, 133, dtype=np.float32)
    for count in range(1, lanes):
        loaded, stored = np.full(lanes, np.nan, np.float32), np.full(32, -1, np.float32)
        getattr(library, f"move{lanes}")(*map(at, (x[1:], y[1:], loaded, stored[3:])), ctypes.c_int(count))
        assert loaded.tolist() == [*x[1 : 1 + count], *[0] * (lanes - count)]
        assert stored.tolist() == [-1] * 3 + [*y[1 : 1 + count]] + [-1] * (29 - count)
        again = np.full(32, -1, np.float32)
        getattr(library, f"store{lanes}")(at(y[1:]), at(again[3:]), ctypes.c_int(count))
        assert (again == stored).all()


def test_sums_are_added_in_one_order_by_all_processors(library: ctypes.CDLL):
    x = np.random.default_rng(0).standard_normal(33).astype(np.float32)[1:]
    library.sum.restype = ctypes.c_float
    halves = x
    for half in (16, 8, 4):
        halves = halves[:half] + halves[half:]
    assert library.sum(at(x)) == (halves[0] + halves[2]) + (halves[1] + halves[3])


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 64, 75])
def test_sums_of_products_have_no_more_than_so_many(library: ctypes.CDLL, count: int):
    """Of whole numbers, whose sums are exact."""
    x, y = np.random.default_rng(0).integers(-9, 10, (2, 80)).astype(np.float32)
    library.dot.restype = ctypes.c_float
    assert library.dot(at(x[1:]), at(y[2:]), ctypes.c_int(count)) == x[1 : 1 + count] @ y[2 : 2 + count]


def at(a: np.ndarray[Any, np.dtype[np.float32]]) -> ctypes.c_void_p:
    return ctypes.c_void_p(a.ctypes.data)
