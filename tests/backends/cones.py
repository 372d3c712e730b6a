"""Cones that every generator of kernels is tried on: all primitives that move memory, and random chains of them."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from korch.ir import Builder, Cone, Value

Build = Callable[..., Value]


def cone_of(build: Build, *shapes: tuple[int, ...], dtype: str = "float32") -> Cone:
    b = Builder()
    y = build(b, *(b.input(f"x{i}", dtype, s) for i, s in enumerate(shapes)))
    return Cone.of(b.graph([("y", y)]).primitives)


def halves(height: int, width: int, channels: int) -> Build:
    """Every other row and column of an image and the others beside them, as channels, which come last."""

    def build(b: Builder, x: Value) -> Value:
        steps = tuple(2 if a in (height, width) else 1 for a in range(4))
        lengths = tuple(n // step for n, step in zip(x.shape, steps, strict=True))
        starts = [tuple({height: i, width: j}.get(a, 0) for a in range(4)) for j in (0, 1) for i in (0, 1)]
        parts = [b.op("Slice", x, starts=at, steps=steps, lengths=lengths) for at in starts]
        whole = b.op("Concat", *parts, axis=channels)
        return whole if channels == 3 else b.op("Transpose", whole, perm=(0, height, width, channels))

    return build


def silu(b: Builder, x: Value) -> Value:
    return x * b.op("Sigmoid", x)


def mish(b: Builder, x: Value) -> Value:
    return x * b.op("Tanh", b.op("Softplus", x))


def softmax(axis: int) -> Build:
    def build(b: Builder, x: Value) -> Value:
        e = b.op("Exp", x - b.op("ReduceMax", x, axes=(axis,), keepdims=1))
        return e / b.op("ReduceSum", e, axes=(axis,), keepdims=1)

    return build


def normalised(axes: tuple[int, ...], pads: tuple[int, ...] = ()) -> Build:
    def build(b: Builder, x: Value) -> Value:
        centred = x - b.op("ReduceMean", x, axes=axes, keepdims=1)
        variance = b.op("ReduceMean", centred * centred, axes=axes, keepdims=1)
        y = b.op("Relu", centred / b.op("Sqrt", variance + 1e-5))
        return b.op("Pad", y, pads=pads, mode="reflect", value=0.0) if pads else y

    return build


def one_pass(axes: tuple[int, ...], pads: tuple[int, ...] = ()) -> Build:
    """A norm whose mean and mean of squares need not wait for each other."""

    def build(b: Builder, x: Value) -> Value:
        x = b.op("Pad", x, pads=pads, mode="constant", value=0.5) if pads else x
        mean, square = (b.op("ReduceMean", v, axes=axes, keepdims=1) for v in (x, x * x))
        return (x - mean) / b.op("Sqrt", b.op("Relu", square - mean * mean) + 1e-5)

    return build


def scaled_to_range(b: Builder, x: Value) -> Value:
    """Smallest and largest of all, as dynamic quantization takes them."""
    low, high, total = (b.op(op, x, axes=(0, 1), keepdims=1) for op in ("ReduceMin", "ReduceMax", "ReduceSum"))
    return (x - low) / (high - low) + total


def pool(op: str, channels_last: int, kernel: int = 3, stride: int = 1) -> Build:
    extra = {"count_include_pad": 0} if op == "AveragePool" else {}
    window = {"kernel_shape": (kernel, kernel), "strides": (stride, stride), "pads": (kernel // 2,) * 4}
    return lambda b, x: b.op(op, x, **window, dilations=(1, 1), channels_last=channels_last, **extra)


def pooled_norm(b: Builder, x: Value) -> Value:
    """Windows that begin before the image, over what waits for its channels to be reduced."""
    return pool("MaxPool", 1, 3, 3)(b, x - b.op("ReduceMax", x, axes=(3,), keepdims=1))


def nearest(b: Builder, x: Value) -> Value:
    for axis in (2, 3):
        x = b.op("Gather", x, axis=axis, indices=tuple(i // 2 for i in range(2 * x.shape[axis])))
    return x * 2.0


def linear(b: Builder, x: Value) -> Value:
    n = x.shape[2]
    low = [min(max(int(np.floor((i + 0.5) / 4 - 0.5)), 0), n - 1) for i in range(4 * n)]
    share = [min(max((i + 0.5) / 4 - 0.5 - low[i], 0.0), 1.0) for i in range(4 * n)]
    indices = tuple(v for i in low for v in (i, min(i + 1, n - 1)))
    weights = tuple(v for s in share for v in (1 - s, s))
    return b.op("Interpolate", x, axis=2, taps=2, indices=indices, weights=weights) + 1.0


def pad(mode: str) -> Build:
    return lambda b, x: b.op("Exp", b.op("Pad", x, pads=(0, 0, 1, 2, 0, 0, 3, 4), mode=mode, value=1.5))


def depth_to_space(b: Builder, x: Value) -> Value:
    x = b.op("Reshape", x, shape=(1, 2, 2, 8, 5, 5))
    return b.op("Reshape", b.op("Transpose", x, perm=(0, 3, 4, 1, 5, 2)), shape=(1, 8, 10, 10)) * 2.0


def windows(b: Builder, x: Value) -> Value:
    """im2col: padded 3x3 windows two apart, every other row of them."""
    x = b.op("Pad", x, pads=(0, 1, 1, 0, 0, 1, 1, 0), mode="constant", value=0.0)
    for axis, dilation in ((1, 2), (2, 1)):
        first = range(0, x.shape[axis] - 2 * dilation, 2)
        x = b.op("Gather", x, axis=axis, indices=tuple(i + k * dilation for i in first for k in range(3)))
    n, h, w, c = x.shape
    x = b.op("Transpose", b.op("Reshape", x, shape=(n, h // 3, 3, w // 3, 3 * c)), perm=(0, 1, 3, 2, 4))
    return b.op("Reshape", x, shape=(n, h // 3 * (w // 3), 9 * c))


def heads(b: Builder, x: Value) -> Value:
    return b.op("Transpose", b.op("Reshape", x, shape=(1, x.shape[1], 2, x.shape[2] // 2)), perm=(0, 2, 1, 3)) * 2.0


def shares(b: Builder, x: Value) -> Value:
    """Rows of several heads, each by its sum, side by side."""
    n, rows, c = x.shape
    heads = b.op("Transpose", b.op("Reshape", x, shape=(n, rows, 4, c // 4)), perm=(0, 2, 1, 3))
    sums = b.op("ReduceSum", heads * heads, axes=(3,), keepdims=1) + 1.0
    return b.op("Transpose", b.op("Relu", heads) / sums, perm=(0, 2, 1, 3))


def total(axes: tuple[int, ...], keepdims: int = 1, op: str = "ReduceMean") -> Build:
    return lambda b, x: b.op(op, x, axes=axes, keepdims=keepdims)


def sliced(starts: tuple[int, ...], steps: tuple[int, ...], lengths: tuple[int, ...]) -> Build:
    return lambda b, x: b.op("Slice", x, starts=starts, steps=steps, lengths=lengths) * 2.0


def taken(axis: int, batch: int, places: tuple[int, ...]) -> Build:
    """Rows of `x` at indices of the run, and something behind them that the loops share."""

    def build(b: Builder, x: Value) -> Value:
        indices = b.input("indices", "int64", places)
        return b.op("Relu", b.op("Take", x * 2.0, indices, axis=axis, batch=batch))

    return build


def embedded(b: Builder, words: Value, positions: Value) -> Value:
    """The sum of two embeddings, normalised: a transformer's first kernel."""
    ids, places = b.input("ids", "int64", (2, 50)), b.input("places", "int32", (50,))
    summed = b.op("Take", words, ids, axis=0, batch=0) + b.op("Take", positions, places, axis=0, batch=0)
    return normalised((2,))(b, summed)


