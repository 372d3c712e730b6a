"""Cones that cuBLAS and cuDNN are asked for: products, convolutions, attention, in odd sizes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from korch.fission.attention import attention
from korch.fission.softmax import softmax
from korch.ir import Builder, Cone, Value

Make = Callable[[Builder], Value]


def cone_of(make: Make) -> Cone:
    b = Builder("test")
    return Cone.of(b.graph([("y", make(b))]).primitives)


def x(b: Builder, *shape: int, name: str = "x") -> Value:
    return b.input(name, "float32", shape)


def const(b: Builder, *shape: int, name: str = "w") -> Value:
    scale = 1 / math.sqrt(math.prod(shape[1:]))
    return b.constant((np.random.default_rng(1).standard_normal(shape) * scale).astype(np.float32), name=name)


def turned(v: Value, *perm: int) -> Value:
    return v.builder.op("Transpose", v, perm=perm)


def shaped(v: Value, *shape: int) -> Value:
    return v.builder.op("Reshape", v, shape=shape)


def relu(v: Value) -> Value:
    return v.builder.op("Relu", v)


def gelu(v: Value) -> Value:
    """As its fission writes it, approximated by tanh."""
    inner = v.builder.op("Tanh", (v + v * v * v * 0.044715) * math.sqrt(2 / math.pi))
    return v * 0.5 * (inner + 1.0)


PRODUCTS: dict[str, Make] = {
    "plain": lambda b: x(b, 17, 23) @ const(b, 23, 31),
    "both computed": lambda b: x(b, 17, 23) @ x(b, 23, 31, name="z"),
    "rows of batches": lambda b: x(b, 3, 5, 23) @ const(b, 23, 31),
    "weights first": lambda b: const(b, 31, 23) @ x(b, 23, 17),
    "transposed weights": lambda b: x(b, 17, 23) @ turned(const(b, 31, 23), 1, 0),
    "transposed input": lambda b: turned(x(b, 23, 17), 1, 0) @ const(b, 23, 31),
    "transposed result": lambda b: turned(x(b, 17, 23) @ const(b, 23, 31), 1, 0) + x(b, 31, 1, name="v"),
    "scaled": lambda b: x(b, 17, 23) @ const(b, 23, 31) * 0.125,
    "bias": lambda b: x(b, 17, 23) @ const(b, 23, 31) + const(b, 31, name="v"),
    "scale and bias": lambda b: x(b, 4, 5, 23) @ const(b, 23, 31) / 3.0 + const(b, 31, name="v"),
    "bias a row": lambda b: x(b, 17, 23) @ const(b, 23, 31) + const(b, 17, 1, name="v"),
    "residual": lambda b: x(b, 2, 17, 23) @ const(b, 23, 31) + x(b, 2, 17, 31, name="r"),
    "bias relu": lambda b: relu(x(b, 17, 23) @ const(b, 23, 31) + const(b, 31, name="v")),
    "relu alone": lambda b: relu(x(b, 17, 23) @ const(b, 23, 31)),
    "residual relu": lambda b: relu(x(b, 17, 23) @ const(b, 23, 31) + x(b, 17, 31, name="r")),
    "bias gelu": lambda b: gelu(x(b, 17, 23) @ const(b, 23, 31) + const(b, 31, name="v")),
    "batches": lambda b: x(b, 3, 17, 23) @ x(b, 3, 23, 31, name="z"),
    "batches with a scale": lambda b: x(b, 3, 17, 23) @ x(b, 3, 23, 31, name="z") * 0.5,
    "batches with a bias": lambda b: x(b, 3, 17, 23) @ x(b, 3, 23, 31, name="z") + const(b, 31, name="v"),
    "one for all batches": lambda b: x(b, 1, 17, 23) @ x(b, 5, 23, 31, name="z"),
    "broadcast batches": lambda b: x(b, 3, 1, 17, 23) @ x(b, 5, 23, 31, name="z"),
    "heads": lambda b: turned(x(b, 2, 17, 3, 8), 0, 2, 1, 3) @ turned(x(b, 2, 19, 3, 8, name="k"), 0, 2, 3, 1),
    "heads back": lambda b: shaped(
        turned(x(b, 2, 3, 17, 19) @ turned(x(b, 2, 19, 3, 8, name="v"), 0, 2, 1, 3), 0, 2, 1, 3), 2, 17, 24
    ),
    "slices": lambda b: b.op("Slice", x(b, 17, 40), starts=(0, 9), steps=(1, 1), lengths=(17, 23)) @ const(b, 23, 31),
    "a vector": lambda b: x(b, 1, 23) @ const(b, 23, 31),
    "one column": lambda b: x(b, 17, 23) @ const(b, 23, 1),
    "one step": lambda b: x(b, 17, 1) @ const(b, 1, 31),
}


def conv(v: Value, w: Value, strides=1, pads=0, dilations=1, group=1, last=0, op="Conv", **more) -> Value:
    k = w.rank - 2
    every = lambda n, count: (n,) * count if isinstance(n, int) else tuple(n)  # noqa: E731
    return v.builder.op(
        op,
        v,
        w,
        strides=every(strides, k),
        pads=every(pads, 2 * k),
        dilations=every(dilations, k),
        group=group,
        channels_last=last,
        **more,
    )


def image(b: Builder, last: int, n: int, c: int, *size: int, name: str = "x") -> Value:
    return x(b, *((n, *size, c) if last else (n, c, *size)), name=name)


def channels(b: Builder, last: int, count: int, k: int = 2) -> Value:
    return const(b, *((count,) if last else (count, *(1,) * k)), name="v")


def convolved(b: Builder, last: int, w=(7, 5, 3, 3), size=(13, 11), **more) -> Value:
    return conv(image(b, last, 2, w[1] * more.get("group", 1), *size), const(b, *w), last=last, **more)


def deconvolved(b: Builder, last: int, w=(6, 5, 4, 4), size=(7, 9), extra=0, strides=2, pads=1, group=1) -> Value:
    out = tuple((n - 1) * strides + t - 2 * pads + extra for n, t in zip(size, w[2:], strict=True))
    c = w[1] * group
    shape = (2, *out, c) if last else (2, c, *out)
    return conv(
        image(b, last, 2, w[0], *size), const(b, *w), strides, pads, 1, group, last, "ConvTranspose", output_shape=shape
    )


def _residual(b: Builder, last: int, bias: bool) -> Value:
    y = convolved(b, last, pads=1)
    y = y + channels(b, last, 7) if bias else y
    return relu(y + b.input("r", "float32", y.shape))


CONVOLUTIONS: dict[str, Callable[[Builder, int], Value]] = {
    "3x3": lambda b, last: convolved(b, last, pads=1),
    "bias": lambda b, last: convolved(b, last, pads=1) + channels(b, last, 7),
    "relu": lambda b, last: relu(convolved(b, last, pads=1)),
    "bias relu": lambda b, last: relu(convolved(b, last, pads=1) + channels(b, last, 7)),
    "residual relu": lambda b, last: _residual(b, last, bias=False),
    "bias residual relu": lambda b, last: _residual(b, last, bias=True),
    "strided dilated": lambda b, last: convolved(b, last, strides=(2, 1), pads=(2, 1, 2, 1), dilations=(2, 1)),
    "grouped": lambda b, last: convolved(b, last, w=(6, 4, 3, 3), group=2),
    "depthwise": lambda b, last: convolved(b, last, w=(8, 1, 3, 3), group=8, pads=1) + channels(b, last, 8),
    "two filters a channel": lambda b, last: convolved(b, last, w=(8, 1, 3, 3), group=4, strides=2),
    "pointwise": lambda b, last: convolved(b, last, w=(7, 5, 1, 1)) + channels(b, last, 7),
    "pointwise relu": lambda b, last: relu(convolved(b, last, w=(7, 5, 1, 1))),
    "one axis": lambda b, last: relu(convolved(b, last, w=(7, 5, 3), size=(23,), pads=1) + channels(b, last, 7, 1)),
    "one channel": lambda b, last: convolved(b, last, w=(7, 1, 5, 5), pads=2),
    "one position": lambda b, last: convolved(b, last, size=(3, 3)),
    "transposed": lambda b, last: deconvolved(b, last) + channels(b, last, 5),
    "transposed, longer": lambda b, last: deconvolved(b, last, extra=1),
    "transposed, grouped": lambda b, last: deconvolved(b, last, w=(6, 2, 3, 3), group=3),
    "transposed, one axis": lambda b, last: deconvolved(b, last, w=(6, 5, 4), size=(11,)),
    "computed weights": lambda b, last: conv(image(b, last, 1, 5, 9, 9), x(b, 7, 5, 3, 3, name="w"), last=last),
    "other layout": lambda b, last: turned(
        conv(
            turned(image(b, 1 - last, 2, 5, 9, 8), *((0, 2, 3, 1) if last else (0, 3, 1, 2))),
            const(b, 7, 5, 3, 3),
            last=last,
        ),
        *((0, 3, 1, 2) if last else (0, 2, 3, 1)),
    ),
}


def qkv(b: Builder, n=2, heads=3, queries=9, keys=17, size=8, values=8) -> tuple[Value, Value, Value]:
    return (
        x(b, n, heads, queries, size, name="q"),
        x(b, n, heads, keys, size, name="k"),
        x(b, n, heads, keys, values, name="v"),
    )


def unshifted(b: Builder, scores: Value) -> Value:
    e = b.op("Exp", scores)
    return e / b.op("ReduceSum", e, axes=(scores.rank - 1,), keepdims=1)


def _projected(b: Builder) -> Value:
    """Heads split from and joined to [batch, length, heads * size], as exported models have them."""
    q, k, v = (shaped(x(b, 2, n, 24, name=name), 2, n, 3, 8) for name, n in (("q", 9), ("k", 17), ("v", 17)))
    scores = turned(q, 0, 2, 1, 3) @ turned(k, 0, 2, 3, 1) / math.sqrt(8)
    y = softmax(b, scores + x(b, 2, 1, 1, 17, name="mask")) @ turned(v, 0, 2, 1, 3)
    return shaped(turned(y, 0, 2, 1, 3), 2, 9, 24)


def _flat(b: Builder) -> Value:
    """Batch and heads as one axis for the products, apart for the softmax."""
    q, k, v = (x(b, 6, n, 8, name=name) for name, n in (("q", 9), ("k", 17), ("v", 17)))
    scores = shaped(q * 0.35 @ turned(k, 0, 2, 1), 2, 3, 9, 17) + x(b, 2, 3, 9, 17, name="mask")
    return shaped(softmax(b, scores), 6, 9, 17) @ v


def _divided_behind(b: Builder) -> Value:
    q, k, v = qkv(b)
    e = b.op("Exp", q @ turned(k, 0, 1, 3, 2))
    return e @ v / b.op("ReduceSum", e, axes=(3,), keepdims=1)


def _on_its_side(b: Builder) -> Value:
    """All of it transposed: keys are rows of the scores, the softmax goes down columns."""
    q, k, v = qkv(b)
    return turned(turned(v, 0, 1, 3, 2) @ softmax(b, k @ turned(q, 0, 1, 3, 2), axis=2), 0, 1, 3, 2)


def _turned_scores(b: Builder) -> Value:
    """K Q^T, transposed before the softmax."""
    q, k, v = qkv(b)
    return softmax(b, turned(k @ turned(q, 0, 1, 3, 2), 0, 1, 3, 2) * 0.3) @ v


def _by_definition(b: Builder, masked: bool) -> Value:
    """As ONNX's Attention is fissioned, its heads in the last axis."""
    q, k, v = (x(b, 2, n, 24, name=name) for name, n in (("q", 9), ("k", 17), ("v", 17)))
    mask = b.constant(np.random.default_rng(3).standard_normal((9, 17)), "float32", "mask") if masked else None
    found = attention(b, q, k, v, mask, q_num_heads=3, kv_num_heads=3)
    assert isinstance(found, tuple)
    return found[0]


