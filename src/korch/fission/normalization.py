"""Normalisations, written as their definitions: mean, centred, variance, scale, shift."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from korch.fission.rule import Opaque, fission
from korch.ir.builder import Builder, Value

Mean = Callable[[Value], Value]
"""Means that broadcast against what they are of."""


@fission("BatchNormalization", since=7)
def batch_normalization(
    b: Builder,
    x: Value,
    scale: Value,
    shift: Value,
    mean: Value,
    variance: Value,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    spatial: int = 1,
    training_mode: int = 0,
    outputs: int = 1,
) -> Value | Opaque:
    """x * s + (shift - mean * s), s = scale / sqrt(variance + epsilon); constants in float64, rounded once."""
    if training_mode or outputs > 1:
        return Opaque("it normalises by the statistics of the batch")
    parameters = (scale, shift, mean, variance)
    wide = "float64" if all(v.tensor.const for v in parameters) else x.dtype
    scale, shift, mean, variance = (b.op("Cast", v, to=wide) for v in parameters)
    s = scale / b.op("Sqrt", variance + epsilon)
    return x * _by_channel(b, s, x) + _by_channel(b, shift - mean * s, x)


def _by_channel(b: Builder, v: Value, x: Value) -> Value:
    """A parameter [C] (or [C,*] of old opsets) against x [N,C,*], in x's dtype."""
    shape = (*v.shape, *(1,) * (x.rank - 1 - v.rank))
    return b.op("Cast", b.op("Reshape", v, shape=shape), to=x.dtype)


@fission("InstanceNormalization")
def instance_normalization(b: Builder, x: Value, scale: Value, shift: Value, *, epsilon: float = 1e-5) -> Value:
    """Each channel of each image to mean 0 and variance 1, then scale [C] and shift [C]. Where channels are groups of
    another tensor's, as torch writes group norms, that is normalised: its channels can lie last."""
    whole = _ungrouped(b, x)
    if whole:
        return b.op("Reshape", _by_group(b, whole, scale, shift, x.shape[1], epsilon), shape=x.shape)
    axes = tuple(range(2, x.rank))
    return normalized(b, x, lambda v: _mean(b, v, axes), epsilon, _by_channel(b, scale, x), _by_channel(b, shift, x))


def _ungrouped(b: Builder, x: Value) -> Value | None:
    """What `x` is a view of, if that has the same images, and as channels parts of x's."""
    view = b.producer(x)
    source = view.inputs[0] if view and view.op == "Reshape" else None
    if source is None or source.rank < 3 or source.shape[0] != x.shape[0] or source.shape[1] % x.shape[1]:
        return None
    return Value(b, source)


@fission("GroupNormalization", since=21)
def group_normalization(
    b: Builder, x: Value, scale: Value, shift: Value, *, num_groups: int, epsilon: float = 1e-5, stash_type: int = 1
) -> Value:
    """Groups of channels to mean 0 and variance 1, then scale [C] and shift [C]."""
    return _by_group(b, x, scale, shift, num_groups, epsilon)


@fission("GroupNormalization", since=18)
def group_normalization_18(
    b: Builder, x: Value, scale: Value, shift: Value, *, num_groups: int, epsilon: float = 1e-5
) -> Value:
    """Before opset 21: scale [num_groups] and shift [num_groups]."""
    return _by_group(b, x, scale, shift, num_groups, epsilon)


def _by_group(b: Builder, x: Value, scale: Value, shift: Value, groups: int, epsilon: float) -> Value:
    """Parameters of all channels or groups against x [N,C,*]. A group's mean is that of its channels' means, so that
    nothing but those is ever seen by group: x may lie channels-last."""
    places, each = tuple(range(2, x.rank)), x.shape[1] // groups

    def mean(v: Value) -> Value:
        if groups == 1 or each == 1:
            return _mean(b, v, places if each == 1 else (1, *places))
        parts = b.op("Reshape", _mean(b, v, places), shape=(x.shape[0], groups, each))
        whole = b.op("Expand", _mean(b, parts, (2,)), shape=parts.shape)
        return b.op("Reshape", whole, shape=(*x.shape[:2], *(1,) * len(places)))

    return normalized(b, x, mean, epsilon, _of_channels(b, scale, x), _of_channels(b, shift, x))


