"""Generated Triton that reduces, interpreted, against float64: whole rows, loops, rows that are shared out, windows."""

from __future__ import annotations

from concurrent.futures import Executor

import numpy as np
import pytest
from tests.marks import Part, parts

from korch.backends.contract import Kernel, StageVariant, Variant
from korch.ir import Builder, Cone, Value

from .cones import Build, cone_of, normalised, one_pass, softmax, total
from .interpreted import built, compilations, failures, output, wrong

pytest.importorskip("triton")

from korch.backends.cuda.triton.backend import BACKEND
from korch.backends.cuda.triton.plan import SPLIT

FEW = 4


def picked(op: str, axis: int, last: int = 0, keepdims: int = 0) -> Build:
    return lambda b, x: b.op(op, x, axis=axis, keepdims=keepdims, select_last_index=last)


def window(
    op: str,
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    pads: tuple[int, ...],
    dilations: tuple[int, ...] = (1, 1),
    channels_last: int = 0,
    include: int = 0,
) -> Build:
    extra = {"count_include_pad": include} if op == "AveragePool" else {}
    attrs = {"kernel_shape": kernel, "strides": strides, "pads": pads, "dilations": dilations}
    return lambda b, x: b.op("Relu", b.op(op, x, **attrs, channels_last=channels_last, **extra) + 0.5)


