"""Resize and Upsample: one axis at a time, picked (nearest) or weighed (linear, cubic)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from korch import limits
from korch.fission.indexing import take
from korch.fission.parameters import integers
from korch.fission.rule import Opaque, fission
from korch.ir.builder import Builder, Value

F32 = np.float32
Number = Fraction | np.float32
HALF = 0.5


@dataclass(frozen=True)
class ResizedAxis:
    """One axis: `length` elements become `result`, `scale` to one: the ratio of sizes, exactly, or the float32 of a
    model's `scales`. Coordinates are numbers of that type, for ties decide what nearest picks."""

    length: int
    result: int
    scale: Number

    def number(self, value: float) -> Number:
        return Fraction(value) if isinstance(self.scale, Fraction) else F32(value)


@dataclass(frozen=True)
class Sampling:
    """How the elements of a resized axis read the original: ONNX's attributes of the same names."""

    mode: str
    coordinates: str
    nearest: str = "round_prefer_floor"
    cubic: float = -0.75
    exclude_outside: bool = False


def _half_pixel(s: ResizedAxis, i: int) -> Number:
    return _divided(s.number(i + HALF), s) - s.number(HALF)


def _half_pixel_symmetric(s: ResizedAxis, i: int) -> Number:
    """The middle of the result over the middle of the original."""
    return _divided(s.number(i + HALF - s.result / 2), s) + s.number(s.length / 2) - s.number(HALF)


def _align_corners(s: ResizedAxis, i: int) -> Number:
    return Fraction(0) if s.result == 1 else Fraction(i * (s.length - 1), s.result - 1)


def _divided(x: Number, s: ResizedAxis) -> Any:
    """x / scale; both are of one type."""
    y: Any = x
    return y / s.scale


COORDINATES: dict[str, Callable[[ResizedAxis, int], Number]] = {
    "half_pixel": _half_pixel,
    "half_pixel_symmetric": _half_pixel_symmetric,
    "pytorch_half_pixel": lambda s, i: _half_pixel(s, i) if s.result > 1 else s.number(0),
    "tf_half_pixel_for_nn": lambda s, i: _divided(s.number(i + HALF), s),
    "align_corners": _align_corners,
    "asymmetric": lambda s, i: _divided(s.number(i), s),
}
"""Where in the original the element i lies."""

NEAREST: dict[str, Callable[[Number], int]] = {
    "round_prefer_floor": lambda x: math.ceil(x - _half_of(x)),
    "round_prefer_ceil": lambda x: math.floor(x + _half_of(x)),
    "floor": math.floor,
    "ceil": math.ceil,
}


def _half_of(x: Number) -> Any:
    """One half, of the type of x."""
    return Fraction(1, 2) if isinstance(x, Fraction) else F32(HALF)


@fission("Resize", since=11)
def resize(
    b: Builder,
    x: Value,
    roi: Value | None = None,
    scales: Value | None = None,
    sizes: Value | None = None,
    /,
    *,
    mode: str = "nearest",
    coordinate_transformation_mode: str = "half_pixel",
    nearest_mode: str = "round_prefer_floor",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    antialias: int = 0,
    axes: Sequence[int] | None = None,
    keep_aspect_ratio_policy: str = "stretch",
) -> Value | Opaque:
    """x with other lengths: `sizes`, or its own times `scales`."""
    if coordinate_transformation_mode not in COORDINATES:
        return Opaque(f"its coordinates are {coordinate_transformation_mode}")
    where = [a % x.rank for a in (range(x.rank) if axes is None else axes)]
    stretches = _stretches([x.shape[a] for a in where], scales, sizes, keep_aspect_ratio_policy)
    if isinstance(stretches, Opaque):
        return stretches
    if antialias and mode != "nearest" and any(s.scale < 1 for s in stretches):
        return Opaque("it filters while it shrinks")
    how = Sampling(mode, coordinate_transformation_mode, nearest_mode, cubic_coeff_a, bool(exclude_outside))
    return _resized(b, x, dict(zip(where, stretches, strict=True)), how)


@fission("Resize", since=10)
def resize_10(b: Builder, x: Value, scales: Value, *, mode: str = "nearest") -> Value | Opaque:
    """Opset 10: no coordinates but i / scale; nearest is the one before, or when shrinking the one behind."""
    stretches = _stretches(x.shape, scales, None)
    if isinstance(stretches, Opaque):
        return stretches
    shrinking = {a: s for a, s in enumerate(stretches) if s.scale < 1}
    others = {a: s for a, s in enumerate(stretches) if s.scale >= 1}
    small = _resized(b, x, shrinking, Sampling(mode, "asymmetric", "ceil"))
    return small if isinstance(small, Opaque) else _resized(b, small, others, Sampling(mode, "asymmetric", "floor"))


