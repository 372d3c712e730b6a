"""Small networks in the shapes that the algebraic rules are about; `tests/rewrite/nets.py` has larger ones."""

from __future__ import annotations

from random import Random

from korch.ir.builder import Builder, Value
from korch.ir.graph import Graph
from korch.rewrite.associate import product_to_the_left, product_to_the_right
from korch.rewrite.commute import map_before_move, move_before_map, move_before_shift
from korch.rewrite.compose import (
    convolution_after_map,
    map_after_convolution,
    map_after_map,
    map_after_shift,
    shift_after_shift,
)
from korch.rewrite.concat import convolution_over_concat, map_over_concat, transposition_over_concat
from korch.rewrite.evidence.table import sample
from korch.rewrite.heads import map_into_heads
from korch.rewrite.pointwise import pointwise_as_product
from korch.rewrite.regroup import view_of_view
from korch.rewrite.rowsum import (
    norm_before_product,
    row_sum_beside_product,
    row_sum_in_product,
    scale_before_product,
    scale_behind_product,
)
from korch.rewrite.samples.drawing import activation, conv, graph, weights
from korch.rewrite.saturate import algebra
from korch.rewrite.scaling import convolution_after_scale, map_after_scale, scale_after_map, scale_of_sum
from korch.rewrite.siblings import (
    columns_of_product,
    merged_biased_siblings,
    merged_products,
    merged_siblings,
)
from korch.rewrite.subpixel import subpixel_convolutions, transposed_upsampling


def biased(b: Builder, draw: Random, x: Value) -> Value:
    """x plus a constant for every channel."""
    return x + weights(b, draw, x.shape[1], 1, 1)


def scaled(b: Builder, draw: Random, x: Value) -> Value:
    return x * weights(b, draw, x.shape[1], 1, 1)