def group_norm(b: Builder, x: Value) -> Value:
    """Three channels a group, each with its own scale."""
    n, c, h, w = x.shape
    y = normalised((2,))(b, b.op("Reshape", x, shape=(n, c // 3, 3 * h * w)))
    return b.op("Reshape", y, shape=x.shape) * b.input("scale", "float32", (c, 1, 1))


def rms_norm(b: Builder, x: Value) -> Value:
    mean = b.op("ReduceMean", x * x, axes=(1,), keepdims=1)
    return x / b.op("Sqrt", mean + 1e-6) * b.input("scale", "float32", (x.shape[1],))


def norm_then(op: str, **attrs: object) -> Build:
    return lambda b, x: b.op(op, normalised((1,))(b, x), **attrs)


def mean_of_softmax(b: Builder, x: Value) -> Value:
    """Reductions along different axes: what the first ones give is stored."""
    return b.op("Exp", b.op("ReduceMean", softmax(2)(b, x), axes=(1,), keepdims=0))


def both_ways(b: Builder, x: Value) -> Value:
    return x - b.op("ReduceMax", x, axes=(0,), keepdims=1) * b.op("ReduceSum", x, axes=(1,), keepdims=1)


def doubled_rows(b: Builder, x: Value) -> Value:
    """Every row of the norm twice: its moments are needed once."""
    return b.op("Gather", normalised((1,))(b, x), axis=0, indices=tuple(i // 2 for i in range(2 * x.shape[0])))


def mirrored(b: Builder, x: Value) -> Value:
    """A sum of what another sum, of the same shape, is read at other rows for."""
    sums = b.op("ReduceSum", x, axes=(2,), keepdims=0)
    y = x * b.op("Reshape", b.op("Transpose", sums, perm=(1, 0)), shape=(*sums.shape, 1))
    others = b.op("ReduceSum", y, axes=(2,), keepdims=0)
    return b.op("Transpose", others * sums, perm=(1, 0)) * others + sums


def of_numbers(b: Builder, x: Value) -> Value:
    """A sum over an axis along which nothing varies."""
    y = b.op("Expand", x, shape=(6, x.shape[1]))
    return b.op("ReduceSum", y, axes=(0,), keepdims=0) + b.op("ReduceProd", y, axes=(0, 1), keepdims=0)


def pool_of_pool(b: Builder, x: Value) -> Value:
    first = window("MaxPool", (5, 5), (1, 1), (2, 2, 2, 2))(b, x)
    return window("AveragePool", (5, 5), (2, 2), (2, 2, 2, 2))(b, first)


def squeezed(b: Builder, x: Value) -> Value:
    """Means of images, and the image scaled by what they give."""
    return x * b.op("Sigmoid", b.op("ReduceMean", x, axes=(2, 3), keepdims=1) * 2.0)


ROWS = {
    "one element": cone_of(total((0, 1)), (1, 1)),
    "length one": cone_of(total((1,), 0, "ReduceMax"), (9, 1)),
    "one of one": cone_of(picked("ArgMax", 1), (9, 1)),
    "prime rows": cone_of(softmax(1), (13, 101)),
    "tall": cone_of(total((1,), 0, "ReduceMin"), (3001, 3)),
    "two axes": cone_of(total((0, 2)), (7, 30, 11)),
    "softmax two axes": cone_of(softmax(1), (5, 7, 11, 3)),
    "long rows": cone_of(softmax(1), (5, 20011)),
    "longer rows": cone_of(one_pass((1,)), (2, 70001)),
    "long columns": cone_of(normalised((0,)), (9001, 5)),
    "group norm": cone_of(group_norm, (2, 6, 5, 7)),
    "rms norm": cone_of(rms_norm, (37, 96)),
    "norm turned": cone_of(norm_then("Transpose", perm=(1, 0)), (40, 70)),
    "norm cut": cone_of(norm_then("Slice", starts=(3, 2), steps=(2, 3), lengths=(10, 9)), (40, 30)),
    "norm padded": cone_of(norm_then("Pad", pads=(1, 0, 2, 0), mode="edge", value=0.0), (20, 30)),
    "doubled rows": cone_of(doubled_rows, (20, 30)),
    "mean of softmax": cone_of(mean_of_softmax, (3, 20, 30)),
    "both ways": cone_of(both_ways, (33, 70)),
    "mirrored": cone_of(mirrored, (7, 7, 20)),
    "of numbers": cone_of(of_numbers, (1, 5)),
    "squeezed": cone_of(squeezed, (2, 24, 9, 9)),
    "whole numbers": cone_of(total((1,), 0, "ReduceSum"), (9, 300), dtype="int64"),
    "mean of whole numbers": cone_of(total((1,), 0, "ReduceMean"), (9, 30), dtype="int32"),
    "largest byte": cone_of(total((0,), 0, "ReduceMax"), (70, 9), dtype="int8"),
    "smallest byte": cone_of(total((1,), 0, "ReduceMin"), (9, 70), dtype="uint8"),
    "any": cone_of(total((1,), 0, "ReduceMax"), (9, 70), dtype="bool"),
    "double": cone_of(total((1,), 0, "ReduceMax"), (9, 70), dtype="float64"),
    "double sum": cone_of(total((1,), 0, "ReduceSum"), (9, 70), dtype="float64"),
}
PICKS = {
    f"{op} {axis} {last} {dtype}": cone_of(picked(op, axis, last, keepdims=axis), shape, dtype=dtype)
    for op in ("ArgMax", "ArgMin")
    for last in (0, 1)
    for axis, shape, dtype in ((1, (6, 70), "int32"), (0, (50, 9), "float32"), (1, (2, 20001), "int8"))
}
WINDOWS = {
    "large": cone_of(window("MaxPool", (13, 13), (1, 1), (6, 6, 6, 6)), (1, 4, 13, 13)),
    "large last": cone_of(window("MaxPool", (9, 9), (2, 2), (4, 4, 4, 4), channels_last=1), (1, 13, 14, 12)),
    "large mean": cone_of(window("AveragePool", (9, 9), (3, 2), (1, 4, 0, 2)), (2, 3, 15, 17)),
    "large mean with pads": cone_of(window("AveragePool", (8, 8), (1, 1), (3, 3, 4, 4), include=1), (1, 3, 9, 9)),
    "one-sided": cone_of(window("AveragePool", (3, 2), (2, 1), (0, 1, 2, 0)), (2, 5, 12, 11)),
    "with pads": cone_of(window("AveragePool", (3, 3), (1, 1), (1, 1, 1, 1), include=1), (1, 5, 12, 11)),
    "dilated": cone_of(window("MaxPool", (3, 3), (1, 2), (2, 2, 2, 2), (2, 2)), (1, 5, 12, 11)),
    "line": cone_of(window("MaxPool", (4,), (3,), (1, 2), (1,)), (2, 5, 41)),
    "pool of pool": cone_of(pool_of_pool, (1, 3, 12, 12)),
}


@pytest.mark.parametrize("part", parts(5), ids=str)
def test_conformance(part: Part, compiling: Executor):
    kernels = built(BACKEND, part.named(ROWS | WINDOWS | PICKS), FEW)
    asked = compilations(compiling, kernels)
    assert not wrong(kernels)
    assert not failures(asked)


@pytest.mark.parametrize("op", ["ReduceMax", "ReduceMin", "ArgMax", "ArgMin"])
def test_extremes_of_rows_are_nan_where_one_value_is(op: str):
    rng = np.random.default_rng(0)
    attrs = {"axis": 1, "select_last_index": 0} if op.startswith("Arg") else {"axes": (1,)}
    for n in (70, 20001):
        x = rng.standard_normal((4, n)).astype(np.float32)
        x[1, [5, n - 1]], x[2], x[3, 0] = np.nan, -np.inf, np.nan
        with np.errstate(all="ignore"):
            wanted = {"ReduceMax": np.max, "ReduceMin": np.min, "ArgMax": np.argmax, "ArgMin": np.argmin}[op](x, axis=1)
        for kernel in BACKEND.build(cone_of(lambda b, x: b.op(op, x, keepdims=0, **attrs), x.shape), FEW):
            root = output(kernel, [x])
            assert np.array_equal(root, wanted, equal_nan=op.startswith("Reduce")), kernel.variant


def test_a_window_with_nan_is_nan():
    cone = cone_of(window("MaxPool", (3,), (3,), (0, 0), (1,)), (1, 1, 9))
    x = np.arange(9, dtype=np.float32).reshape(1, 1, 9)
    x[0, 0, 4] = np.nan
    root = output(BACKEND.build(cone, FEW)[0], [np.float32(t.value) if t.value else x for t in cone.leaves])
    assert np.isnan(root).tolist() == [[[False, True, False]]]


def first(cone: Cone, multiprocessors: int = 132) -> Kernel:
    return BACKEND.build(cone, multiprocessors)[0]


def test_rows_that_fit_stay_in_registers():
    kernel = first(cone_of(softmax(1), (4096, 1000)))
    assert str(kernel.variant) == "r2x1024 w4" and kernel.launches[0].grid == (2048, 1, 1)


def test_long_rows_are_read_in_a_loop():
    kernel = first(cone_of(one_pass((2, 3)), (2, 132, 200, 200)))
    assert kernel.variant.stages[0].variant.form == "loop r{}x{} w{}"


def test_few_long_rows_are_shared_out():
    kernel = first(cone_of(softmax(1), (1, 1 << 20)))
    split = StageVariant(Variant(SPLIT, numbers=(264,)))
    assert kernel.variant.stages[:-1] == (split, split) and len(kernel.launches) == 5
    assert kernel.workspace and max(launch.grid[0] for launch in kernel.launches) >= 132


def test_a_grouped_norm_is_one_launch():
    assert len(first(ROWS["group norm"]).launches) == 1
