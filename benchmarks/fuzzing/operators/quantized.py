"""Quantized operators: bytes with scales and zero points."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fuzzing.draft import MICROSOFT, Draft
from fuzzing.operators import template
from fuzzing.operators.folds import images, window

BYTES = ("int8", "uint8")
FACTORS = {"int8": (-64, 63), "uint8": (0, 255)}
"""Of weights: without VNNI onnxruntime adds pairs of products of larger ones in 16 bits, and cuts them off."""


def scale(d: Draft, dtype: str = "float32", shape: Sequence[int] = (), size: float = 0.03) -> str:
    """Scales, as constants."""
    return d.weight(d.array(dtype, shape, size / 2, size * 2))


def zero(d: Draft, kind: str, shape: Sequence[int] = (), symmetric: bool = False) -> str:
    """Zero points, as constants."""
    middle = 128 if kind == "uint8" else 0
    return d.weight(np.full(shape, middle, kind) if symmetric else d.array(kind, shape, middle - 20, middle + 20))


def narrow(d: Draft) -> str:
    return d.rng.choice(BYTES)


def quantity(
    d: Draft, shape: Sequence[int] | None = None, kinds: Sequence[str] = BYTES, rank: tuple[int, int] = (1, 4)
) -> str:
    """Bytes: known ones, an input, or floats that are quantized."""
    if shape is None:
        x = d.some(kinds, rank, fits=lambda y: y.size > 0, new=0.4)
        if d.chance(0.6) or d.setting.dtype != "float32":
            return x
        y = d.some(rank=rank, fits=lambda y: y.size > 0)
        kind = d.rng.choice(kinds)
        return d.node("QuantizeLinear", [y, scale(d), zero(d, kind)])
    kind = d.rng.choice(kinds)
    return d.input(d.array(kind, shape, -128, 255))


@template("QuantizeLinear", since=10)
def quantize(d: Draft, op: str) -> None:
    x, kind = d.some(rank=(1, 4), fits=lambda y: y.size > 0), narrow(d)
    shape, dtype = d.arrays[x].shape, d.arrays[x].dtype.name
    axis = d.rng.randrange(len(shape)) if (d.setting.opset >= 13 and d.chance(0.4)) else None
    each = () if axis is None else (shape[axis],)
    d.node(op, [x, scale(d, dtype, each), zero(d, kind, each)], axis=axis)


@template("DequantizeLinear", since=10)
def dequantize(d: Draft, op: str) -> None:
    x = d.some((*BYTES, "int32"), (1, 4), fits=lambda y: y.size > 0, new=0.4)
    shape, kind = d.arrays[x].shape, d.arrays[x].dtype.name
    axis = d.rng.randrange(len(shape)) if d.setting.opset >= 13 and d.chance(0.4) else None
    each = () if axis is None else (shape[axis],)
    point = [] if kind == "int32" or d.chance(0.2) else [zero(d, kind, each)]
    dtype = d.setting.dtype if d.setting.opset >= 19 else "float32"
    d.node(op, [x, scale(d, dtype, each), *point], axis=axis)


@template("QuantizeLinear", "DequantizeLinear", domain=MICROSOFT)
def microsofts(d: Draft, op: str) -> None:
    if op == "QuantizeLinear":
        x, kind = d.some(fits=lambda y: y.size > 0), narrow(d)
    else:
        x = d.some(BYTES, fits=lambda y: y.size > 0, new=0.4)
        kind = d.arrays[x].dtype.name
    d.node(op, [x, scale(d), zero(d, kind)], domain=MICROSOFT)


@template("DynamicQuantizeLinear", since=11)
def dynamic(d: Draft, op: str) -> None:
    d.nodes_of(op, [d.some(("float32",), fits=lambda y: y.size > 0)], 3)


@template("MatMulInteger", since=10)
def matmul_integer(d: Draft, op: str) -> None:
    x = quantity(d, kinds=("uint8", "uint8", "int8"), rank=(2, 3))
    k, n, kind = d.arrays[x].shape[-1], d.length(33), narrow(d)
    w = d.fresh(kind, (k, n), *FACTORS[kind], d.chance(0.8))
    points = [zero(d, d.arrays[x].dtype.name), zero(d, kind)][: d.rng.randint(0, 2)]
    d.node(op, [x, w, *points])


@template("ConvInteger", since=10)
def conv_integer(d: Draft, op: str) -> None:
    x = d.some(
        ("uint8",),
        (4, 4),
        fits=lambda y: y.size > 0,
        shape=lambda: (d.length(2), d.length(16), d.length(9), d.length(9)),
    )
    c = d.arrays[x].shape[1]
    attrs = window(d, d.arrays[x].shape[2:])
    group = c if d.chance(0.2) else 1
    w = d.fresh("uint8", (d.length(17) if group == 1 else c, c // group, *attrs["kernel_shape"]), 0, 255, True)
    points = [zero(d, "uint8"), zero(d, "uint8")][: d.rng.randint(0, 2)]
    d.node(op, [x, w, *points], group=group, **attrs)


@template("QLinearMatMul", since=10)
def qlinear_matmul(d: Draft, op: str) -> None:
    x = quantity(d, rank=(2, 3))
    (k, kind), n, other = (d.arrays[x].shape[-1], d.arrays[x].dtype.name), d.length(17), narrow(d)
    w = d.fresh(other, (k, n), *FACTORS[other], d.chance(0.8))
    given = [x, scale(d), zero(d, kind), w, scale(d), zero(d, other), scale(d, size=0.1 * math.sqrt(k)), zero(d, kind)]
    d.node(op, given)


@template("QGemm", domain=MICROSOFT)
def qgemm(d: Draft, op: str) -> None:
    x = quantity(d, rank=(2, 2))
    a, b = d.rng.choice([0, 1]), d.rng.choice([0, 1])
    kind, other, n = d.arrays[x].dtype.name, narrow(d), d.length(17)
    k = d.arrays[x].shape[0 if a else 1]
    w = d.fresh(other, (n, k) if b else (k, n), *FACTORS[other], True)
    each = d.rng.choice([(), (n,)])
    points = zero(d, other, each, True)
    bias = d.weight(d.array("int32", (n,), -500, 500)) if d.chance(0.6) else ""
    given = [x, scale(d), zero(d, kind), w, scale(d, shape=each), points, bias]
    if d.chance(0.7):
        given += [scale(d, size=0.1 * math.sqrt(k)), zero(d, kind)]
    d.node(op, given, domain=MICROSOFT, transA=a, transB=b)


@template("QLinearConv", since=10)
def qlinear_conv(d: Draft, op: str) -> None:
    x = d.some(
        ("uint8", "int8"),
        (4, 4),
        fits=lambda y: y.size > 0,
        shape=lambda: (d.length(2), d.length(16), d.length(9), d.length(9)),
    )
    c, kind = d.arrays[x].shape[1], d.arrays[x].dtype.name
    attrs = window(d, d.arrays[x].shape[2:])
    group = c if d.chance(0.25) else 1
    out = c if group > 1 else d.length(17)
    other = "int8" if kind == "int8" or d.chance(0.6) else "uint8"
    w = d.weight(d.array(other, (out, c // group, *attrs["kernel_shape"]), *FACTORS[other]))
    each = (out,) if other == "int8" and d.chance(0.5) else ()
    terms = c // group * math.prod(attrs["kernel_shape"])
    given = [x, scale(d), zero(d, kind), w, scale(d, shape=each), zero(d, other, each, True)]
    given += [scale(d, size=0.1 * math.sqrt(terms)), zero(d, kind)]
    if d.chance(0.6):
        given.append(d.weight(d.array("int32", (out,), -500, 500)))
    d.node(op, given, group=group, **attrs)


@template("QLinearAdd", "QLinearMul", domain=MICROSOFT)
def qlinear_of_two(d: Draft, op: str) -> None:
    x = quantity(d)
    kind = d.arrays[x].dtype.name
    y = d.partner(x, low=-128, high=255)
    d.node(
        op,
        [x, scale(d), zero(d, kind), y, scale(d), zero(d, kind), scale(d, size=0.08), zero(d, kind)],
        domain=MICROSOFT,
    )


@template("QLinearSigmoid", "QLinearLeakyRelu", domain=MICROSOFT)
def qlinear_activation(d: Draft, op: str) -> None:
    x = quantity(d)
    kind = d.arrays[x].dtype.name
    attrs = {"alpha": 0.1} if op == "QLinearLeakyRelu" else {}
    d.node(op, [x, scale(d), zero(d, kind), scale(d, size=0.01), zero(d, kind)], domain=MICROSOFT, **attrs)


@template("QLinearGlobalAveragePool", domain=MICROSOFT)
def qlinear_pool(d: Draft, op: str) -> None:
    x = d.some(
        BYTES, (4, 4), fits=lambda y: y.size > 0, shape=lambda: (d.length(2), d.length(9), d.length(9), d.length(9))
    )
    kind = d.arrays[x].dtype.name
    d.node(
        op, [x, scale(d), zero(d, kind), scale(d), zero(d, kind)], domain=MICROSOFT, channels_last=d.rng.choice([0, 1])
    )


@template("QLinearConcat", domain=MICROSOFT)
def qlinear_concat(d: Draft, op: str) -> None:
    x = quantity(d)
    kind, shape = d.arrays[x].dtype.name, d.arrays[x].shape
    y = d.fresh(kind, shape, -128, 255, False)
    parts = [v for part in (x, y) for v in (part, scale(d), zero(d, kind))]
    d.node(op, [scale(d), zero(d, kind), *parts], domain=MICROSOFT, axis=d.rng.randrange(len(shape)))


@template("qdq:MatMul", "qdq:Conv", since=13)
def between_both(d: Draft, op: str) -> None:
    """A float operator between DequantizeLinear and QuantizeLinear, as static quantization leaves it."""
    if op.endswith("MatMul"):
        x = d.some(("float32",), (2, 3), fits=lambda y: y.size > 0)
        k, n = d.arrays[x].shape[-1], d.length(33)
        shape, axis = (k, n), 1
    else:
        x = images(d, 4, 4) if d.setting.dtype == "float32" else d.input(d.array("float32", (1, 8, 9, 7)))
        attrs = window(d, d.arrays[x].shape[2:])
        k = d.arrays[x].shape[1] * math.prod(attrs["kernel_shape"])
        shape, axis, n = (d.length(17), d.arrays[x].shape[1], *attrs["kernel_shape"]), 0, 0
        n = shape[0]
    kind = narrow(d)
    point = [scale(d), zero(d, kind)]
    x = d.node("DequantizeLinear", [d.node("QuantizeLinear", [x, *point]), *point])
    each = (n,) if d.chance(0.6) else ()
    w = d.weight(d.array("int8", shape, -127, 127))
    w = d.node("DequantizeLinear", [w, scale(d, shape=each, size=0.01), zero(d, "int8", each, True)], axis=axis)
    if op.endswith("MatMul"):
        y = d.node("MatMul", [x, w])
    else:
        bias = [d.fresh("float32", (n,), constant=True)] if d.chance(0.6) else []
        y = d.node("Conv", [x, w, *bias], **attrs)
    y = d.node("Relu", [y]) if d.chance(0.4) else y
    if d.chance(0.7):
        point = [scale(d, size=0.03 * math.sqrt(k)), zero(d, kind)]
        d.node("DequantizeLinear", [d.node("QuantizeLinear", [y, *point]), *point])