@fission("Upsample", since=9)
def upsample(b: Builder, x: Value, scales: Value, *, mode: str = "nearest") -> Value | Opaque:
    """Resize of opset 10 under its old name."""
    return resize_10(b, x, scales, mode=mode)


@fission("Upsample", since=7)
def upsample_by_attribute(b: Builder, x: Value, *, scales: Sequence[float], mode: str = "nearest") -> Value | Opaque:
    """Before opset 9 the scales are an attribute."""
    return resize_10(b, x, b.constant(scales, "float32"), mode=mode)


def _stretches(
    lengths: Sequence[int], scales: Value | None, sizes: Value | None, policy: str = "stretch"
) -> list[ResizedAxis] | Opaque:
    """The axes' new lengths and scales; a policy other than "stretch" gives all axes the least or greatest scale."""
    if scales is not None and scales.array is None:
        return Opaque("its scales are computed by the model")
    if scales is not None and scales.array is not None and scales.array.size:
        factors = scales.array.astype(F32)
        return [ResizedAxis(n, math.floor(F32(n) * f), f) for n, f in zip(lengths, factors, strict=True)]
    wanted = integers(sizes)
    if isinstance(wanted, Opaque):
        return wanted
    if not all(lengths):
        return Opaque("it resizes an axis of no elements")
    ratios = [Fraction(m, n) for m, n in zip(wanted, lengths, strict=True)]
    if policy == "stretch":
        return [ResizedAxis(n, m, f) for n, m, f in zip(lengths, wanted, ratios, strict=True)]
    f = min(ratios) if policy == "not_larger" else max(ratios)
    return [ResizedAxis(n, math.floor(n * f + Fraction(1, 2)), f) for n in lengths]


def _resized(b: Builder, x: Value, stretches: dict[int, ResizedAxis], how: Sampling) -> Value | Opaque:
    """Axis after axis, those that shrink first: that leaves the least to compute. Axes of length 1 just repeat."""
    if how.mode != "nearest" and not x.tensor.is_float:
        return Opaque(f"it weighs elements of dtype {x.dtype}")
    for axis, s in sorted(stretches.items(), key=lambda item: (item[1].scale, -item[0])):
        if s.length != 1 and (s.scale != 1 or s.result != s.length):
            x = _sampled(b, x, axis, s, how)
    repeated = {axis: s.result for axis, s in stretches.items() if s.length == 1}
    return b.op("Expand", x, shape=tuple(repeated.get(a, n) for a, n in enumerate(x.shape)))


def _sampled(b: Builder, x: Value, axis: int, s: ResizedAxis, how: Sampling) -> Value:
    limits.check_positions(s.result)
    at = [COORDINATES[how.coordinates](s, i) for i in range(s.result)]
    if how.mode == "nearest":
        return take(b, x, axis, [min(max(NEAREST[how.nearest](place), 0), s.length - 1) for place in at])
    taps, weights = _linear(at) if how.mode == "linear" else _cubic(at, how.cubic)
    if how.exclude_outside and how.mode == "cubic":
        weights = np.where((taps >= 0) & (taps < s.length), weights, 0)
        weights = weights / weights.sum(axis=1, keepdims=True)
    indices, weights = _folded(np.clip(taps, 0, s.length - 1), weights)
    return b.op(
        "Interpolate",
        x,
        axis=axis,
        taps=indices.shape[1],
        indices=tuple(indices.reshape(-1).tolist()),
        weights=tuple(weights.reshape(-1).tolist()),
    )


def _split(at: Sequence[Number]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The element before each place, and how far behind it the place is."""
    first = [math.floor(place) for place in at]
    return np.array(first, np.int64), np.array([float(x - n) for x, n in zip(at, first, strict=True)], np.float64)


def _linear(at: Sequence[Number]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The two neighbours of each place and their weights."""
    first, t = _split(at)
    return first[:, None] + np.arange(2), np.stack([1 - t, t], 1)


def _cubic(at: Sequence[Number], a: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The four neighbours of each place and their weights (Keys 1981, with the parameter `a`)."""
    first, t = _split(at)

    def near(d: NDArray[np.float64]) -> NDArray[np.float64]:
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d: NDArray[np.float64]) -> NDArray[np.float64]:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    weights = np.stack([far(t + 1), near(t), near(1 - t), far(2 - t)], 1)
    return first[:, None] + np.arange(-1, 3), weights


def _folded(indices: NDArray[np.int64], weights: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The same without a last tap that weighs nothing anywhere (axes cut to one element, whole steps)."""
    while indices.shape[1] > 1 and not weights[:, -1].any():
        indices, weights = indices[:, :-1], weights[:, :-1]
    return indices, weights
