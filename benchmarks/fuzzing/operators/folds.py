"""Reductions, windows and normalisations."""

from __future__ import annotations

import numpy as np

from fuzzing.draft import MICROSOFT, Draft, Rejected
from fuzzing.operators import template
from fuzzing.operators.maps import tamed
from fuzzing.operators.moves import axis_of, with_axes

REDUCE = ("L1", "L2", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")


@template(*(f"Reduce{kind}" for kind in REDUCE), "ReduceLogSum")
def reduced(d: Draft, op: str) -> None:
    if op == "ReduceLogSum":
        x = tamed(d, 0.1, 4)
    elif op in ("ReduceProd", "ReduceLogSumExp"):
        x = tamed(d, -1.5, 1.5)
    else:
        x = d.some(d.floats if d.chance(0.8) else ("int32", "int64"))
    rank = d.arrays[x].ndim
    axes = d.rng.sample(range(rank), d.rng.randint(1, rank)) if rank and d.chance(0.85) else None
    if axes and d.setting.opset >= 11:
        axes = [a - rank if d.chance(0.3) else a for a in axes]
    if op in ("ReduceMax", "ReduceMin", "ReduceMean") and not d.arrays[x].size:
        raise Rejected("nothing to reduce")
    keep = d.rng.choice([0, 1])
    with_axes(d, op, x, axes, 13 if op == "ReduceSum" else 18, keepdims=keep)


@template("ArgMax", "ArgMin")
def place_of_an_extreme(d: Draft, op: str) -> None:
    x = d.some(rank=(1, 4))
    last = d.rng.choice([0, 1]) if d.setting.opset >= 12 else None
    d.node(op, [x], axis=d.rng.randrange(d.arrays[x].ndim), keepdims=d.rng.choice([0, 1]), select_last_index=last)


@template("CumSum", since=11)
def cumulative(d: Draft, op: str) -> None:
    x = d.some(rank=(1, 4))
    axis = d.weight(np.int64(axis_of(d, d.arrays[x].ndim)))
    d.node(op, [x, axis], exclusive=d.rng.choice([0, 1]), reverse=d.rng.choice([0, 1]))


@template("Softmax", "LogSoftmax", "Hardmax")
def softmax(d: Draft, op: str) -> None:
    x = d.some(rank=(1, 4))
    rank = d.arrays[x].ndim
    d.node(op, [x], axis=d.rng.randrange(0 if d.setting.opset < 11 else -rank, rank))


def images(d: Draft, low: int = 3, high: int = 5, channels: int = 0) -> str:
    """[N, C, *], with at least one element."""

    def shape() -> tuple[int, ...]:
        rank = d.rng.choice([r for r in (3, 4, 4, 4, 4, 5) if low <= r <= high])
        most = {3: 64, 4: 16, 5: 7}[rank]
        return (d.length(3), channels or d.length(16), *(d.length(most) for _ in range(rank - 2)))

    return d.some(rank=(low, high), fits=lambda y: y.size > 0 and (not channels or y.shape[1] == channels), shape=shape)


def window(d: Draft, spatial: tuple[int, ...], dilated: bool = True, padded: bool = True) -> dict[str, list[int]]:
    """Attributes of a window that fits; `kernel_shape` among them."""
    kernel = [d.rng.choice([k for k in (1, 2, 3, 3, 3, 4, 5, 7) if k <= n + 1]) for n in spatial]
    fitting = [[e for e in (1, 1, 1, 2, 3) if (k - 1) * e < n + 1] for n, k in zip(spatial, kernel, strict=True)]
    dilations = [d.rng.choice(some) if dilated and some else 1 for some in fitting]
    reach = [(k - 1) * e + 1 for k, e in zip(kernel, dilations, strict=True)]
    pads = [d.rng.randint(0, min(k - 1, 3)) if padded and d.chance(0.7) else 0 for _ in range(2) for k in kernel]
    r = len(spatial)
    if any(n + pads[i] + pads[i + r] < reach[i] for i, n in enumerate(spatial)):
        raise Rejected("the window is larger than what it runs over")
    strides = [d.rng.choice([1, 1, 1, 2, 3]) for _ in spatial]
    attrs = {"kernel_shape": kernel, "strides": strides, "pads": pads}
    return {**attrs, **({"dilations": dilations} if dilated else {})}


@template("MaxPool", since=10)
@template("AveragePool", "LpPool")
def pool(d: Draft, op: str) -> None:
    x = images(d)
    opset = d.setting.opset
    dilated = op == "MaxPool" or opset >= (19 if op == "AveragePool" else 18)
    attrs: dict[str, object] = dict(window(d, d.arrays[x].shape[2:], dilated))
    if op == "AveragePool":
        attrs["count_include_pad"] = d.rng.choice([0, 1])
    if op == "LpPool":
        attrs["p"] = d.rng.choice([1, 2, 3])
    elif opset >= 10:
        attrs["ceil_mode"] = d.rng.choice([0, 0, 1])
    d.node(op, [x], **attrs)


@template("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(d: Draft, op: str) -> None:
    d.node(op, [images(d)], p=d.rng.choice([1, 2]) if op == "GlobalLpPool" else None)


def vectors(d: Draft, x: str, count: int, length: int) -> list[str]:
    """Parameters of a normalisation."""
    constant = d.chance(0.7)
    return [d.fresh(d.arrays[x].dtype.name, (length,), 0.5, 1.5, constant) for _ in range(count)]


@template("BatchNormalization")
def batch_normalization(d: Draft, op: str) -> None:
    x = images(d)
    d.node(op, [x, *vectors(d, x, 4, d.arrays[x].shape[1])], epsilon=d.rng.choice([1e-5, 1e-3]))


@template("InstanceNormalization")
def instance_normalization(d: Draft, op: str) -> None:
    x = images(d)
    d.node(op, [x, *vectors(d, x, 2, d.arrays[x].shape[1])], epsilon=d.rng.choice([1e-5, 1e-3]))


@template("GroupNormalization", since=18)
def group_normalization(d: Draft, op: str) -> None:
    x = images(d)
    channels = d.arrays[x].shape[1]
    groups = d.rng.choice([g for g in range(1, channels + 1) if channels % g == 0])
    d.node(op, [x, *vectors(d, x, 2, channels if d.setting.opset >= 21 else groups)], num_groups=groups)


@template("LayerNormalization", since=17)
def layer_normalization(d: Draft, op: str) -> None:
    x = d.some(rank=(1, 4), fits=lambda y: y.size > 0)
    axis = axis_of(d, d.arrays[x].ndim)
    shape, dtype = d.arrays[x].shape[axis:], d.arrays[x].dtype.name
    given = [d.fresh(dtype, shape, 0.5, 1.5) for _ in range(d.rng.randint(1, 2))]
    d.nodes_of(op, [x, *given], d.rng.choice([1, 1, 3]), axis=axis, epsilon=1e-3)


@template("RMSNormalization", since=23)
def rms_normalization(d: Draft, op: str) -> None:
    x = d.some(rank=(1, 4), fits=lambda y: y.size > 0)
    axis = axis_of(d, d.arrays[x].ndim)
    d.node(op, [x, d.fresh(d.arrays[x].dtype.name, d.arrays[x].shape[axis:], 0.5, 1.5)], axis=axis, epsilon=1e-3)


@template("SimplifiedLayerNormalization")
def simplified_layer_normalization(d: Draft, op: str) -> None:
    x = d.some(rank=(2, 4), fits=lambda y: y.size > 0)
    d.node(op, [x, *vectors(d, x, 1, d.arrays[x].shape[-1])], axis=-1, epsilon=1e-3)


@template("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def skip_normalization(d: Draft, op: str) -> None:
    x = d.some(rank=(3, 3), fits=lambda y: y.size > 0)
    shape, dtype = d.arrays[x].shape, d.arrays[x].dtype.name
    skip = d.fresh(dtype, shape)
    parameters = vectors(d, x, d.rng.randint(1, 3 if op == "SkipLayerNormalization" else 2), shape[-1])
    d.node(op, [x, skip, *parameters], domain=MICROSOFT, epsilon=1e-3)


@template("MeanVarianceNormalization")
def mean_variance_normalization(d: Draft, op: str) -> None:
    x = d.some(rank=(4, 4), fits=lambda y: y.size > 8)
    d.node(op, [x], axes=d.rng.choice([None, [0, 2, 3], [1, 2, 3], [2, 3]]))


@template("LpNormalization")
def lp_normalization(d: Draft, op: str) -> None:
    x = d.some(rank=(1, 4), fits=lambda y: y.size > 0 and bool(y.any()))
    d.node(op, [x], axis=axis_of(d, d.arrays[x].ndim), p=d.rng.choice([1, 2]))


@template("LRN")
def local_response_normalization(d: Draft, op: str) -> None:
    x = images(d, 4, 4)
    d.node(op, [x], size=d.rng.choice([1, 3, 5]), alpha=0.1, beta=0.75, bias=d.rng.choice([1.0, 2.0]))
