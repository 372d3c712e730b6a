"""Discrete Fourier transforms as products with constant matrices, of long axes two in turn (Cooley and Tukey 1965).

A complex number is the two elements of a last axis, so that a transform from m to k numbers is one real matrix
[2 m, 2 k], [m, 2 k] of a real signal. With n = a b, position j = b r + s and frequency k = p + a q, it is one of length
a along r for every s, and then for every p a matrix of its own, along s: what lies between both is part of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from korch import limits
from korch.fission.indexing import take
from korch.fission.parameters import integers
from korch.fission.rule import Opaque, fission
from korch.ir.builder import Builder, Value

SHORT = 256
"""Positions up to which there is one matrix: of fewer, the two would be less than 32 numbers wide, and turned three
times. (Counted, not measured.)"""
LONG = 1024
"""Positions that one matrix may have where the length has no good factors."""
LEAST = 8
"""The least good factor."""
MOST = 1 << 22
"""Elements of a constant."""

FloatArray = NDArray[np.floating[Any]]
Integers = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Transform:
    """Of `length` positions, the first `kept` frequencies; `sign` of the exponents, and what all is multiplied with."""

    length: int
    kept: int
    sign: int = -1
    scale: float = 1.0

    def matrix(self, turns: Integers, parts: int) -> FloatArray:
        """[..., J * parts, K * 2] of `turns` [..., J, K], in n-th of a whole one; `parts`: 1 of a real signal."""
        waves = np.exp(self.sign * 2j * np.pi * (turns % self.length) / self.length) * self.scale
        real, imaginary = waves.real, waves.imag
        both = np.stack([np.stack([real, imaginary], -1), np.stack([-imaginary, real], -1)][:parts], -3)
        *lead, j, _, k, _ = both.shape
        return both.reshape(*lead, j * parts, k * 2)

    @property
    def factors(self) -> tuple[int, int]:
        """Of the length, as near each other as can be, the smaller one first."""
        first = next(a for a in range(math.isqrt(self.length), 0, -1) if self.length % a == 0)
        return first, self.length // first


@fission("DFT", since=17)
def dft_by_attribute(
    b: Builder, x: Value, length: Value | None = None, *, axis: int = 1, inverse: int = 0, onesided: int = 0
) -> Value | Opaque:
    """x [..., n, ..., 1 or 2] along `axis`, of `length` positions: cut, or zeros behind."""
    return _dft(b, x, length, axis, inverse, onesided)


@fission("DFT", since=20)
def dft(
    b: Builder, x: Value, length: Value | None = None, axis: Value | None = None, *, inverse: int = 0, onesided: int = 0
) -> Value | Opaque:
    """The same, its axis an input."""
    along = integers(axis, [-2])
    return along if isinstance(along, Opaque) else _dft(b, x, length, along[0], inverse, onesided)


def _dft(b: Builder, x: Value, length: Value | None, axis: int, inverse: int, onesided: int) -> Value | Opaque:
    axis %= x.rank
    lengths = integers(length, [x.shape[axis]])
    if isinstance(lengths, Opaque):
        return lengths
    (n,) = lengths
    if x.dtype not in ("float32", "float64") or (inverse and onesided) or axis == x.rank - 1:
        return Opaque(f"it transforms {x.dtype}, its last axis, or half of the frequencies back")
    kept = n // 2 + 1 if onesided else n
    transform = Transform(n, kept, 1, 1 / n) if inverse else Transform(n, kept)
    order = (*(a for a in range(x.rank - 1) if a != axis), axis, x.rank - 1)
    turned = b.op("Transpose", x, perm=order)
    *others, m, parts = turned.shape
    y = _transformed(b, _cut(b, b.op("Reshape", turned, shape=(math.prod(others), m, parts)), n), transform)
    if isinstance(y, Opaque):
        return y
    y = b.op("Reshape", y, shape=(*others, kept, 2))
    return b.op("Transpose", y, perm=tuple(order.index(a) for a in range(x.rank)))


def _transformed(b: Builder, x: Value, t: Transform) -> Value | Opaque:
    """x [rows, m, parts] as [rows, kept, 2]; where m is less than the length, zeros lie behind."""
    (rows, m, parts), (a, _) = x.shape, t.factors
    if t.length > SHORT and a >= LEAST:
        return _in_two_steps(b, x, t)
    if t.length > LONG:
        return Opaque(f"its length {t.length} has no good factors")
    matrix = t.matrix(np.outer(np.arange(m), np.arange(t.kept)), parts)
    y = b.op("Reshape", x, shape=(rows, m * parts)) @ b.constant(matrix, x.dtype)
    return b.op("Reshape", y, shape=(rows, t.kept, 2))


def _in_two_steps(b: Builder, x: Value, t: Transform) -> Value | Opaque:
    (rows, m, parts), (first, second) = x.shape, t.factors
    high = -(-t.kept // first)  # of q
    if first * 2 * second * 2 * high > MOST:
        return Opaque(f"its length {t.length} asks for too large a constant")
    p, s = np.arange(first), np.arange(second)
    steps = Transform(first, first, t.sign).matrix(np.outer(p, p), parts)
    turns = s[:, None] * (p[:, None, None] + first * np.arange(high))  # [p, s, q]
    x = b.op("Pad", x, pads=(0, 0, 0, 0, t.length - m, 0), mode="constant", value=0.0)
    x = b.op("Transpose", b.op("Reshape", x, shape=(rows, first, second, parts)), perm=(0, 2, 1, 3))
    y = b.op("Reshape", x, shape=(rows * second, first * parts)) @ b.constant(steps, x.dtype)
    y = b.op("Transpose", b.op("Reshape", y, shape=(rows, second, first, 2)), perm=(2, 0, 1, 3))
    y = b.op("Reshape", y, shape=(first, rows, second * 2)) @ b.constant(t.matrix(turns, 2), x.dtype)
    y = b.op("Transpose", b.op("Reshape", y, shape=(first, rows, high, 2)), perm=(1, 2, 0, 3))
    return _cut(b, b.op("Reshape", y, shape=(rows, high * first, 2)), t.kept)


def _cut(b: Builder, x: Value, length: int) -> Value:
    """The first of the positions of [rows, positions, parts]."""
    rows, n, parts = x.shape
    return b.op("Slice", x, starts=(0, 0, 0), steps=(1, 1, 1), lengths=(rows, min(n, length), parts))


@fission("STFT", since=17)
def stft(
    b: Builder,
    signal: Value,
    step: Value,
    window: Value | None = None,
    length: Value | None = None,
    *,
    onesided: int = 1,
) -> Value | Opaque:
    """signal [batch, n, 1 or 2] as [batch, frames, frequencies, 2]: a convolution whose taps are the transform's, each
    multiplied by the window's."""
    steps, lengths = integers(step), integers(length, window.shape if window else signal.shape[1:2])
    if isinstance(steps, Opaque) or isinstance(lengths, Opaque):
        return Opaque("its step or length is computed by the model")
    (n,) = lengths
    weights = np.ones(n) if window is None else window.array
    if weights is None or weights.size != n or signal.dtype not in ("float32", "float64") or n > LONG:
        return Opaque(f"its window is computed, of another length or longer than {LONG}, or its signal {signal.dtype}")
    batch, _, parts = signal.shape
    t = Transform(n, n // 2 + 1 if onesided else n)
    taps = t.matrix(np.outer(np.arange(n), np.arange(t.kept)), parts).reshape(n, parts, -1) * weights[:, None, None]
    if signal.dtype == "float64":  # which nobody convolves
        starts = range(0, signal.shape[1] - n + 1, steps[0])
        limits.check_positions(n * len(starts))
        frames = take(b, signal, 1, [s + j for s in starts for j in range(n)])
        rows = b.op("Reshape", frames, shape=(batch * len(starts), n * parts))
        y = rows @ b.constant(taps.reshape(n * parts, -1), signal.dtype)
        return b.op("Reshape", y, shape=(batch, len(starts), t.kept, 2))
    y = b.op(
        "Conv",
        b.op("Transpose", signal, perm=(0, 2, 1)),
        b.constant(taps.transpose(2, 1, 0), signal.dtype),
        strides=steps,
        dilations=(1,),
        pads=(0, 0),
        group=1,
        channels_last=0,
    )
    y = b.op("Transpose", y, perm=(0, 2, 1))
    return b.op("Reshape", y, shape=(batch, y.shape[1], t.kept, 2))
