"""Where channels-last twins arise: convolutions and pools, and every primitive that commutes with transposing."""

from __future__ import annotations

from random import Random

from korch.ir.builder import Builder, Value
from korch.ir.graph import Graph
from korch.rewrite.evidence.table import sample
from korch.rewrite.layouts import add_layouts
from korch.rewrite.samples.drawing import activation, conv, graph, pads, weights


@sample(add_layouts)
def convolutions(draw: Random) -> Graph:
    b = Builder()
    group, strides, dilations = draw.choice((1, 2)), draw.choice(((1, 1), (2, 1))), draw.choice(((1, 1), (1, 2)))
    x = activation(b, draw, 4, smallest=5)
    y = conv(b, draw, x, 6, (3, 2), group=group, strides=strides, dilations=dilations, pads=pads(draw))
    return graph(b, conv(b, draw, b.op("Relu", y + weights(b, draw, 6, 1, 1)), 3, (1, 1)))


@sample(add_layouts)
def convolutions_of_other_ranks(draw: Random) -> Graph:
    """Over one axis or three, with what a norm and a residual sum do between them."""
    b, axes = Builder(), draw.choice((1, 3))
    x = b.input("x", "float32", (draw.randint(1, 2), 4, *(draw.randint(3, 6) for _ in range(axes))))
    same = {"strides": (1,) * axes, "dilations": (1,) * axes, "channels_last": 0}
    w = weights(b, draw, 4, 2, *(3,) * axes)
    y = b.op("Conv", x, w, pads=(1, 1) * axes, group=2, **same) + weights(b, draw, 4, *(1,) * axes)
    y = y - b.op("ReduceMean", y, axes=tuple(range(2, axes + 2)), keepdims=1)
    y = b.op("Concat", x, b.op("Relu", y), axis=1)
    return graph(b, b.op("Conv", y, weights(b, draw, 3, 8, *(1,) * axes), pads=(0, 0) * axes, group=1, **same))


@sample(add_layouts)
def transposed_convolutions(draw: Random) -> Graph:
    b = Builder()
    x, group = activation(b, draw, 4), draw.choice((1, 2))
    shape = (x.shape[0], 3 * group, 2 * x.shape[2] + 1, x.shape[3] + 3)
    y = b.op(
        "ConvTranspose",
        x,
        weights(b, draw, 4, 3, 3, 4),
        strides=(2, 1),
        dilations=(1, 1),
        pads=(0, 0, 0, 0),
        group=group,
        channels_last=0,
        output_shape=shape,
    )
    return graph(b, b.op("Relu", y + weights(b, draw, 3 * group, 1, 1)))


@sample(add_layouts)
def moves_between(draw: Random) -> Graph:
    """Concat, Slice, Pad, Gather and Interpolate between two convolutions."""
    b = Builder()
    y = conv(b, draw, activation(b, draw, 3, smallest=4), 4, pads=(1, 1, 1, 1))
    y = b.op("Concat", y, b.op("Expand", b.op("ReduceMean", y, axes=(2,), keepdims=1), shape=y.shape), axis=1)
    y = _cropped(b, draw, y)
    y = b.op("Pad", y, pads=(0, 0, 1, 2, 0, 1, 0, 1), mode=draw.choice(("reflect", "edge", "constant")), value=0.0)
    y = b.op("Gather", y, axis=3, indices=tuple(i // 2 for i in range(2 * y.shape[3])))
    y = _resized(b, draw, y)
    return graph(b, conv(b, draw, y, 2, (1, 1)))


@sample(add_layouts)
def constant_channels(draw: Random) -> Graph:
    """Beside others, such as positions (CoordConv); they are a factor too."""
    b = Builder()
    y = conv(b, draw, activation(b, draw, 3), 2, (2, 2))
    c = weights(b, draw, *y.shape)
    return graph(b, conv(b, draw, b.op("Concat", y * c, c, axis=1), 2, (1, 1)))


def _cropped(b: Builder, draw: Random, y: Value) -> Value:
    n, c, h, w = y.shape
    first = draw.randint(0, 1)
    return b.op("Slice", y, starts=(0, first, 0, 1), steps=(1, 2, 1, 1), lengths=(n, (c - first) // 2, h, w - 1))


def _resized(b: Builder, draw: Random, y: Value) -> Value:
    """Every row becomes a third of its own and two thirds of another."""
    h = y.shape[2]
    indices = tuple(i for row in range(h) for i in (row, draw.randrange(h)))
    return b.op("Interpolate", y, axis=2, taps=2, indices=indices, weights=(1 / 3, 2 / 3) * h)


@sample(add_layouts)
def pools(draw: Random) -> Graph:
    b = Builder()
    window = {"strides": (1, 2), "pads": (1, 0, 1, 1), "dilations": (1, 1), "kernel_shape": (3, 2), "channels_last": 0}
    y = conv(b, draw, activation(b, draw, 2, largest=6), 3, (1, 1))
    mean = b.op("AveragePool", y, **window, count_include_pad=draw.randint(0, 1))
    return graph(b, conv(b, draw, b.op("MaxPool", y, **window) * mean, 2, (1, 1)))


@sample(add_layouts)
def reductions(draw: Random) -> Graph:
    """Statistics over channels or positions, as norms and softmax have them."""
    b = Builder()
    y = conv(b, draw, activation(b, draw, 3), 4, (2, 2))
    axes = draw.choice(((1,), (2, 3), (1, 2, 3)))
    e = b.op("Exp", y - b.op("ReduceMax", y, axes=axes, keepdims=1))
    y = e / b.op("ReduceSum", e, axes=axes, keepdims=1)
    return graph(b, conv(b, draw, y, 2, (1, 1)), b.op("ReduceMean", y, axes=(2, 3), keepdims=draw.randint(0, 1)))


@sample(add_layouts)
def tokens(draw: Random) -> Graph:
    """Positions as rows and back, as attention over images has them."""
    b = Builder()
    y = conv(b, draw, activation(b, draw, 3), 4, (2, 2))
    n, c, h, w = y.shape
    rows = b.op("Transpose", b.op("Reshape", y, shape=(n, c, h * w)), perm=(0, 2, 1))
    rows = rows @ weights(b, draw, c, c)
    back = b.op("Reshape", b.op("Transpose", rows, perm=(0, 2, 1)), shape=(n, c, h, w))
    return graph(b, conv(b, draw, back, 2, (1, 1)))
