"""The functions of korch_math.h and korch_vector_math.h over the whole range of float32: at most 4 units in the last
place from the truth."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.marks import slow_but_every

from korch.backends.cpu.loops.backend import HEADERS
from korch.backends.program import include
from korch.backends.toolchain import find_toolchain

ULPS = 4.0
STEP = 3593  # of the bit patterns: over a million values, of every exponent and both signs


def softplus(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


TRUTH: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exp": np.exp,
    "exp_below": np.exp,
    "log": np.log,
    "erf": np.vectorize(math.erf),
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softplus": softplus,
    "tanh_softplus": lambda x: np.tanh(softplus(x)),
    "silu": lambda x: np.where(x < -700, 0, x / (1 + np.exp(-x))),
    "mish": lambda x: np.where(x < -700, 0, x * np.tanh(softplus(x))),
    "gelu": lambda x: np.where(x < -50, 0, x / 2 * np.vectorize(math.erfc)(-x / math.sqrt(2))),
}
FLOORS = {
    "silu": 2.0**-98,
    "mish": 2.0**-98,
    "exp_below": 2.0**-102,
    **{f"sigmoid{lanes}": 2.0**-102 for lanes in (4, 8, 16)},
}
"""Magnitudes below which units are those of this one: products with what is all but zero are nothing."""
BELOW = {"exp_below"}
"""Functions of numbers that are at most 0."""
OF_X = {"gelu"}
"""Sums of x and nearly -x: units are those of x."""


VECTORS = {"silu": (4, 8, 16), "mish": (4, 8, 16), "sigmoid": (4, 8, 16), "tanh": (4, 8, 16)}
"""Lanes of those that there are of vectors, too."""
FORMS = [*TRUTH, *(f"{name}{lanes}" for name, some in VECTORS.items() for lanes in some)]


@pytest.fixture(scope="module", params=[(), ("-mno-avx512f",)], ids=["all", "no avx512"])
def library(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> ctypes.CDLL:
    loops = [
        f"void all_{n}(const float *x, float *y, int n) {{ for (int i = 0; i < n; ++i) y[i] = korch_{n}f(x[i]); }}"
        for n in TRUTH
    ]
    loops += [
        f"void all_{n}{k}(const float *x, float *y, int n) {{ for (int i = 0; i + {k} <= n; i += {k}) "
        f"*(korch_at{k} *)(y + i) = korch_{n}{k}(*(const korch_at{k} *)(x + i)); }}"
        for n, some in VECTORS.items()
        for k in some
    ]
    loops += [
        "void quotients(const float *x, float *y, int n, float s, float near) { "
        "for (int i = 0; i < n; ++i) y[i] = korch_quotientf(x[i], s, near); }",
        "void to_bytes(const float *x, int8_t *y, int n, float low, float high, float zero) { "
        "for (int i = 0; i < n; ++i) y[i] = korch_to_bytef(x[i], low, high, zero); }",
        "void as_bytes(const float *x, float *y, int n, float low, float high, float zero) { "
        "for (int i = 0; i < n; ++i) y[i] = korch_as_bytef(x[i], low, high, zero); }",
    ]
    file: Path = tmp_path_factory.mktemp("math") / "math.so"
    source = "\n".join((include("korch_rt.h"), *map(include, HEADERS), *loops))
    find_toolchain().compile_library({"math.c": source}, file, defines=request.param)
    return ctypes.CDLL(str(file))


def called(library: ctypes.CDLL, name: str, x: np.ndarray, dtype: str, *numbers: float) -> np.ndarray:
    y = np.empty(len(x), dtype)
    pointers = (a.ctypes.data_as(ctypes.c_void_p) for a in (x, y))
    getattr(library, name)(*pointers, len(x), *map(ctypes.c_float, numbers))
    return y


def computed(library: ctypes.CDLL, name: str, x: np.ndarray) -> np.ndarray:
    return called(library, f"all_{name}", x, "float32")


@pytest.mark.parametrize("form", slow_but_every(3, FORMS))
def test_four_ulps(form: str, library: ctypes.CDLL):
    x = np.arange(0, 2**32, STEP, dtype=np.uint64).astype(np.uint32).view(np.float32)
    x, name = x[: len(x) // 16 * 16], form.rstrip("0123456789")
    x = np.minimum(x, 0) if name in BELOW else x
    y = computed(library, form, x)
    least = np.abs(x) if name in OF_X else FLOORS.get(form, FLOORS.get(name, 2.0**-126))
    with np.errstate(all="ignore"):
        truth = TRUTH[name](x.astype(np.float64))
        rounded = truth.astype(np.float32)
        off = np.abs(y.astype(np.float64) - truth) / np.spacing(np.maximum(np.abs(rounded), least).astype(np.float32))
    same = (y == rounded) | (np.isnan(y) & np.isnan(rounded))
    worst = np.where(same, 0.0, np.nan_to_num(off, nan=np.inf))
    assert worst.max() <= ULPS, f"{form}({x[worst.argmax()]}) = {y[worst.argmax()]}, not {truth[worst.argmax()]}"


@pytest.mark.parametrize("form", FORMS)
def test_infinities_as_numpy_has_them(form: str, library: ctypes.CDLL):
    """SiLU, Mish and GELU are products: zero times infinity is NaN."""
    x = np.array([-np.inf, -1e30, -89, -88.5, -0.0, 0.0, np.nan, np.inf], np.float32)
    name = form.rstrip("0123456789")
    x = np.minimum(x, 0) if name in BELOW else x
    half = {"gelu": lambda x: (1 + TRUTH["erf"](x / math.sqrt(2))) / 2}
    factor = {"silu": TRUTH["sigmoid"], "mish": TRUTH["tanh_softplus"], **half}.get(name)
    with np.errstate(all="ignore"):
        truth = (x * factor(x) if factor else TRUTH[name](x)).astype(np.float32)
    y = computed(library, form, np.tile(x, 2))
    np.testing.assert_allclose(y, np.tile(truth, 2), rtol=1e-5, atol=1e-35, err_msg=form)


def test_far_from_zero_gelu_is_nothing_or_all(library: ctypes.CDLL):
    x = np.array([5.6, 20, 1e30, np.inf], np.float32)
    assert np.array_equal(computed(library, "gelu", x), x)
    assert not computed(library, "gelu", -x[:3]).any()


def divisors() -> np.ndarray:
    """Random ones, and those next to powers of two, whose reciprocals are furthest off."""
    rng = np.random.default_rng(0)
    near = np.uint32([0x3F800001, 0x3F7FFFFF, 0x3FFFFFFF, 0x3EAAAAAB, 0x40490FDB]).view(np.float32)
    drawn = rng.uniform(1, 2, 40) * 2.0 ** rng.integers(-59, 60, 40) * rng.choice([-1, 1], 40)
    return np.concatenate([near, -near, drawn.astype(np.float32)])


def test_quotients_by_reciprocals_are_rounded_like_quotients(library: ctypes.CDLL):
    x = np.arange(0, 2**32, 7 * STEP, dtype=np.uint64).astype(np.uint32).view(np.float32)
    normal = np.random.default_rng(1).standard_normal(10**5, dtype=np.float32)
    x = np.concatenate([x, normal, np.float32([0.0, -0.0, np.inf, -np.inf, np.nan])])
    for s in divisors():
        with np.errstate(all="ignore"):
            expected = x / s
        y = called(library, "quotients", x, "float32", s, np.float32(1) / s)
        tiny, huge = np.abs(x) < 2.0**-100, np.abs(expected) > 3.4028e38
        exact = ~(tiny | huge) | (x == 0) | ~np.isfinite(x)
        np.testing.assert_array_equal(y[exact], expected[exact], err_msg=str(s))
        assert np.array_equal(np.signbit(y[x == 0]), np.signbit(expected[x == 0]))
        np.testing.assert_allclose(y[tiny], expected[tiny], rtol=2.0**-22, atol=2.0**-148)


LIMITS = [
    ("uint8", 0, 255, 0),
    ("uint8", 3, 255, 3),
    ("uint8", 0, 255, 254),
    ("int8", -128, 127, -5),
    ("int8", -7, 7, 0),
]


@pytest.mark.parametrize(("dtype", "low", "high", "zero"), LIMITS)
def test_bytes_are_rounded_to_even(dtype: str, low: int, high: int, zero: int, library: ctypes.CDLL):
    ends = np.float32([np.inf, 3e38, 2.0**31, 2.0**23 + 1, 2.0**22 + 0.5, 1e-40, 0.49999997, 0.50000006])
    x = np.concatenate([np.arange(-600, 600, 0.25), ends, -ends]).astype(np.float32)
    expected = np.clip(np.round(x) + np.float32(zero), low, high)
    found = called(library, "to_bytes", x, dtype, low, high, zero)
    np.testing.assert_array_equal(found, expected.astype(dtype))
    np.testing.assert_array_equal(called(library, "as_bytes", x, "float32", low, high, zero), expected)
    nothing = np.full(16, np.nan, np.float32)
    assert not called(library, "to_bytes", nothing, dtype, low, high, zero).any()
    assert not called(library, "as_bytes", nothing, "float32", low, high, zero).any()
