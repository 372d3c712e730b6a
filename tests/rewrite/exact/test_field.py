"""Residues: the fields' own laws, and constants that are read free of their rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from korch.rewrite.exact.field import DOUBLE, SINGLE, P, Q, inverse, power, product, residue, residue_array, simplest


def is_prime(n: int) -> bool:
    """Fermat's test at many bases: enough for two fixed numbers."""
    return all(pow(b, n - 1, n) == 1 for b in range(2, 60))


def test_the_primes_are_what_exp_and_winograd_need():
    assert is_prime(P) and is_prime(Q) and P < 2**31
    assert (P - 1) % Q == 0 and P % 8 == Q % 8 == 7


@pytest.mark.parametrize("m", [P, Q])
@settings(deadline=None)
@given(x=st.integers(1, Q - 1), n=st.integers(0, Q))
def test_powers_and_inverses(m: int, x: int, n: int):
    assert power(np.asarray(x), n, m) == pow(x, n, m)
    assert inverse(np.asarray(x), m) * x % m == 1


@pytest.mark.parametrize("m", [P, Q])
def test_products_of_the_largest_residues_are_exact(m: int):
    a, b = np.full((3, 400), m - 1), np.full((400, 2), m - 2)
    assert (product(a, b, m, np.matmul) == 400 * 2 % m).all()  # (-1) (-2)


@settings(deadline=None)
@given(st.integers(-3000, 3000), st.integers(1, 576))
def test_a_rounded_fraction_is_read_as_itself(numerator: int, denominator: int):
    x = Fraction(numerator, denominator)
    assert simplest(float(x), DOUBLE) == x
    if abs(x) < 4:
        assert simplest(float(np.float32(float(x))), SINGLE) == x


@pytest.mark.parametrize("m", [P, Q])
@settings(deadline=None)
@given(a=st.fractions(-9, 9, max_denominator=36), b=st.fractions(-9, 9, max_denominator=36))
def test_square_roots_of_two(m: int, a: Fraction, b: Fraction):
    """(a + b sqrt 2)(a - b sqrt 2) = a^2 - 2 b^2, where the parts have a common denominator of the list."""
    a, b = Fraction(round(a * 36), 36), Fraction(round(b * 36), 36)
    there, back = (residue(float(a) + s * float(b) * 2.0**0.5, m, DOUBLE) for s in (1, -1))
    right = a * a - 2 * b * b
    assert there * back % m == right.numerator * pow(right.denominator, -1, m) % m


def test_any_other_float_is_its_binary_fraction():
    x = next(v for v in np.random.default_rng(0).random(99, np.float32) if simplest(float(v), SINGLE) is None)
    exact = Fraction(float(x))
    assert residue_array(np.asarray([x]), P)[0] == exact.numerator * pow(exact.denominator, -1, P) % P