def taken_of_taken(b: Builder, x: Value) -> Value:
    """Indices of indices, behind a cast and a transposition."""
    first, second = b.input("first", "int64", (7, 3)), b.input("second", "int32", (4, 5))
    inner = b.op("Take", b.op("Transpose", first, perm=(1, 0)), b.op("Cast", second, to="int64"), axis=1, batch=0)
    return b.op("Exp", b.op("Take", x, inner, axis=1, batch=0))


def taken_norm(b: Builder, x: Value) -> Value:
    """Rows of what the same kernel has reduced: its sums must not be read before they are there."""
    rows = b.input("rows", "int64", (6,))
    total = b.op("ReduceSum", x, axes=(1,), keepdims=1)
    return b.op("Take", total * 0.5, rows, axis=0, batch=0) + b.op("Take", x, rows, axis=0, batch=0)


CONES = {
    "broadcast": cone_of(lambda b, x, y: b.op("Relu", x + y), (1, 8, 13, 13), (1, 8, 1, 1)),
    "scalar": cone_of(lambda b, x: x * 2.0, ()),
    "gelu": cone_of(lambda b, x: x * 0.5 * (b.op("Erf", x * 0.7071067811865475) + 1.0), (1, 100, 64)),
    "mish": cone_of(lambda b, x: mish(b, x), (1, 100, 65)),
    "silu of rows": cone_of(lambda b, x, y, z: silu(b, x + y) * z + 0.5, (2, 50, 64), (64,), (2, 50, 1)),
    "silu and mish joined": cone_of(
        lambda b, x, y: b.op("Concat", silu(b, x), mish(b, y), axis=2), (3, 41, 32), (3, 41, 48)
    ),
    "mish of another layout": cone_of(lambda b, x: mish(b, b.op("Transpose", x, perm=(0, 2, 1))), (2, 48, 32)),
    "mish of repeated": cone_of(
        lambda b, x: mish(b, b.op("Gather", x, axis=1, indices=(0, 0, 1, 1, 2, 2))), (2, 3, 80)
    ),
    "silu padded": cone_of(
        lambda b, x: silu(b, b.op("Pad", x, pads=(0, 1, 0, 0, 2, 0), mode="constant", value=2.0)), (2, 5, 48)
    ),
    "softmax last": cone_of(softmax(3), (1, 4, 50, 77)),
    "softmax channels": cone_of(softmax(1), (1, 100, 13, 13)),
    "softmax tiny": cone_of(softmax(1), (1, 10, 3, 3)),
    "layer norm": cone_of(normalised((2,)), (1, 300, 32)),
    "layer norm tiny": cone_of(normalised((1,)), (3, 7)),
    "instance norm": cone_of(normalised((2, 3)), (1, 8, 40, 40)),
    "instance norm last": cone_of(normalised((1, 2)), (1, 40, 40, 32)),
    "instance norm last wide": cone_of(normalised((1, 2)), (1, 40, 40, 128)),
    "instance norm last odd": cone_of(normalised((1, 2)), (2, 40, 40, 24)),
    "instance norm pad": cone_of(normalised((2, 3), (0, 0, 1, 1, 0, 0, 1, 1)), (1, 8, 40, 40)),
    "instance norm pad last": cone_of(normalised((1, 2), (0, 1, 1, 0, 0, 1, 1, 0)), (1, 40, 40, 32)),
    "means of joined": cone_of(
        lambda b, x, y, z: b.op("ReduceMean", b.op("Concat", x, b.op("Relu", y), z, axis=3), axes=(1, 2), keepdims=1),
        (1, 7, 7, 384),
        (1, 7, 7, 384),
        (1, 7, 7, 101),
    ),
    "less the means of joined": cone_of(
        lambda b, x, y: normalised((1, 2))(b, b.op("Concat", x, y, axis=3)), (1, 20, 20, 30), (1, 20, 20, 70)
    ),
    "less another maximum": cone_of(lambda b, x: b.op("Exp", x - b.op("ReduceMax", x, axes=(1,), keepdims=0)), (8, 8)),
    "one pass rows": cone_of(one_pass((2,)), (1, 300, 32)),
    "one pass image": cone_of(one_pass((2, 3)), (1, 8, 40, 40)),
    "one pass image last": cone_of(one_pass((1, 2)), (1, 40, 40, 32)),
    "one pass image last wide": cone_of(one_pass((1, 2)), (1, 40, 40, 300)),
    "one pass few rows": cone_of(one_pass((1,)), (1, 200000)),
    "one pass all": cone_of(one_pass((0, 1)), (130, 130)),
    "one pass padded": cone_of(one_pass((1, 2), (0, 1, 1, 0, 0, 1, 1, 0)), (1, 30, 30, 24)),
    "one pass padded rows": cone_of(one_pass((0,), (0, 1, 0, 2)), (40, 50)),
    "range": cone_of(scaled_to_range, (130, 130)),
    "max pool": cone_of(pool("MaxPool", 0), (1, 8, 20, 20)),
    "max pool 5": cone_of(pool("MaxPool", 0, 5), (1, 8, 13, 13)),
    "max pool stride": cone_of(pool("MaxPool", 0, 3, 2), (1, 8, 21, 20)),
    "max pool last": cone_of(pool("MaxPool", 1), (1, 20, 20, 24)),
    "max pool of a norm": cone_of(pooled_norm, (1, 9, 9, 16)),
    "average pool": cone_of(pool("AveragePool", 0), (1, 7, 20, 20)),
    "average pool last": cone_of(pool("AveragePool", 1), (1, 20, 20, 24)),
    "to channels last": cone_of(lambda b, x: b.op("Relu", b.op("Transpose", x, perm=(0, 2, 3, 1))), (1, 65, 40, 40)),
    "to channels first": cone_of(lambda b, x: b.op("Relu", b.op("Transpose", x, perm=(0, 3, 1, 2))), (1, 40, 40, 65)),
    "four channels": cone_of(lambda b, x: b.op("Transpose", x, perm=(0, 2, 3, 1)), (1, 4, 24, 64)),
    "scaled channels": cone_of(
        lambda b, x, y: b.op("Transpose", x * y + 0.5, perm=(0, 2, 3, 1)), (2, 16, 9, 32), (16, 1, 1)
    ),
    "many channels": cone_of(lambda b, x: b.op("Relu", b.op("Transpose", x, perm=(0, 2, 3, 1))), (1, 72, 5, 32)),
    "sum around an axis": cone_of(lambda b, x: b.op("ReduceSum", x, axes=(0, 2), keepdims=0), (8, 1, 5, 7)),
    "maximum of a padded image": cone_of(
        lambda b, x: b.op(
            "ReduceMax",
            b.op("Pad", x, pads=(0, 0, 1, 0, 0, 0, 1, 0), mode="constant", value=0.0),
            axes=(1,),
            keepdims=0,
        ),
        (1, 16, 62, 512),
    ),
    "softmax of two long rows": cone_of(softmax(1), (2, 50_000)),
    "padded channels": cone_of(
        lambda b, x: b.op("Pad", b.op("Transpose", x, perm=(0, 2, 3, 1)), mode="edge", pads=(0, 1, 0, 0, 0, 2, 1, 0)),
        (1, 8, 9, 32),
    ),
    "channels of a product": cone_of(lambda b, x: b.op("Exp", b.op("Transpose", x * x, perm=(1, 0))), (8, 320)),
    "halves": cone_of(halves(1, 2, 3), (1, 8, 64, 3)),
    "halves of an image": cone_of(halves(2, 3, 1), (2, 3, 40, 64)),
    "halves of an odd image": cone_of(halves(2, 3, 1), (1, 3, 9, 34)),
    "few channels": cone_of(lambda b, x: b.op("Transpose", x, perm=(0, 2, 3, 1)), (1, 3, 64, 64)),
    "heads": cone_of(heads, (1, 100, 64)),
    "heads of 16": cone_of(shares, (1, 500, 64)),
    "heads of 21": cone_of(shares, (2, 130, 84)),
    "depth to space": cone_of(depth_to_space, (1, 32, 5, 5)),
    "reshape": cone_of(lambda b, x: b.op("Reshape", b.op("Relu", x), shape=(4, 6, 35)), (8, 3, 5, 7)),
    "nearest": cone_of(nearest, (1, 8, 13, 13)),
    "windows": cone_of(windows, (2, 12, 15, 3)),
    "linear": cone_of(linear, (1, 8, 13, 13)),
    "concat": cone_of(lambda b, x, y: b.op("Relu", b.op("Concat", x, y, axis=1)), (1, 8, 13, 13), (1, 5, 13, 13)),
    "concat last": cone_of(lambda b, x, y: b.op("Relu", b.op("Concat", x, y, axis=2)), (1, 169, 24), (1, 169, 5)),
    "slice": cone_of(sliced((0, 0, 1, 1), (1, 1, 2, 2), (1, 8, 6, 6)), (1, 8, 13, 13)),
    "reverse": cone_of(sliced((0, 12), (1, -1), (5, 13)), (5, 13)),
    "pad constant": cone_of(pad("constant"), (1, 8, 13, 13)),
    "pad edge": cone_of(pad("edge"), (1, 8, 13, 13)),
    "pad wrap": cone_of(pad("wrap"), (1, 8, 13, 13)),
    "pad reflect": cone_of(pad("reflect"), (1, 8, 13, 13)),
    "sum of all": cone_of(total((0, 1, 2, 3), 0, "ReduceSum"), (1, 8, 130, 130)),
    "mean of image": cone_of(total((2, 3)), (1, 300, 16, 16)),
    "mean of image last": cone_of(total((1, 2)), (1, 64, 64, 48)),
    "product": cone_of(total((1,), 1, "ReduceProd"), (40, 9)),
    "least": cone_of(total((0,), 0, "ReduceMin"), (40, 9)),
    "arg max": cone_of(lambda b, x: b.op("ArgMax", x, axis=1, keepdims=0, select_last_index=0), (4, 50, 7)),
    "arg max last": cone_of(lambda b, x: b.op("ArgMax", x, axis=2, keepdims=0, select_last_index=1), (4, 50, 70)),
    "arg max of many": cone_of(
        lambda b, x: b.op("ArgMax", b.op("Relu", x), axis=1, keepdims=1, select_last_index=0), (2, 21, 30, 33)
    ),
    "arg min of many": cone_of(
        lambda b, x: b.op("ArgMin", b.op("Relu", x), axis=1, keepdims=1, select_last_index=1), (2, 21, 30, 33)
    ),
    "integers": cone_of(lambda b, x: b.op("Cast", x * 3 + 1, to="float32"), (7, 9), dtype="int64"),
    "where": cone_of(lambda b, x: b.op("Where", b.op("Less", x, 0.0), x, x * 2.0), (7, 33)),
    "few rows": cone_of(lambda b, x: b.op("Exp", b.op("Transpose", x, perm=(1, 0, 2))), (3, 5, 4000)),
    "take": cone_of(taken(0, 0, (3, 5)), (11, 40)),
    "take columns": cone_of(taken(1, 0, (6,)), (5, 9)),
    "take one of many": cone_of(taken(1, 0, ()), (100, 50, 64)),
    "take in the middle": cone_of(taken(1, 0, (2, 2)), (3, 7, 4, 8)),
    "take one": cone_of(taken(0, 0, ()), (7, 8)),
    "take in batches": cone_of(taken(2, 2, (3, 4, 6)), (3, 4, 9, 5)),
    "take elements": cone_of(taken(1, 1, (40, 3)), (40, 9)),
    "take many": cone_of(taken(0, 0, (300, 200)), (9, 2)),
    "take integers": cone_of(taken(0, 0, (8,)), (5, 3), dtype="int32"),
    "take of take": cone_of(taken_of_taken, (2, 7, 3)),
    "take of sums": cone_of(taken_norm, (9, 64)),
    "embedding": cone_of(embedded, (1000, 64), (60, 64)),
    "double": cone_of(lambda b, x: b.op("Exp", x), (7, 33), dtype="float64"),
}


