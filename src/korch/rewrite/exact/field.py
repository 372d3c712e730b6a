"""Arithmetic modulo two primes on int64 arrays, and how the float constants of a graph become residues.

Q divides P - 1, so that exp has an image: with g of order Q modulo P, x -> g^x takes sums modulo Q to products modulo P
(Mirage section 5). Both primes are 7 modulo 8, so 2 has a square root in either field, as Winograd's points need.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from korch.ir.ops.table import Array

P = 2147480927
Q = 1073740463

INFINITE = 648263411

LARGEST_DENOMINATORS = (64, 512, 4096)
LARGEST_ROOT_PART = 1024
ROOT_DENOMINATORS = (1, 2, 3, 4, 6, 9, 12, 18, 36, 72, 144, 288, 576)
SINGLE, DOUBLE = 2.0**-23, 2.0**-44
"""How far, relatively, a number may be from the value it was rounded from."""


def power(x: Array, exponent: Array | int, m: int) -> Array:
    """x^exponent modulo m, exponents not negative."""
    base, rest = np.broadcast_arrays(x % m, np.asarray(exponent, np.int64))
    base, rest, result = base.copy(), rest.copy(), np.ones(base.shape, np.int64)
    while rest.any():
        result = np.where(rest & 1, result * base % m, result)
        base, rest = base * base % m, rest >> 1
    return result


def inverse(x: Array, m: int) -> Array:
    """1 / x modulo m (Fermat). What would be infinite is one odd number, with which no law of division holds."""
    return np.where(x % m == 0, INFINITE, power(x, m - 2, m))


def product(a: Array, b: Array, m: int, bilinear: Callable[[Array, Array], Array]) -> Array:
    """What `bilinear` (a sum of products of a's and b's elements, computed in float64) gives modulo m.

    The operands go in as digits of 16 bits: products stay below 2^32 and sums of 2^21 of them below 2^53, so that
    float64 holds them exactly.
    """
    total: Array = np.zeros((), np.int64)
    for i, x in enumerate(_digits(a)):
        for j, y in enumerate(_digits(b)):
            part = bilinear(x, y).astype(np.int64) % m
            total = (total + part * (2 ** (16 * (i + j)) % m)) % m
    return total


def _digits(x: Array) -> tuple[Array, Array]:
    return (x & 0xFFFF).astype(np.float64), (x >> 16).astype(np.float64)


# Constants -------------------------------------------------------------------------------------------------------


def residue_array(x: Array, m: int, tolerance: float | None = None) -> Array:
    """Floats as residues modulo m, each read as the simple number that rounds to it."""
    precise = tolerance or (DOUBLE if x.dtype == np.float64 else SINGLE)
    values, where = np.unique(x, return_inverse=True)
    residues = [residue(float(v), m, precise) for v in values]
    return np.asarray(residues, np.int64)[where].reshape(x.shape)


@lru_cache(maxsize=1 << 16)
def residue(x: float, m: int, tolerance: float) -> int:
    """x modulo m: as a fraction, as a + b sqrt(2) where the digits suffice to tell, or else as the binary fraction."""
    simple = simplest(x, tolerance)
    if simple is None and tolerance <= DOUBLE:
        if (parts := _with_root(x)) is not None:
            root = pow(2, (m + 1) // 4, m)
            return (_modulo(parts[0], m) + _modulo(parts[1], m) * root) % m
        simple = simplest(x, SINGLE)
    return _modulo(simple or Fraction(x), m)


def simplest(x: float, tolerance: float) -> Fraction | None:
    """A fraction with a small denominator that x is a rounding of; None where there is none."""
    exact = Fraction(x)
    for largest in LARGEST_DENOMINATORS:
        near = exact.limit_denominator(largest)
        if abs(near - exact) <= Fraction(tolerance) * abs(exact):
            return near
    return None


@lru_cache(maxsize=1 << 16)
def _with_root(x: float) -> tuple[Fraction, Fraction] | None:
    """(a, b) with x = a + b sqrt(2), the smaller |b| the better."""
    m = np.arange(-LARGEST_ROOT_PART, LARGEST_ROOT_PART + 1)
    for d in ROOT_DENOMINATORS:
        rest = x * d - m * 2.0**0.5
        n = np.rint(rest)
        fits = np.flatnonzero(np.abs(rest - n) <= DOUBLE * (np.abs(m) + np.abs(n) + 1))
        if len(fits):
            i = min(fits, key=lambda i: abs(int(m[i])))
            return Fraction(int(n[i]), d), Fraction(int(m[i]), d)
    return None


def _modulo(x: Fraction, m: int) -> int:
    return x.numerator * pow(x.denominator, -1, m) % m
