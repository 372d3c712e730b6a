"""Small networks in the shapes that the rules are about."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from korch.ir import Builder, Graph, Value

Build = Callable[..., Value]


def graph_of(build: Build, *shapes: Sequence[int]) -> Graph:
    """The graph of `build(b, x, ...)`, an input of each shape."""
    b = Builder()
    inputs = [b.input(f"x{i}", "float32", shape) for i, shape in enumerate(shapes)]
    return b.graph([("y", build(b, *inputs))])


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    """Multiples of an eighth, no zeros."""
    rng = np.random.default_rng([seed, *shape])
    return (rng.integers(1, 9, shape) * rng.choice([-1, 1], shape) / 8).astype(np.float32)


def conv(b: Builder, x: Value, channels: int, k: int = 1, pad: int = 0, stride: int = 1, seed: int = 0) -> Value:
    w = b.constant(numbers(channels, x.shape[1], k, k, seed=seed))
    return b.op("Conv", x, w, strides=(stride,) * 2, pads=(pad,) * 4, dilations=(1, 1), group=1, channels_last=0)


def biased(b: Builder, x: Value, seed: int = 0) -> Value:
    """x plus a constant a channel (axis 1 of an image, the last of tokens)."""
    return x + b.constant(numbers(x.shape[1], 1, 1, seed=seed) if x.rank == 4 else numbers(x.shape[-1], seed=seed))


def scaled(b: Builder, x: Value, seed: int = 0) -> Value:
    return x * b.constant(numbers(x.shape[1], 1, 1, seed=seed) if x.rank == 4 else numbers(x.shape[-1], seed=seed))


def linear(b: Builder, x: Value, features: int, seed: int = 0) -> Value:
    return x @ b.constant(numbers(x.shape[-1], features, seed=seed))


def tokens(b: Builder, x: Value) -> Value:
    """[n, c, h, w] -> [n, h * w, c]."""
    n, c, h, w = x.shape
    return b.op("Transpose", b.op("Reshape", x, shape=(n, c, h * w)), perm=(0, 2, 1))


def image(b: Builder, x: Value, h: int) -> Value:
    """[n, h * w, c] -> [n, c, h, w]."""
    n, hw, c = x.shape
    return b.op("Reshape", b.op("Transpose", x, perm=(0, 2, 1)), shape=(n, c, h, hw // h))


def enlarged(b: Builder, x: Value, times: int) -> Value:
    """Linear interpolation along both axes, by dyadic weights."""
    for axis in (3, 2):
        n = x.shape[axis]
        first = [min(i // times, n - 1) for i in range(n * times)]
        indices = tuple(k for i in first for k in (i, min(i + 1, n - 1)))
        weights = tuple(w for i in range(n * times) for w in (1 - i % times / times, i % times / times))
        x = b.op("Interpolate", x, axis=axis, taps=2, indices=indices, weights=weights)
    return x


def repeated(b: Builder, x: Value) -> Value:
    """Every element twice along both axes."""
    for axis in (3, 2):
        x = b.op("Gather", x, axis=axis, indices=tuple(i // 2 for i in range(2 * x.shape[axis])))
    return x


def head(b: Builder, *levels: Value) -> Value:
    """Segformer's: a linear a level, enlarged to the first, joined, a 1x1 convolution with bias, ReLU."""
    size = levels[0].shape[2]
    parts = []
    for i, x in enumerate(levels):
        y = biased(b, linear(b, tokens(b, x), 16, seed=i), seed=i)
        parts.append(
            enlarged(b, image(b, y, x.shape[2]), size // x.shape[2]) if x.shape[2] < size else image(b, y, size)
        )
    return b.op("Relu", biased(b, conv(b, b.op("Concat", *parts, axis=1), 16)))