def random_cone(seed: int) -> Cone:
    """A chain of random primitives of every kind, with side inputs and reuse."""
    rng = random.Random(seed)
    b = Builder()
    x = b.input("x", "float32", tuple(rng.choice([1, 2, 3, 5, 8, 16, 17]) for _ in range(3)))
    values = [x]
    for _ in range(rng.randint(2, 9)):
        v = rng.choice(values[-3:])
        values.append(_step(b, v, values, rng))
    return Cone.of(b.graph([("y", values[-1] + 0.5)]).primitives)


def _step(b: Builder, v: Value, values: list[Value], rng: random.Random) -> Value:
    axis = rng.randrange(3)
    match rng.randrange(11):
        case 0:
            return b.op(rng.choice(["Exp", "Tanh", "Relu", "Sigmoid"]), b.op("Tanh", v))
        case 1:
            same = [w for w in values if w.shape == v.shape]
            return v * rng.choice(same) + 0.25
        case 2:
            perm = tuple(rng.sample(range(3), 3))
            return b.op("Transpose", v, perm=perm)
        case 3:
            return v - b.op(rng.choice(["ReduceMax", "ReduceMean"]), v, axes=(axis,), keepdims=1)
        case 4:
            other = b.op("Abs", v)
            return b.op("Concat", v, other, axis=axis)
        case 5:
            pads = [0] * 6
            pads[axis], pads[axis + 3] = rng.randint(0, 2), rng.randint(0, 2)
            return b.op("Pad", v, pads=tuple(pads), mode=rng.choice(["constant", "edge"]), value=0.5)
        case 6:
            n = v.shape[axis]
            lengths = tuple((n + 1) // 2 if a == axis else m for a, m in enumerate(v.shape))
            return b.op(
                "Slice", v, starts=(0, 0, 0), steps=tuple(2 if a == axis else 1 for a in range(3)), lengths=lengths
            )
        case 7:
            shape = v.shape
            return b.op("Reshape", v, shape=(shape[1], shape[0], shape[2]))
        case 8:
            places = b.input(f"i{len(values)}", "int64", (rng.randint(1, 6),))
            return b.op("Take", v, places, axis=axis, batch=0)
        case 9:
            axes = tuple(sorted(rng.sample(range(3), rng.randint(1, 3))))
            op, square = rng.choice(["ReduceSum", "ReduceMax"]), b.op("Tanh", v * v)
            mean, other = b.op("ReduceMean", v, axes=axes, keepdims=1), b.op(op, square, axes=axes, keepdims=1)
            return (v - mean) * b.op("Tanh", other)
        case _:
            picks = tuple(rng.randrange(v.shape[axis]) for _ in range(rng.randint(1, 6)))
            return b.op("Gather", v, axis=axis, indices=picks)


def followed(b: Builder, y: Value, function: str) -> Value:
    """y with a bias, a residual and a function behind it; y itself where there is none."""
    if not function:
        return y
    y = y + b.input("bias", "float32", y.shape[-1:]) + b.input("residual", "float32", y.shape)
    match function:
        case "silu":
            return silu(b, y) + 0.25
        case "mish":
            return mish(b, y) + b.input("row", "float32", (*y.shape[:-1], 1))
        case _:
            return b.op("Tanh", y) * 0.5


def depthwise(
    shape: tuple[int, ...],
    kernel: tuple[int, ...] = (3, 3),
    stride: int = 1,
    dilation: int = 1,
    pads: tuple[int, ...] = (1, 1, 1, 1),
    epilogue: str = "",
) -> Cone:
    rng, b, axes = np.random.default_rng(3), Builder(), len(kernel)
    x, channels = b.input("x", "float32", shape), shape[-1]
    w = b.constant(rng.standard_normal((channels, 1, *kernel)).astype(np.float32))
    y = b.op(
        "Conv", x, w, strides=(stride,) * axes, dilations=(dilation,) * axes, pads=pads, group=channels, channels_last=1
    )
    y = followed(b, y, epilogue)
    return Cone.of(y.builder.graph([("y", y)]).primitives)


DEPTHWISE = [
    depthwise((1, 20, 21, 32)),
    depthwise((1, 20, 21, 32), epilogue="tanh"),
    depthwise((2, 9, 13, 19), (5, 5), 2, pads=(2, 2, 2, 2)),
    depthwise((1, 33, 40, 100), (5, 5), pads=(2, 2, 2, 2), epilogue="tanh"),
    depthwise((1, 17, 30, 65), (3, 3), 2, pads=(0, 0, 1, 1)),
    depthwise((1, 24, 24, 8), (7, 7), pads=(3, 3, 3, 3)),
    depthwise((1, 15, 16, 48), (3, 3), dilation=2, pads=(2, 2, 2, 2)),
    depthwise((3, 1, 40, 5), (1, 3), pads=(0, 1, 0, 1), epilogue="tanh"),
    depthwise((1, 2, 2, 3), (5, 5), pads=(2, 2, 2, 2)),
    depthwise((1, 12, 12, 16), (3, 3), 3, pads=(1, 2, 0, 0)),
    depthwise((1, 20, 21, 36), epilogue="silu"),
    depthwise((2, 20, 21, 48), epilogue="mish"),
    depthwise((1, 700, 32), (3,), pads=(1, 1), epilogue="silu"),
    depthwise((2, 131, 19), (5,), 2, pads=(3, 0), epilogue="tanh"),
    depthwise((1, 77, 48), (3,), dilation=32, pads=(32, 32)),
]


def direct(
    shape: tuple[int, ...],
    made: int,
    kernel: tuple[int, ...],
    strides: tuple[int, ...] = (),
    dilations: tuple[int, ...] = (),
    pads: tuple[int, ...] = (),
    planar: bool = False,
    rows: slice | None = None,
    epilogue: str = "",
    groups: int = 1,
) -> Cone:
    """A convolution of an image [n, height, width, channels] or a signal [n, width, channels], which `planar` lies
    channel by channel; of an image some `rows` may be seen."""
    rng, b = np.random.default_rng(4), Builder()
    (n, *along, channels), ones = shape, (1,) * len(kernel)
    x = b.input("x", "float32", (n, channels, *along) if planar else shape)
    if rows:
        x = b.op(
            "Slice",
            x,
            starts=(0, 0, rows.start, 0),
            steps=(1,) * 4,
            lengths=(n, channels, rows.stop - rows.start, along[1]),
        )
    x = b.op("Transpose", x, perm=(0, *range(2, len(shape)), 1)) if planar else x
    w = b.constant(rng.standard_normal((made, channels // groups, *kernel)).astype(np.float32))
    y = b.op(
        "Conv",
        x,
        w,
        strides=strides or ones,
        dilations=dilations or ones,
        pads=pads or (0, 0) * len(kernel),
        group=groups,
        channels_last=1,
    )
    y = followed(b, y, epilogue)
    return Cone.of(y.builder.graph([("y", y)]).primitives)


DIRECT = [
    direct((1, 20, 45, 3), 16, (3, 3), pads=(1, 1, 1, 1)),
    direct((1, 33, 65, 3), 32, (7, 7), (4, 4), pads=(3, 3, 3, 3), planar=True),
    direct((2, 17, 31, 1), 19, (5, 3), (2, 1), pads=(2, 0, 1, 1), epilogue="tanh"),
    direct((2, 21, 30, 4), 70, (3, 3), (2, 2), pads=(0, 0, 1, 1), planar=True, epilogue="tanh"),
    direct((1, 24, 40, 32), 15, (9, 13), (1, 5), pads=(4, 4, 4, 9)),
    direct((1, 18, 22, 5), 8, (3, 3), (1, 2), (2, 3), (2, 3, 2, 3)),
    direct((1, 18, 22, 5), 8, (3, 3), (1, 2), (3, 2), (3, 2, 3, 2), planar=True),
    direct((1, 2, 3, 2), 5, (6, 6), (2, 2), pads=(4, 4, 4, 4), planar=True),
    direct((1, 1, 50, 2), 3, (1, 4), pads=(0, 3, 0, 3)),
    direct((1, 30, 33, 3), 16, (3, 3), (2, 2), pads=(0, 1, 1, 1), planar=True, rows=slice(7, 20)),
    direct((3, 14, 14, 3), 200, (14, 14), (14, 14)),
    direct((1, 20, 21, 24), 24, (3, 3), pads=(1, 1, 1, 1)),
    direct((2, 30, 45, 3), 16, (3, 3), (2, 2), pads=(1, 1, 1, 1), planar=True, epilogue="silu"),
    direct((1, 20, 45, 3), 72, (3, 3), pads=(1, 1, 1, 1), epilogue="mish"),
    direct((1, 13, 14, 40), 72, (3, 3), (2, 2), pads=(1, 1, 1, 1), epilogue="silu"),
    direct((1, 14, 14, 64), 64, (3, 3), (2, 2), pads=(1, 1, 1, 1), groups=4, epilogue="tanh"),
    direct((2, 9, 17, 60), 105, (3, 1), (1, 2), (2, 1), pads=(1, 0, 2, 1), groups=5, epilogue="silu"),
    direct((1, 8, 21, 8), 12, (2, 4), (1, 1), (1, 3), pads=(0, 4, 1, 0), groups=2),
    direct((1, 9, 12, 80), 40, (1, 7), pads=(0, 3, 0, 3), epilogue="tanh"),
    direct((2, 37, 50), 30, (11,), pads=(5, 5), epilogue="silu"),
    direct((1, 41, 300), 17, (3,), (2,), (2,), pads=(4, 1)),
    direct((1, 90, 2), 33, (10,), (5,), planar=True, epilogue="tanh"),
    direct((1, 3, 24), 18, (9,), pads=(8, 0), groups=3),
    direct((2, 2, 6), 7, (3,), (3,), pads=(6, 4)),
    direct((1, 17, 14, 96), 80, (3, 3), (2, 2), pads=(1, 1, 1, 1), epilogue="silu"),
    direct((1, 40, 41, 64), 100, (3, 3), (2, 2), pads=(1, 0, 0, 1), epilogue="tanh"),
    direct((1, 6, 9, 160), 420, (3, 3), (1, 2), pads=(1, 1, 1, 1)),
    direct((1, 25, 12, 192), 400, (3, 5), (2, 1), (1, 2), pads=(2, 3, 0, 7), groups=2, epilogue="silu"),
    direct((3, 2, 3, 130), 481, (4, 5), (2, 2), pads=(4, 5, 3, 4)),
    direct((2, 37, 80), 400, (11,), pads=(5, 5), epilogue="silu"),
    direct((1, 90, 130), 385, (5,), (2,), (3,), pads=(7, 0)),
    direct((1, 90, 130), 40, (5,), (2,), (3,), pads=(7, 0)),
]


def planar(
    shape: tuple[int, ...],
    made: int,
    kernel: tuple[int, ...],
    strides: tuple[int, ...] = (1, 1),
    dilations: tuple[int, ...] = (1, 1),
    pads: tuple[int, ...] = (0, 0, 0, 0),
    epilogue: str = "",
) -> Cone:
    """A convolution of [n, channels, height, width], or of [n, channels, width], to so few channels that they would not
    fill a vector."""
    rng, b = np.random.default_rng(5), Builder()
    x = b.input("x", "float32", shape)
    w = b.constant(rng.standard_normal((made, shape[1], *kernel)).astype(np.float32))
    y = b.op("Conv", x, w, strides=strides, dilations=dilations, pads=pads, group=1, channels_last=0)
    each = b.constant(rng.standard_normal((made,) + (1,) * len(kernel)).astype(np.float32))
    y = followed(b, b.op("Add", y, each), epilogue)
    return Cone.of(y.builder.graph([("y", y)]).primitives)


PLANAR = [
    planar((1, 5, 20, 45), 3, (3, 3), pads=(1, 1, 1, 1)),
    planar((1, 32, 30, 70), 3, (9, 9)),
    planar((2, 7, 17, 31), 1, (5, 3), (2, 1), pads=(2, 0, 1, 1), epilogue="tanh"),
    planar((2, 4, 9, 18), 6, (3, 3), (3, 1), (2, 3), (2, 3, 3, 2), epilogue="silu"),
    planar((1, 70, 8, 17), 2, (1, 2), pads=(0, 0, 0, 0)),
    planar((1, 1, 3, 40), 4, (7, 11), pads=(5, 9, 5, 1)),
    planar((3, 6, 100), 5, (4,), (1,), (2,), (3, 3)),
    planar((1, 3, 64, 65), 7, (3, 3), pads=(1, 1, 1, 1)),
    planar((1, 2, 2, 33), 2, (3, 3), pads=(4, 1, 4, 1)),
]
