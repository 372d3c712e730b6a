"""Arrays over both fields at once, and the arithmetic on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from korch.ir.ops.table import Array
from korch.rewrite.exact.field import P, Q, inverse, power, product


@dataclass(frozen=True, eq=False)
class Residues:
    """One element of Z_P and one of Z_Q for every element of a float tensor; no `q` behind an exponential."""

    p: Array
    q: Array | None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.p.shape

    def __add__(self, other: Residues) -> Residues:
        return each(lambda m, a, b: (a + b) % m, self, other)

    def __sub__(self, other: Residues) -> Residues:
        return each(lambda m, a, b: (a - b) % m, self, other)

    def __mul__(self, other: Residues) -> Residues:
        return each(lambda m, a, b: a * b % m, self, other)

    def __truediv__(self, other: Residues) -> Residues:
        return each(lambda m, a, b: a * inverse(b, m) % m, self, other)

    def __neg__(self) -> Residues:
        return each(lambda m, a: -a % m, self)

    def __pow__(self, exponent: int) -> Residues:
        return each(lambda m, a: power(a, exponent % (m - 1), m), self)

    def same(self, other: Residues) -> bool:
        """Equal in Z_P, and in Z_Q where both have a value there."""
        if self.q is not None and other.q is not None and not np.array_equal(self.q, other.q):
            return False
        return np.array_equal(self.p, other.p)


@overload
def each(fn: Callable[[int, Array], Array], x: Residues, /) -> Residues: ...
@overload
def each(fn: Callable[[int, Array, Array], Array], x: Residues, y: Residues, /) -> Residues: ...
@overload
def each(fn: Callable[..., Array], /, *operands: Residues) -> Residues: ...
def each(fn: Callable[..., Array], *operands: Residues) -> Residues:
    """`fn(m, *arrays)` in either field."""
    p = fn(P, *(x.p for x in operands))
    return Residues(p, fn(Q, *(x.q for x in operands)) if all(x.q is not None for x in operands) else None)


def bilinear(fn: Callable[[Array, Array], Array], a: Residues, b: Residues) -> Residues:
    """A sum of products, given as a function of float64 arrays."""
    return each(lambda m, x, y: product(x, y, m, fn), a, b)


def number(value: int) -> Residues:
    return Residues(np.asarray(value % P), np.asarray(value % Q))


def ones(shape: tuple[int, ...]) -> Residues:
    return Residues(np.ones(shape, np.int64), np.ones(shape, np.int64))


def exponential(x: Array, base: int) -> Residues:
    """base^x for residues modulo Q and a base of order Q modulo P: exp(a + b) = exp(a) exp(b)."""
    return Residues(power(np.full(x.shape, base, np.int64), x, P), None)


# Functions of which nothing is known ----------------------------------------------------------------------------


NDArrayU64 = NDArray[np.uint64]


def scrambled(salt: int, *operands: Array) -> NDArrayU64:
    """64 bits for every element that look random and depend on nothing but the operands' residues."""
    state = np.full(np.broadcast_shapes(*(x.shape for x in operands)), salt % 2**64, np.uint64)
    for x in operands:
        state = _mixed(state ^ x.astype(np.uint64))
    return state


def _mixed(x: NDArrayU64) -> NDArrayU64:
    """The finaliser of splitmix64 (Steele, Lea & Flood 2014)."""
    with np.errstate(over="ignore"):
        x = x + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))


def uninterpreted(salt: int, *operands: Residues) -> Residues:
    """A function that is known only to give equal results for equal operands."""
    bits = [scrambled(salt + i, *(x.p for x in operands)) for i in (1, 2)]
    return Residues((bits[0] % np.uint64(P)).astype(np.int64), (bits[1] % np.uint64(Q)).astype(np.int64))