def resized(b: Builder, x: Value) -> Value:
    """Twice as high, every row three quarters of one and a quarter of the next."""
    h = x.shape[2]
    indices = tuple(k for row in range(2 * h) for k in (row // 2, min(row // 2 + 1, h - 1)))
    return b.op("Interpolate", x, axis=2, taps=2, indices=indices, weights=(0.75, 0.25) * 2 * h)


def repeated(b: Builder, x: Value) -> Value:
    """Every element twice along both axes."""
    for axis in (3, 2):
        x = b.op("Gather", x, axis=axis, indices=tuple(i // 2 for i in range(2 * x.shape[axis])))
    return x


def tokens(b: Builder, x: Value) -> Value:
    """[n, c, h, w] -> [n, h w, c]."""
    n, c, h, w = x.shape
    return b.op("Transpose", b.op("Reshape", x, shape=(n, c, h * w)), perm=(0, 2, 1))


@sample(map_after_scale, map_after_shift)
def chain(draw: Random) -> Graph:
    """Convolutions of one position with biases and scales between."""
    b = Builder()
    x = activation(b, draw, 3)
    y = biased(b, draw, conv(b, draw, scaled(b, draw, biased(b, draw, x)), 4, (1, 1)))
    return graph(b, scaled(b, draw, biased(b, draw, conv(b, draw, y, 2, (1, 1)))))


@sample(convolution_after_map, map_after_scale)
def windows(draw: Random) -> Graph:
    """Convolutions of several positions around one of one position."""
    b = Builder()
    x = scaled(b, draw, biased(b, draw, activation(b, draw, 3, smallest=5)))
    y = conv(b, draw, conv(b, draw, x, 2, (1, 1)), 3, (3, 3))
    return graph(b, conv(b, draw, scaled(b, draw, y), 2, (1, 1)))


@sample(map_over_concat, convolution_over_concat, merged_siblings)
def joined(draw: Random) -> Graph:
    """Concatenations before convolutions."""
    b = Builder()
    x = activation(b, draw, 2, smallest=4)
    y = b.op("Concat", conv(b, draw, x, 2, (1, 1)), x, conv(b, draw, x, 1, (1, 1)), axis=1)
    return graph(b, conv(b, draw, y, 3, (1, 1)), conv(b, draw, y, 2, (3, 3), pads=(1, 1, 1, 1)))


@sample(transposition_over_concat)
def detections(draw: Random) -> Graph:
    """Places of several sizes side by side, then their channels last."""
    b = Builder()
    x = activation(b, draw, 2, smallest=4)
    scales = (conv(b, draw, x, 3, (k, k), strides=(k, k)) for k in (1, 2))
    flat = [b.op("Reshape", y, shape=(*y.shape[:2], y.shape[2] * y.shape[3])) for y in scales]
    return graph(b, b.op("Transpose", b.op("Concat", *flat, axis=2), perm=(0, 2, 1)))


@sample(map_before_move, map_after_shift)
def enlarged(draw: Random) -> Graph:
    """Resizing and moving around what works on channels."""
    b = Builder()
    x = activation(b, draw, 3, largest=5)
    y = conv(b, draw, biased(b, draw, resized(b, conv(b, draw, x, 4, (1, 1)))), 2, (1, 1))
    n, c, h, w = y.shape
    rows = tokens(b, y) @ weights(b, draw, c, 3)
    back = b.op("Reshape", b.op("Transpose", rows, perm=(0, 2, 1)), shape=(n, 3, h, w))
    return graph(b, conv(b, draw, resized(b, biased(b, draw, back)), 2, (1, 1)))


@sample(subpixel_convolutions, transposed_upsampling)
def doubled(draw: Random) -> Graph:
    """A 3x3 convolution of what was enlarged by repeating."""
    b = Builder()
    x = activation(b, draw, 2, largest=5)
    return graph(b, conv(b, draw, repeated(b, x), 3, (3, 3), pads=(1, 1, 1, 1)))


@sample(merged_siblings)
def siblings(draw: Random) -> Graph:
    """Products that read one tensor."""
    b = Builder()
    x = b.input("x", "float32", (draw.randint(1, 2), draw.randint(2, 4), 3))
    plain = [x @ weights(b, draw, 3, n) for n in (2, 3)]
    with_bias = [x @ weights(b, draw, 3, n) + weights(b, draw, n) for n in (4, 2)]
    return graph(b, *plain, *with_bias)


@sample(product_to_the_left, product_to_the_right, row_sum_in_product, scale_before_product, scale_behind_product)
def attention(draw: Random) -> Graph:
    """softmax(q k) v, q (k v) and (q k) v, with few and with many rows."""
    b = Builder()
    many, few = draw.randint(7, 9), draw.randint(2, 3)
    q, k, v = (
        b.input(n, "float32", s) for n, s in (("q", (1, many, few)), ("k", (1, few, many)), ("v", (1, many, few)))
    )
    e = b.op("Exp", q @ k)
    soft = (e / b.op("ReduceSum", e, axes=(2,), keepdims=1)) @ v
    wide = (q @ k) / b.op("ReduceSum", q * q, axes=(2,), keepdims=1)
    return graph(b, soft, (q @ k) @ v, k @ (v @ k), wide)


@sample(merged_products, row_sum_beside_product, algebra)
def linear_attention(draw: Random) -> Graph:
    """(q (k v)) / (q sum k), a sum beside a product and products of one matrix; relu v times both parts of k."""
    b = Builder()
    many, d = draw.randint(5, 7), draw.randint(2, 3)
    q, k, v = (b.input(n, "float32", s) for n, s in (("q", (2, many, d)), ("k", (2, d, many)), ("v", (2, many, d))))
    sums = b.op("ReduceSum", k, axes=(2,), keepdims=1)
    columns = [(0, 2), (2, many - 2)]
    parts = [b.op("Slice", k, starts=(0, 0, i), steps=(1, 1, 1), lengths=(2, d, n)) for i, n in columns]
    return graph(b, (q @ (k @ v)) / (q @ sums), *(b.op("Relu", v) @ part for part in parts))


@sample(columns_of_product, norm_before_product, map_into_heads, algebra)
def projected_attention(draw: Random) -> Graph:
    """q (k v) of two heads, joined and mapped, as tokens and as an image; the same behind a division by row sums."""
    b = Builder()
    n, rows = draw.randint(1, 2), 8 * draw.randint(3, 4)
    q, kv = b.input("q", "float32", (n, 2, rows, 2)), b.input("kv", "float32", (n, 2, 2, 3))
    both, whole = q @ kv, {"starts": (0,) * 4, "steps": (1,) * 4}
    sums = b.op("Slice", both, **(whole | {"starts": (0, 0, 0, 2)}), lengths=(n, 2, rows, 1)) + weights(b, draw)
    y = b.op("Slice", both, **whole, lengths=(n, 2, rows, 2)) / sums
    tokens = b.op("Reshape", b.op("Transpose", both, perm=(0, 2, 1, 3)), shape=(n, rows, 6))
    image = b.op("Reshape", b.op("Transpose", y, perm=(0, 1, 3, 2)), shape=(n, 4, rows // 4, 4))
    v = b.input("v", "float32", (n, 2, 2, 1))
    square = b.input("kk", "float32", (n, 2, 2, 2))
    normed = (q @ square) / (q @ v + weights(b, draw))
    return graph(b, tokens @ weights(b, draw, 6, 3), conv(b, draw, image, 3, (1, 1)), normed)


@sample(map_after_map, map_after_convolution, convolution_after_scale, scale_after_map, shift_after_shift)
def folded(draw: Random) -> Graph:
    """Pairs of constant maps, factors and summands with nothing between."""
    b = Builder()
    x = activation(b, draw, 3, smallest=5)
    twice = conv(b, draw, conv(b, draw, x, 4, (1, 1)), 2, (1, 1))
    behind = conv(b, draw, conv(b, draw, x, 2, (3, 3), pads=(1, 1, 1, 1)), 3, (1, 1))
    before = conv(b, draw, scaled(b, draw, x), 2, (3, 2))
    summed = biased(b, draw, biased(b, draw, x))
    return graph(b, twice, behind, before, scaled(b, draw, conv(b, draw, x, 3, (1, 1))), summed)


@sample(scale_of_sum)
def rescaled_sum(draw: Random) -> Graph:
    """Sums of scaled tensors, scaled again: the residual connections of quantized networks."""
    b = Builder()
    x = activation(b, draw, 3)
    y = b.input("y", "float32", x.shape)
    total = scaled(b, draw, x) + y * weights(b, draw)
    return graph(b, b.op("Relu", total / weights(b, draw)), total * weights(b, draw, 1))


@sample(pointwise_as_product)
def computed_kernel(draw: Random) -> Graph:
    """What masks of instances are: a convolution of constant weights, then one whose weights are computed."""
    b = Builder()
    x = b.input("x", "float32", (1, 3, *(draw.randint(2, 5) for _ in range(draw.randint(1, 3)))))
    still = {"strides": (1,) * (x.rank - 2), "dilations": (1,) * (x.rank - 2), "pads": (0,) * (2 * x.rank - 4)}
    kernel = b.input("w", "float32", (draw.randint(1, 3), 4, *(1,) * (x.rank - 2)))
    y = b.op("Conv", x, weights(b, draw, 4, 3, *(1,) * (x.rank - 2)), **still, group=1, channels_last=0)
    return graph(b, b.op("Conv", y, kernel, **still, group=1, channels_last=0))


@sample(move_before_map, move_before_shift)
def pooled(draw: Random) -> Graph:
    """Means of what is mapped and shifted."""
    b = Builder()
    x = activation(b, draw, 3)
    mean = {"axes": (2, 3), "keepdims": draw.randint(0, 1)}
    y = b.op("ReduceMean", conv(b, draw, x, 4, (1, 1)), **(mean | {"keepdims": 1}))
    return graph(b, y, b.op("ReduceMean", biased(b, draw, x), **mean))


@sample(merged_biased_siblings)
def biased_siblings(draw: Random) -> Graph:
    b = Builder()
    x = b.input("x", "float32", (draw.randint(1, 2), draw.randint(2, 4), 3))
    return graph(b, *(x @ weights(b, draw, 3, n) + weights(b, draw, n) for n in (4, draw.randint(1, 3))))


@sample(view_of_view)
def views(draw: Random) -> Graph:
    b = Builder()
    x = b.input("x", "float32", (2, 3, 2 * draw.randint(1, 3)))
    y = b.op("Transpose", b.op("Transpose", x, perm=(0, 2, 1)), perm=(1, 0, 2))
    flat = b.op("Reshape", b.op("Relu", x), shape=(6, x.shape[2]))
    return graph(b, y, b.op("Reshape", flat, shape=(3, 2, x.shape[2])))


@sample(algebra)
def head(draw: Random) -> Graph:
    """Two levels, mapped, enlarged and joined, as segmentation heads have them: everything together."""
    b = Builder()
    h, w = draw.randint(3, 4), draw.randint(3, 4)
    large, small = b.input("x", "float32", (1, 24, 2 * h, w)), b.input("y", "float32", (1, 24, h, w))
    parts = [
        biased(b, draw, conv(b, draw, large, 48, (1, 1))),
        resized(b, biased(b, draw, conv(b, draw, small, 48, (1, 1)))),
    ]
    return graph(b, b.op("Relu", biased(b, draw, conv(b, draw, b.op("Concat", *parts, axis=1), 24, (1, 1)))))