ATTENTION: dict[str, Make] = {
    "plain": lambda b: (lambda q, k, v: softmax(b, q @ turned(k, 0, 1, 3, 2)) @ v)(*qkv(b)),
    "unshifted": lambda b: (lambda q, k, v: unshifted(b, q @ turned(k, 0, 1, 3, 2) * 0.3) @ v)(*qkv(b)),
    "wider values": lambda b: (lambda q, k, v: softmax(b, q @ turned(k, 0, 1, 3, 2)) @ v)(*qkv(b, values=16)),
    "one query": lambda b: (lambda q, k, v: softmax(b, q @ turned(k, 0, 1, 3, 2)) @ v)(*qkv(b, queries=1)),
    "without batches": lambda b: softmax(b, x(b, 9, 8) @ turned(x(b, 17, 8, name="k"), 1, 0)) @ x(b, 17, 8, name="v"),
    "shared keys": lambda b: softmax(b, x(b, 3, 9, 8) @ turned(x(b, 17, 8, name="k"), 1, 0)) @ x(b, 17, 8, name="v"),
    "projected": _projected,
    "flat": _flat,
    "divided behind": _divided_behind,
    "on its side": _on_its_side,
    "turned scores": _turned_scores,
    "by definition": lambda b: _by_definition(b, masked=False),
    "by definition, masked": lambda b: _by_definition(b, masked=True),
}
