"""Resize and Upsample: one axis at a time, picked (nearest) or weighed (linear, cubic)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from korch.fission.indexing import take
from korch.fission.parameters import integers
from korch.fission.rule import Opaque, fission
from korch.ir.builder import Builder, Value

Numbers = NDArray[np.float32]
F32 = np.float32


@dataclass(frozen=True)
class Stretch:
    """One axis: `length` elements become `result`, `scale` (float32) to one."""

    length: int
    result: int
    scale: np.float32


@dataclass(frozen=True)
class Sampling:
    """How the elements of a resized axis read the original: ONNX's attributes of the same names."""

    mode: str
    coordinates: str
    nearest: str = "round_prefer_floor"
    cubic: float = -0.75
    exclude_outside: bool = False


def _half_pixel(s: Stretch, i: Numbers) -> Numbers:
    return (i + F32(0.5)) / s.scale - F32(0.5)


def _half_pixel_symmetric(s: Stretch, i: Numbers) -> Numbers:
    """The middle of the result over the middle of the original."""
    return (i + F32(0.5) - F32(s.result / 2)) / s.scale + F32(s.length / 2) - F32(0.5)


def _align_corners(s: Stretch, i: Numbers) -> Numbers:
    return i * 0 if s.result == 1 else i * F32(s.length - 1) / F32(s.result - 1)


COORDINATES: dict[str, Callable[[Stretch, Numbers], Numbers]] = {
    "half_pixel": _half_pixel,
    "half_pixel_symmetric": _half_pixel_symmetric,
    "pytorch_half_pixel": lambda s, i: _half_pixel(s, i) if s.result > 1 else i * 0,
    "tf_half_pixel_for_nn": lambda s, i: (i + F32(0.5)) / s.scale,
    "align_corners": _align_corners,
    "asymmetric": lambda s, i: i / s.scale,
}
"""Where in the original the elements i lie; in float32, as onnxruntime, for ties decide what nearest picks."""

NEAREST: dict[str, Callable[[Numbers], Numbers]] = {
    "round_prefer_floor": lambda x: np.ceil(x - F32(0.5)),
    "round_prefer_ceil": lambda x: np.floor(x + F32(0.5)),
    "floor": np.floor,
    "ceil": np.ceil,
}


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
) -> list[Stretch] | Opaque:
    """The axes' new lengths and scales; a policy other than "stretch" gives all axes the least or greatest scale."""
    if scales is not None and scales.array is None:
        return Opaque("its scales are computed by the model")
    if scales is not None and scales.array is not None and scales.array.size:
        factors = scales.array.astype(F32)
        return [Stretch(n, math.floor(F32(n) * f), f) for n, f in zip(lengths, factors, strict=True)]
    wanted = integers(sizes)
    if isinstance(wanted, Opaque):
        return wanted
    ratios = [F32(m) / F32(n) for m, n in zip(wanted, lengths, strict=True)]
    if policy == "stretch":
        return [Stretch(n, m, f) for n, m, f in zip(lengths, wanted, ratios, strict=True)]
    f = min(ratios) if policy == "not_larger" else max(ratios)
    return [Stretch(n, math.floor(F32(n) * f + F32(0.5)), f) for n in lengths]


def _resized(b: Builder, x: Value, stretches: dict[int, Stretch], how: Sampling) -> Value | Opaque:
    """Axis after axis, those that shrink first: that leaves the least to compute. Axes of length 1 just repeat."""
    if how.mode != "nearest" and not x.tensor.is_float:
        return Opaque(f"it weighs elements of dtype {x.dtype}")
    for axis, s in sorted(stretches.items(), key=lambda item: (item[1].scale, -item[0])):
        if s.length != 1 and (s.scale != 1 or s.result != s.length):
            x = _sampled(b, x, axis, s, how)
    repeated = {axis: s.result for axis, s in stretches.items() if s.length == 1}
    return b.op("Expand", x, shape=tuple(repeated.get(a, n) for a, n in enumerate(x.shape)))


def _sampled(b: Builder, x: Value, axis: int, s: Stretch, how: Sampling) -> Value:
    at = COORDINATES[how.coordinates](s, np.arange(s.result, dtype=F32))
    if how.mode == "nearest":
        picked = np.clip(NEAREST[how.nearest](at), 0, s.length - 1)
        return take(b, x, axis, picked.astype(np.int64).tolist())
    taps, weights = _linear(at) if how.mode == "linear" else _cubic(at, how.cubic)
    if how.exclude_outside and how.mode == "cubic":
        weights = np.where((taps >= 0) & (taps < s.length), weights, 0)
        weights = weights / weights.sum(axis=1, keepdims=True)
    indices, weights = _folded(np.clip(taps, 0, s.length - 1), weights)
    return b.op("Interpolate", x, axis=axis, taps=indices.shape[1], indices=tuple(indices.reshape(-1).tolist()),
                weights=tuple(weights.reshape(-1).tolist()))  # fmt: skip


def _linear(at: Numbers) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The two neighbours of each place and their weights."""
    first = np.floor(at)
    t = (at - first).astype(np.float64)
    return first.astype(np.int64)[:, None] + np.arange(2), np.stack([1 - t, t], 1)


def _cubic(at: Numbers, a: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The four neighbours of each place and their weights (Keys 1981, with the parameter `a`)."""
    first = np.floor(at)
    t = (at - first).astype(np.float64)

    def near(d: NDArray[np.float64]) -> NDArray[np.float64]:
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d: NDArray[np.float64]) -> NDArray[np.float64]:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    weights = np.stack([far(t + 1), near(t), near(1 - t), far(2 - t)], 1)
    return first.astype(np.int64)[:, None] + np.arange(-1, 3), weights


def _folded(indices: NDArray[np.int64], weights: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The same without a last tap that weighs nothing anywhere (axes cut to one element, whole steps)."""
    while indices.shape[1] > 1 and not weights[:, -1].any():
        indices, weights = indices[:, :-1], weights[:, :-1]
    return indices, weights
