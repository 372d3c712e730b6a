"""Operators that move, repeat, pick and place elements."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from onnx import helper

from fuzzing.draft import Draft, Rejected
from fuzzing.operators import template

ANY = ("float16", "float32", "float64", "int8", "uint8", "int32", "int64", "bool")


def anything(d: Draft, low: int = 0, high: int = 5) -> str:
    """Mostly a float."""
    return d.some(d.floats if d.chance(0.8) else (*d.floats, *ANY), (low, high))


def integers(d: Draft, values: Sequence[int]) -> str:
    return d.weight(np.asarray(values, np.int64))


def axis_of(d: Draft, rank: int) -> int:
    """An axis, counted from either end."""
    return d.rng.randrange(-rank, rank)


def split_up(d: Draft, size: int) -> tuple[int, ...]:
    """Lengths of that product."""
    lengths = list[int]()
    while size > 1 and len(lengths) < 4:
        n = d.rng.choice([k for k in range(1, size + 1) if size % k == 0])
        lengths.append(n)
        size //= n
    return (*lengths, *([size] if size != 1 or d.chance(0.3) else []))


@template("Reshape")
def reshape(d: Draft, op: str) -> None:
    x = anything(d)
    array = d.arrays[x]
    if array.ndim > 1 and d.chance(0.25):  # as exporters write it, of the shape itself
        lengths = d.node("Shape", [x])
        first = d.node("Gather", [lengths, integers(d, [0])], axis=0)
        shape = d.node("Concat", [first, integers(d, [-1])], axis=0)
        d.node(op, [x, shape])
        return
    lengths = list(split_up(d, array.size)) if array.size else [n for n in array.shape if n] + [0]
    if lengths and array.size and d.chance(0.3):
        lengths[d.rng.randrange(len(lengths))] = -1
    d.node(op, [x, integers(d, lengths)])


@template("Flatten")
def flatten(d: Draft, op: str) -> None:
    x = anything(d)
    rank = d.arrays[x].ndim
    d.node(op, [x], axis=d.rng.randint(0 if d.setting.opset < 11 else -rank, rank))


def with_axes(d: Draft, op: str, x: str, axes: Sequence[int] | None, since: int = 13, **attrs: int) -> None:
    """The axes as an attribute, or from `since` on an input."""
    if axes is None:
        d.node(op, [x], **attrs)
    elif d.setting.opset < since:
        d.node(op, [x], axes=list(axes), **attrs)
    else:
        d.node(op, [x, integers(d, axes)], **attrs)


@template("Squeeze")
def squeeze(d: Draft, op: str) -> None:
    x = d.some(fits=lambda y: 1 in y.shape, rank=(1, 5))
    ones = [a for a, n in enumerate(d.arrays[x].shape) if n == 1]
    with_axes(d, op, x, None if d.chance(0.3) else d.rng.sample(ones, d.rng.randint(1, len(ones))))


@template("Unsqueeze")
def unsqueeze(d: Draft, op: str) -> None:
    x = anything(d, 0, 4)
    count = d.rng.randint(1, 2)
    with_axes(d, op, x, sorted(d.rng.sample(range(d.arrays[x].ndim + count), count)))


@template("Transpose")
def transpose(d: Draft, op: str) -> None:
    x = anything(d)
    rank = d.arrays[x].ndim
    d.node(op, [x], perm=None if d.chance(0.2) else d.rng.sample(range(rank), rank))


@template("Expand")
def expand(d: Draft, op: str) -> None:
    x = anything(d, 0, 4)
    shape = [d.length(9) if n == 1 else d.rng.choice([1, n]) for n in d.arrays[x].shape]
    d.node(op, [x, integers(d, [d.length(4), *shape] if d.chance(0.3) else shape)])


@template("Tile")
def tile(d: Draft, op: str) -> None:
    x = anything(d, 1, 4)
    d.node(op, [x, integers(d, [d.rng.choice([1, 1, 2, 3]) for _ in d.arrays[x].shape])])


@template("DepthToSpace", "SpaceToDepth")
def blocks(d: Draft, op: str) -> None:
    s = d.rng.choice([2, 3])
    n, c, h, w = d.length(3), d.length(4), d.length(5), d.length(5)
    shape = (n, c * s * s, h, w) if op == "DepthToSpace" else (n, c, h * s, w * s)
    x = d.some(rank=(4, 4), fits=lambda y: y.shape == shape, shape=lambda: shape)
    modal = op == "DepthToSpace" and d.setting.opset >= 11
    d.node(op, [x], blocksize=s, mode=d.rng.choice(["DCR", "CRD"]) if modal else None)


@template("EyeLike")
def eye(d: Draft, op: str) -> None:
    x = d.some(rank=(2, 2))
    d.node(op, [x], k=d.rng.randint(-2, 2), dtype=d.rng.choice([None, 1, 7]))


@template("Slice", since=10)
def sliced(d: Draft, op: str) -> None:
    x = anything(d, 1, 5)
    shape = d.arrays[x].shape
    axes = sorted(d.rng.sample(range(len(shape)), d.rng.randint(1, len(shape))))
    starts, ends, steps = list[int](), list[int](), list[int]()
    for a in axes:
        n, step = shape[a], d.rng.choice([1, 1, 1, 2, 3, -1, -2])
        i, j = sorted((d.rng.randint(0, n), d.rng.randint(0, n)))
        i, j = (i, j) if step > 0 else (j - 1, i - 1 if i else -(n + 1))
        starts.append(i - n if d.chance(0.2) and 0 < i < n else i)
        ends.append(1 << 31 if step > 0 and d.chance(0.3) else j)
        steps.append(step)
    given = [integers(d, v) for v in (starts, ends, axes, steps)]
    d.node(op, [x, *given[: 3 if all(s == 1 for s in steps) and d.chance(0.5) else 4]])


@template("Slice", until=9)
def sliced_by_attributes(d: Draft, op: str) -> None:
    x = anything(d, 1, 4)
    axis = d.rng.randrange(d.arrays[x].ndim)
    n = d.arrays[x].shape[axis]
    i, j = sorted((d.rng.randint(0, n), d.rng.randint(0, n)))
    d.node(op, [x], axes=[axis], starts=[i], ends=[j])


@template("Split")
def split(d: Draft, op: str) -> None:
    x = anything(d, 1, 5)
    axis = axis_of(d, d.arrays[x].ndim)
    n = d.arrays[x].shape[axis]
    count = d.rng.randint(1, 3)
    cuts = sorted(d.rng.randint(0, n) for _ in range(count - 1))
    lengths = [b - a for a, b in zip([0, *cuts], [*cuts, n], strict=True)]
    if n % count == 0 and d.setting.opset < 18 and d.chance(0.5):
        d.nodes_of(op, [x], count, axis=axis)
    elif d.setting.opset >= 18 and n and d.chance(0.5):
        d.nodes_of(op, [x], count, axis=axis, num_outputs=count)
    elif d.setting.opset < 13:
        d.nodes_of(op, [x], count, axis=axis, split=lengths)
    else:
        d.nodes_of(op, [x, integers(d, lengths)], count, axis=axis)


@template("Concat")
def concat(d: Draft, op: str) -> None:
    x = anything(d, 1, 4)
    shape, dtype = d.arrays[x].shape, d.arrays[x].dtype.name
    axis = axis_of(d, len(shape))
    parts = [x]
    for _ in range(d.rng.randint(0, 3)):
        others = [
            n
            for n in d.made
            if d.arrays[n].dtype.name == dtype
            and d.arrays[n].ndim == len(shape)
            and all(
                p == q for a, (p, q) in enumerate(zip(d.arrays[n].shape, shape, strict=True)) if a != axis % len(shape)
            )
        ]
        lengths = tuple(d.length(8) if a == axis % len(shape) else n for a, n in enumerate(shape))
        parts.append(d.rng.choice(others) if others and d.chance(0.6) else d.fresh(dtype, lengths))
    d.rng.shuffle(parts)
    d.node(op, parts, axis=axis)


def places(d: Draft, n: int, shape: Sequence[int], constant: bool | None = None) -> str:
    """Indices of an axis of length `n`, negative ones too."""
    if not n:
        raise Rejected("nothing can be picked")
    return d.fresh("int64", shape, -n, n - 1, constant)


@template("Gather")
def gather(d: Draft, op: str) -> None:
    x = anything(d, 1, 4)
    axis = axis_of(d, d.arrays[x].ndim)
    indices = places(d, d.arrays[x].shape[axis], [d.length(5) for _ in range(d.rng.randint(0, 2))])
    d.node(op, [x, indices], axis=axis)


@template("GatherElements", since=11)
def gather_elements(d: Draft, op: str) -> None:
    x = anything(d, 1, 3)
    shape = list(d.arrays[x].shape)
    axis = axis_of(d, len(shape))
    n = shape[axis]
    shape[axis] = d.length(9)
    if d.chance(0.3):
        shape = [d.rng.randint(min(m, 1), m) for m in shape]
    d.node(op, [x, places(d, n, shape)], axis=axis)


def _tuples(d: Draft, shape: Sequence[int], depth: int, lead: Sequence[int]) -> str:
    """Indices [*lead, depth] of the first axes of a shape."""
    if not all(shape[:depth]):
        raise Rejected("nothing can be picked")
    columns = [d.array("int64", lead, 0, n - 1) for n in shape[:depth]]
    array = np.stack(columns, -1)
    return d.weight(array) if d.chance(0.5) else d.input(array)


@template("GatherND", since=11)
def gather_nd(d: Draft, op: str) -> None:
    x = anything(d, 1, 4)
    shape = d.arrays[x].shape
    batch = d.rng.choice([0, 0, 1]) if len(shape) > 1 and d.setting.opset >= 12 else 0
    depth = d.rng.randint(1, len(shape) - batch)
    lead = [*shape[:batch], *(d.length(4) for _ in range(d.rng.randint(0 if batch else 1, 2)))]
    indices = _tuples(d, shape[batch:], depth, lead)
    d.node(op, [x, indices], batch_dims=batch if d.setting.opset >= 12 else None)


REDUCTIONS = {16: ("none", "add", "mul"), 18: ("none", "add", "mul", "max", "min")}


def _reduction(d: Draft) -> str | None:
    known = max((s for s in REDUCTIONS if s <= d.setting.opset), default=None)
    return d.rng.choice(REDUCTIONS[known]) if known else None


def _once(d: Draft, n: int, count: int) -> list[int]:
    return d.rng.sample(range(n), min(n, count))


@template("ScatterND", since=11)
def scatter_nd(d: Draft, op: str) -> None:
    """Without a reduction each place is written once: else nothing says which value stays."""
    x = d.some(rank=(1, 3), fits=lambda y: y.size > 0)
    shape, dtype = d.arrays[x].shape, d.arrays[x].dtype.name
    depth, reduction = d.rng.randint(1, len(shape)), _reduction(d)
    count = d.length(6)
    if reduction in (None, "none"):
        flat = _once(d, math.prod(shape[:depth]), count)
        array = np.stack(np.unravel_index(flat, shape[:depth]), -1).astype(np.int64)
        indices = d.weight(array) if d.chance(0.5) else d.input(array)
    else:
        indices = _tuples(d, shape, depth, [count])
    updates = d.fresh(dtype, (*d.arrays[indices].shape[:-1], *shape[depth:]))
    d.node(op, [x, indices, updates], reduction=reduction)


@template("ScatterElements", since=11)
@template("Scatter", until=10)
def scatter_elements(d: Draft, op: str) -> None:
    x = d.some(rank=(1, 3), fits=lambda y: y.size > 0)
    shape, dtype = list(d.arrays[x].shape), d.arrays[x].dtype.name
    axis, reduction = axis_of(d, len(shape)), _reduction(d) if op == "ScatterElements" else None
    n = shape[axis]
    shape[axis] = d.rng.randint(1, n)
    if reduction in (None, "none"):
        column = np.asarray(_once(d, n, shape[axis])).reshape(
            [-1 if a == axis % len(shape) else 1 for a in range(len(shape))]
        )
        array = np.broadcast_to(column, shape).astype(np.int64)
        indices = d.weight(array) if d.chance(0.5) else d.input(array)
    else:
        indices = places(d, n, shape)
    d.node(op, [x, indices, d.fresh(dtype, shape)], axis=axis, reduction=reduction)


@template("Compress")
def compress(d: Draft, op: str) -> None:
    x = anything(d, 1, 4)
    axis = None if d.chance(0.3) else d.rng.randrange(d.arrays[x].ndim)
    n = d.arrays[x].size if axis is None else d.arrays[x].shape[axis]
    d.node(op, [x, d.weight(d.array("bool", (min(n, 50),)))], axis=axis)


@template("OneHot")
def one_hot(d: Draft, op: str) -> None:
    depth, rank = d.length(9), d.rng.randint(0, 3)
    indices = d.fresh("int64", d.shape(rank, 200), -depth, depth - 1, False)
    values = d.fresh(d.setting.dtype, (2,))
    d.node(op, [indices, d.weight(np.int64(depth)), values], axis=d.rng.randint(-rank - 1, rank))


@template("Pad", since=11)
def pad(d: Draft, op: str) -> None:
    x = anything(d, 1, 4)
    shape, dtype = d.arrays[x].shape, d.arrays[x].dtype
    modes = ["constant", "constant", "edge", "reflect", *(["wrap"] if d.setting.opset >= 19 else [])]
    mode = d.rng.choice(modes)
    most = [min(n - 1, 3) if mode == "reflect" else min(n, 3) for n in shape]
    if min(most) < 0 or (mode != "constant" and not all(shape)):
        raise Rejected("nothing to pad with")
    low = [-1 if mode == "constant" and n > 2 and d.chance(0.1) else 0 for n in shape]
    around = [d.rng.randint(a, b) for _ in range(2) for a, b in zip(low, most, strict=True)]
    fill = [d.weight(d.array(dtype.name, ()))] if mode == "constant" and d.chance(0.4) else []
    d.node(op, [x, integers(d, around), *fill], mode=mode)


@template("Pad", until=10)
def pad_by_attributes(d: Draft, op: str) -> None:
    x = d.some(rank=(1, 4))
    around = [d.rng.randint(0, 2) for _ in range(2 * d.arrays[x].ndim)]
    d.node(op, [x], pads=around, mode="constant", value=d.rng.choice([0.0, 1.5]))


@template("CenterCropPad", since=18)
def center_crop_pad(d: Draft, op: str) -> None:
    x = d.some(rank=(1, 4))
    rank = d.arrays[x].ndim
    axes = sorted(d.rng.sample(range(rank), d.rng.randint(1, rank)))
    lengths = [d.length(9) for _ in axes]
    d.node(op, [x, integers(d, lengths)], axes=axes)


@template("Trilu", since=14)
def trilu(d: Draft, op: str) -> None:
    x = anything(d, 2, 4)
    k = [d.weight(np.int64(d.rng.randint(-3, 3)))] if d.chance(0.6) else []
    d.node(op, [x, *k], upper=d.rng.choice([0, 1]))


@template("Resize", since=11)
def resize(d: Draft, op: str) -> None:
    """Spatial axes of images, or of signals and volumes."""
    x = d.some(rank=(3, 5), fits=lambda y: y.size > 0)
    rank = d.arrays[x].ndim
    mode = d.rng.choice(["nearest", "linear", "cubic"] if rank == 4 else ["nearest", "linear"])
    coordinates = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
    attrs = {"mode": mode, "coordinate_transformation_mode": d.rng.choice(coordinates)}
    if mode == "nearest":
        attrs["nearest_mode"] = d.rng.choice(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
    elif d.setting.opset >= 18 and d.chance(0.2):
        attrs["antialias"] = 1
    if d.chance(0.5):
        scales = [1.0, 1.0, *(d.rng.choice([0.5, 1.0, 1.5, 2.0, 3.0]) for _ in range(rank - 2))]
        d.node(op, [x, "", d.weight(scales, "float32")], **attrs)
    else:
        sizes = [*d.arrays[x].shape[:2], *(d.length(13) for _ in range(rank - 2))]
        d.node(op, [x, "", "", integers(d, sizes)], **attrs)


@template("Resize", since=10, until=10)
@template("Upsample", until=9)
def upsample(d: Draft, op: str) -> None:
    x = d.some(rank=(4, 4), fits=lambda y: y.size > 0)
    scales = d.weight([1.0, 1.0, d.rng.choice([1.0, 2.0, 3.0]), d.rng.choice([1.0, 2.0])], "float32")
    d.node(op, [x, scales], mode=d.rng.choice(["nearest", "linear"]))


@template("Shape", "Size")
def lengths(d: Draft, op: str) -> None:
    """Added to something, as what is constant is folded."""
    x = anything(d)
    n = d.node(op, [x])
    d.node("Add", [n, d.fresh("int64", d.arrays[n].shape, constant=False)])


@template("Constant")
def constant(d: Draft, op: str) -> None:
    x = d.some()
    value = d.array(d.arrays[x].dtype.name, d.narrowed(d.arrays[x].shape))
    made = d.node(
        op,
        [],
        value=helper.make_tensor(
            "c", helper.np_dtype_to_tensor_dtype(value.dtype), value.shape, value.tobytes(), raw=True
        ),
    )
    d.node("Add", [x, made])
