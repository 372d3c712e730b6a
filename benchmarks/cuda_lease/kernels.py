"""Fixed kernels to which the model of costs is fitted: every form in several sizes, the same each time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest

import numpy as np

from korch.backends.contract import Kernel, Variant
from korch.backends.table import backends
from korch.fission.softmax import softmax
from korch.ir import Builder, Cone, Value

Make = Callable[[Builder], Value]
MOST = 400
NUMERICS = ("fast", "strict")


def _input(b: Builder, *shape: int, name: str = "x") -> Value:
    return b.input(name, "float32", shape)


def _weights(b: Builder, *shape: int) -> Value:
    scale = 1 / math.sqrt(math.prod(shape[1:]))
    return b.constant((np.random.default_rng(0).standard_normal(shape) * scale).astype(np.float32))


def _product(rows: int, steps: int, columns: int) -> Make:
    return lambda b: _input(b, rows, steps) @ _weights(b, steps, columns)


def _biased(rows: int, steps: int, columns: int) -> Make:
    return lambda b: b.op("Relu", _input(b, rows, steps) @ _weights(b, steps, columns) + _weights(b, columns))


def _batched(batch: int, rows: int, steps: int, columns: int) -> Make:
    return lambda b: _input(b, batch, rows, steps) @ _input(b, batch, steps, columns, name="z")


def _conv(
    side: int,
    channels: int,
    outputs: int,
    kernel: int,
    stride: int = 1,
    group: int = 1,
    last: int = 1,
    relu: bool = False,
) -> Make:
    def make(b: Builder) -> Value:
        x = _input(b, *((1, side, side, channels) if last else (1, channels, side, side)))
        w = _weights(b, outputs, channels // group, kernel, kernel)
        y = b.op(
            "Conv",
            x,
            w,
            strides=(stride,) * 2,
            dilations=(1, 1),
            pads=(kernel // 2,) * 4,
            group=group,
            channels_last=last,
        )
        return b.op("Relu", y) if relu else y

    return make


def _map(*shape: int) -> Make:
    return lambda b: b.op("Sigmoid", _input(b, *shape)) * _input(b, *shape) + _input(b, shape[-1], name="bias")


def _turned(*shape: int) -> Make:
    return lambda b: b.op("Transpose", _input(b, *shape), perm=(0, 3, 1, 2))


def _sum(*shape: int, axis: int) -> Make:
    return lambda b: b.op("ReduceSum", _input(b, *shape), axes=(axis,), keepdims=1)


def _rows(*shape: int) -> Make:
    return lambda b: softmax(b, _input(b, *shape), axis=len(shape) - 1)


def _norm(*shape: int) -> Make:
    def make(b: Builder) -> Value:
        x, axis = _input(b, *shape), len(shape) - 1
        apart = x - b.op("ReduceMean", x, axes=(axis,), keepdims=1)
        spread = b.op("Sqrt", b.op("ReduceMean", apart * apart, axes=(axis,), keepdims=1) + 1e-5)
        return apart / spread

    return make


def _pool(op: str, side: int, channels: int, kernel: int, stride: int) -> Make:
    more = {"channels_last": 0} | ({"count_include_pad": 0} if op == "AveragePool" else {})
    return lambda b: b.op(
        op,
        _input(b, 1, channels, side, side),
        kernel_shape=(kernel,) * 2,
        strides=(stride,) * 2,
        pads=(kernel // 2,) * 4,
        dilations=(1, 1),
        **more,
    )


def _attended(heads: int, places: int, width: int) -> Make:
    def make(b: Builder) -> Value:
        q, k, v = (_input(b, 1, heads, places, width, name=n) for n in "qkv")
        return softmax(b, q @ b.op("Transpose", k, perm=(0, 1, 3, 2)) * width**-0.5) @ v

    return make


FORMS: Mapping[str, tuple[Make, ...]] = {
    "conv 3x3": (
        _conv(56, 128, 128, 3),
        _conv(56, 64, 64, 3, relu=True),
        _conv(28, 256, 256, 3),
        _conv(13, 512, 512, 3),
        _conv(104, 64, 128, 3, stride=2),
        _conv(56, 128, 128, 3, last=0),
    ),
    "conv to few": (_conv(224, 32, 3, 9), _conv(224, 32, 3, 3), _conv(128, 64, 1, 5)),
    "conv 1x1": (
        _conv(52, 128, 64, 1),
        _conv(26, 512, 256, 1, relu=True),
        _conv(128, 32, 192, 1),
        _conv(13, 1024, 512, 1),
    ),
    "conv 5x5, 7x7": (_conv(224, 3, 64, 7, stride=2), _conv(56, 64, 64, 5), _conv(416, 3, 32, 3)),
    "conv in groups": (_conv(56, 128, 128, 3, group=4), _conv(28, 256, 256, 3, group=8)),
    "depthwise": (
        _conv(112, 96, 96, 3, group=96),
        _conv(256, 64, 64, 5, group=64),
        _conv(56, 192, 192, 7, group=192),
        _conv(52, 128, 128, 5, stride=2, group=128),
        _conv(112, 96, 96, 3, group=96, last=0),
    ),
    "product": (
        _product(128, 384, 384),
        _product(1024, 1024, 1024),
        _product(4096, 4096, 4096),
        _product(16, 4096, 1024),
        _product(196, 768, 3072),
        _product(1, 1024, 1000),
        _product(16384, 64, 256),
    ),
    "product and bias": (_biased(256, 512, 2048), _biased(4096, 256, 256), _biased(64, 2048, 512)),
    "batched product": (_batched(8, 256, 64, 256), _batched(12, 197, 64, 197), _batched(64, 49, 32, 49)),
    "attention": (_attended(8, 256, 64), _attended(12, 197, 64), _attended(1, 4096, 32)),
    "map": tuple(_map(*shape) for shape in ((1, 64), (56, 56, 128), (224, 224, 32), (416, 416, 64), (2048, 2048, 16))),
    "transposition": tuple(_turned(*shape) for shape in ((1, 56, 56, 128), (1, 224, 224, 32), (1, 512, 512, 16))),
    "sum of rows": tuple(_sum(*shape, axis=1) for shape in ((128, 384), (16, 65536), (4096, 256), (1, 1 << 20))),
    "sum of columns": tuple(_sum(*shape, axis=0) for shape in ((4096, 256), (65536, 64), (512, 2048))),
    "softmax": tuple(_rows(*shape) for shape in ((8, 256, 256), (12, 197, 197), (1, 16384, 64))),
    "norm": tuple(_norm(*shape) for shape in ((128, 384), (3136, 96), (16384, 64))),
    "pooling": (_pool("MaxPool", 112, 64, 3, 2), _pool("MaxPool", 13, 512, 5, 1), _pool("AveragePool", 56, 128, 3, 1)),
}


def fixed_kernels(multiprocessors: int, most: int = MOST) -> dict[str, tuple[str, Kernel]]:
    """(form, kernel) by a key that names all of it. Forms take turns, so that the first of them are of every form."""
    found: dict[str, tuple[str, Kernel]] = {}
    for row in zip_longest(*(_offered(form, makes, multiprocessors) for form, makes in FORMS.items())):
        found |= {key: (form, kernel) for key, form, kernel in filter(None, row)}
        if len(found) >= most:
            break
    return dict(list(found.items())[:most])


def _offered(form: str, makes: tuple[Make, ...], multiprocessors: int) -> Iterator[tuple[str, str, Kernel]]:
    """The kernels of all backends, the first of each cone before the second of any."""
    by_cone = [kernels_of(make, multiprocessors) for make in makes]
    for row in zip_longest(*by_cone):
        for number, kernel in enumerate(row):
            if kernel:
                yield f"{form} {number}: {kernel.backend} {kernel.variant}", form, kernel


def kernels_of(make: Make, multiprocessors: int, allowed: Sequence[str] = NUMERICS) -> Iterator[Kernel]:
    """All different ones of a cone under the numerics that are `allowed`, built as they are asked for."""
    b, seen = Builder(), set[tuple[str, Variant]]()
    cone = Cone.of(b.graph([("y", make(b))]).primitives)
    for numerics in allowed:
        for backend in backends("cuda", numerics):
            for k in backend.build(cone, multiprocessors) if backend.refuses(cone) is None else ():
                if not k.alias and (k.backend, k.variant) not in seen:
                    seen.add((k.backend, k.variant))
                    yield k