def _of_channels(b: Builder, v: Value, x: Value) -> Value:
    """A parameter of every channel, or of every group of them, against x [N,C,*]."""
    (n,), channels = v.shape, x.shape[1]
    every = b.op("Expand", b.op("Reshape", v, shape=(n, 1)), shape=(n, channels // n))
    return _by_channel(b, b.op("Reshape", every, shape=(channels,)), x)


@fission("LayerNormalization")
def layer_normalization(
    b: Builder,
    x: Value,
    scale: Value,
    shift: Value | None = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> tuple[Value, Value, Value]:
    """The axes from `axis` on to mean 0 and variance 1, then scale and shift; also mean and 1/deviation. ONNX has it
    since opset 17; onnxruntime's optimiser writes it into older models, too."""
    axes = tuple(range(axis % x.rank, x.rank))
    mean, centred, inverse = _moments(b, x, lambda v: _mean(b, v, axes), epsilon)
    y = centred * inverse * scale
    stash = "float32" if stash_type == 1 else x.dtype
    return (y if shift is None else y + shift, b.op("Cast", mean, to=stash), b.op("Cast", inverse, to=stash))


@fission("RMSNormalization", since=23)
def rms_normalization(
    b: Builder, x: Value, scale: Value, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> Value:
    """x / sqrt(mean x^2 + epsilon) over the axes from `axis` on, times scale, which may have another type."""
    axes = tuple(range(axis % x.rank, x.rank))
    inverse = b.op("Reciprocal", b.op("Sqrt", _mean(b, x * x, axes) + epsilon))
    return b.op("Cast", x * inverse, to=scale.dtype) * scale


@fission("MeanVarianceNormalization", since=9)
def mean_variance_normalization(b: Builder, x: Value, *, axes: Sequence[int] = (0, 2, 3)) -> Value:
    """(x - mean) / (deviation + 1e-9) over `axes`."""
    axes = tuple(a % x.rank for a in axes)
    centred = x - _mean(b, x, axes)
    return centred * b.op("Reciprocal", b.op("Sqrt", _mean(b, centred * centred, axes)) + 1e-9)


@fission("LpNormalization")
def lp_normalization(b: Builder, x: Value, *, axis: int = -1, p: int = 2) -> Value:
    """x / (sum |x|^p)^(1/p) along `axis`; zeros stay zeros."""
    powers = x * x if p == 2 else b.op("Abs", x)
    total = b.op("ReduceSum", powers, axes=(axis % x.rank,), keepdims=1)
    norm = b.op("Sqrt", total) if p == 2 else total
    return x / b.op("Max", norm, float(np.finfo(x.dtype).tiny))


@fission("LRN")
def local_response_normalization(
    b: Builder, x: Value, *, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0
) -> Value:
    """x / (bias + alpha * mean of x^2 over `size` neighbouring channels)^beta; missing channels count as zero."""
    squares = b.op("Reshape", x * x, shape=(x.shape[0], 1, x.shape[1], math.prod(x.shape[2:])))
    pads = ((size - 1) // 2, 0, size // 2, 0)
    mean = b.op(
        "AveragePool",
        squares,
        kernel_shape=(size, 1),
        strides=(1, 1),
        dilations=(1, 1),
        pads=pads,
        channels_last=0,
        count_include_pad=1,
    )
    return x / b.op("Pow", b.op("Reshape", mean, shape=x.shape) * alpha + bias, beta)


def normalized(b: Builder, x: Value, mean: Mean, epsilon: float, scale: Value, shift: Value) -> Value:
    """centred * (scale / deviation) + shift: one multiplication an element, the rest is small."""
    scale, shift = (b.op("Cast", v, to=x.dtype) for v in (scale, shift))
    _, centred, inverse = _moments(b, x, mean, epsilon)
    return centred * (inverse * scale) + shift


def _moments(b: Builder, x: Value, mean: Mean, epsilon: float) -> tuple[Value, Value, Value]:
    """Mean, x - mean, and 1 / sqrt(variance + epsilon)."""
    middle = mean(x)
    centred = x - middle
    return middle, centred, b.op("Reciprocal", b.op("Sqrt", mean(centred * centred) + epsilon))


def _mean(b: Builder, x: Value, axes: Sequence[int]) -> Value:
    return b.op("ReduceMean", x, axes=tuple(axes), keepdims=1)
