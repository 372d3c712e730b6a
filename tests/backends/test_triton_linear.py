"""Triton kernels of cones with one product: interpreted against the float64 reference, and compiled, without a GPU."""

from __future__ import annotations

from concurrent.futures import Executor

import numpy as np
import pytest
from tests.marks import Part, parts, slow_but_every

from korch.backends.contract import Kernel
from korch.backends.cuda.buffers import buffers_of, prepare
from korch.backends.cuda.triton import linear
from korch.backends.cuda.triton.linear.emit import kernel
from korch.backends.cuda.triton.linear.product import Size, product_of
from korch.backends.cuda.triton.linear.tiles import MOST_SHARED, ProductTile, chosen
from korch.devices import DEVICES
from korch.ir import Builder, Cone, Value
from korch.profile.check import Comparison, check
from korch.profile.inputs import leaf_arrays
from korch.profile.roofline import modelled_seconds

from .interpreted import compilations

pytest.importorskip("triton")
RNG = np.random.default_rng(7)
PRECISIONS = ("ieee", "tf32x3", "bf16x3", "tf32", "fp16", "bf16")
SPLIT = ("odd", "behind", "several", "scores", "conv", "conv_first", "conv_groups_first")


def cone_of(y: Value) -> Cone:
    return Cone.of(y.builder.graph([("y", y)]).primitives)


def weights(b: Builder, *shape: int) -> Value:
    return b.constant(RNG.standard_normal(shape).astype(np.float32))


def leaf(b: Builder, name: str, *shape: int) -> Value:
    return b.input(name, "float32", shape)


# Matrix products --------------------------------------------------------------------------------------------------


def matmul(a: tuple[int, ...], c: tuple[int, ...], const: bool = False) -> Cone:
    b = Builder()
    return cone_of(b.op("MatMul", leaf(b, "x", *a), weights(b, *c) if const else leaf(b, "w", *c)))


def epilogue(a: tuple[int, ...], c: tuple[int, ...]) -> Cone:
    """Bias, GELU, scales of rows, a residual."""
    b = Builder()
    y = b.op("MatMul", leaf(b, "x", *a), weights(b, *c)) + leaf(b, "bias", c[-1])
    y = y * (b.op("Erf", y / 1.4142135) + 1.0) * 0.5
    return cone_of(y * leaf(b, "scale", a[-2], 1) + leaf(b, "residual", *y.shape))


def heads(places: int, count: int, width: int) -> Cone:
    """A projection whose columns become heads: [1, places, count * width] -> [1, count, width, places]."""
    b = Builder()
    y = b.op("MatMul", leaf(b, "x", 1, places, 40), weights(b, 40, count * width)) + leaf(b, "bias", count * width)
    y = b.op("Reshape", y, shape=(1, places, count, width))
    return cone_of(b.op("Relu", b.op("Transpose", y, perm=(0, 2, 3, 1))))


def scores(places: int, count: int, width: int) -> Cone:
    """Queries by keys, sliced out of one tensor and turned; a mask behind."""
    b = Builder()
    x = b.op(
        "Transpose",
        b.op("Reshape", leaf(b, "x", places, 3 * count * width), shape=(places, 3, count, width)),
        perm=(1, 2, 0, 3),
    )
    q, k = (b.op("Slice", x, starts=(i, 0, 0, 0), steps=(1,) * 4, lengths=(1, count, places, width)) for i in (0, 1))
    y = b.op("MatMul", q, b.op("Transpose", k, perm=(0, 1, 3, 2))) * 0.25
    return cone_of(b.op("Where", b.input("mask", "bool", (places, places)), y, -10000.0))


def back(places: int, count: int, width: int) -> Cone:
    """What heads give, joined again."""
    b = Builder()
    y = b.op("MatMul", leaf(b, "p", 2, count, places, places), leaf(b, "v", 2, count, places, width))
    return cone_of(b.op("Reshape", b.op("Transpose", y, perm=(0, 2, 1, 3)), shape=(2, places, count * width)))


def before() -> Cone:
    """Both operands are computed: from a concatenation, a padding, a table, functions that are not 0 at 0."""
    b = Builder()
    x = b.op("Concat", b.op("Exp", leaf(b, "x", 19, 13)), leaf(b, "z", 19, 8), axis=1) + leaf(b, "bias", 21)
    w = b.op("Pad", b.op("Relu", leaf(b, "w", 17, 9)), pads=(1, 0, 3, 2), mode="constant", value=2.0)
    return cone_of(b.op("MatMul", x, b.op("Gather", w, indices=(3, 0, 0, 7, 9, 10, 2), axis=1)))


def logarithms() -> Cone:
    """Beyond the last step both operands would be infinite."""
    b = Builder()
    one = leaf(b, "x", 20, 5)
    x = b.op("Log", b.op("Abs", one) + 0.5)
    return cone_of(b.op("MatMul", x, b.op("Reciprocal", b.op("Exp", leaf(b, "w", 5, 18)))))


def upsampled() -> Cone:
    """Interpolation before a product, and a cast behind it."""
    b = Builder()
    x = b.op(
        "Interpolate",
        leaf(b, "x", 12, 20),
        axis=0,
        taps=2,
        indices=(0, 1, 1, 2, 3, 4, 7, 8, 10, 11),
        weights=(0.25, 0.75, 0.5, 0.5, 0.1, 0.9, 0.3, 0.7, 1.0, 0.0),
    )
    return cone_of(b.op("MatMul", x, weights(b, 20, 24)))


def compared() -> Cone:
    b = Builder()
    y = b.op("MatMul", leaf(b, "x", 20, 24), leaf(b, "w", 24, 20))
    return cone_of(b.op("Cast", b.op("Cast", b.op("Abs", y), to="int32") - 100, to="float32") * 0.0 + y)


# Convolutions -----------------------------------------------------------------------------------------------------


def conv(
    x: tuple[int, ...],
    w: tuple[int, ...],
    pads: tuple[int, ...] | int = 1,
    stride: int = 1,
    dilation: int = 1,
    last: int = 1,
    group: int = 1,
    activated: bool = False,
    residual: bool = False,
) -> Cone:
    b, k = Builder(), len(w) - 2
    source = leaf(b, "x", *x)
    if activated:
        source = source * b.op("Sigmoid", source + leaf(b, "gate", *([1] * k + [x[-1]] if last else [x[1]] + [1] * k)))
    pads = (pads,) * 2 * k if isinstance(pads, int) else pads
    y = b.op(
        "Conv",
        source,
        weights(b, *w),
        strides=(stride,) * k,
        dilations=(dilation,) * k,
        pads=pads,
        group=group,
        channels_last=last,
    )
    if residual:
        channels = (w[0],) if last else (w[0], *[1] * k)
        y = b.op("Relu", y + leaf(b, "bias", *channels) + leaf(b, "residual", *y.shape))
    return cone_of(y)


def flattened() -> Cone:
    """A convolution whose image becomes a row of places: [n, h, w, c] -> [n, c, h * w]."""
    b = Builder()
    y = b.op(
        "Conv",
        leaf(b, "x", 2, 9, 8, 16),
        weights(b, 24, 16, 3, 3),
        strides=(1, 1),
        dilations=(1, 1),
        pads=(1, 1, 1, 1),
        group=1,
        channels_last=1,
    )
    return cone_of(b.op("Tanh", b.op("Reshape", b.op("Transpose", y, perm=(0, 3, 1, 2)), shape=(2, 24, 72))))


def patches() -> Cone:
    """Two images side by side, padded by what is not 0, before a convolution."""
    b = Builder()
    x = b.op("Concat", leaf(b, "x", 1, 6, 7, 4), leaf(b, "z", 1, 6, 7, 12), axis=3)
    x = b.op("Pad", x, pads=(0, 1, 1, 0, 0, 0, 1, 0), mode="constant", value=0.5)
    return cone_of(
        b.op(
            "Conv",
            x,
            weights(b, 20, 16, 2, 2),
            strides=(1, 1),
            dilations=(1, 1),
            pads=(1, 0, 0, 1),
            group=1,
            channels_last=1,
        )
    )


CONES = {
    "one": matmul((1, 1), (1, 1)),
    "dot": matmul((1, 40), (40, 1)),
    "row": matmul((1, 33), (33, 70), const=True),
    "odd": matmul((17, 33), (33, 5)),
    "even": matmul((32, 64), (64, 32), const=True),
    "several": matmul((130, 48), (48, 40), const=True),
    "batch": matmul((3, 2, 17, 12), (3, 2, 12, 20)),
    "batch_const": matmul((4, 18, 16), (4, 16, 20), const=True),
    "broadcast_right": matmul((2, 3, 9, 31), (31, 40)),
    "broadcast_left": matmul((24, 20), (5, 20, 7)),
    "broadcast_both": matmul((3, 1, 1, 9, 8), (1, 2, 8, 10)),
    "broadcast_mixed": matmul((2, 1, 9, 8), (2, 3, 8, 10)),
    "behind": epilogue((2, 19, 40), (40, 34)),
    "heads": heads(21, 3, 8),
    "scores": scores(18, 2, 20),
    "back": back(11, 3, 8),
    "before": before(),
    "logarithms": logarithms(),
    "upsampled": upsampled(),
    "compared": compared(),
    "conv": conv((1, 9, 8, 32), (24, 32, 3, 3), residual=True),
    "conv_first": conv((2, 16, 7, 9), (20, 16, 3, 3), last=0, residual=True),
    "conv_pointwise": conv((2, 5, 6, 20), (40, 20, 1, 1), 0, residual=True),
    "conv_pointwise_first": conv((2, 20, 4, 8), (40, 20, 1, 1), 0, last=0),
    "conv_stem": conv((1, 17, 16, 3), (18, 3, 7, 7), 3, stride=2),
    "conv_stem_first": conv((2, 3, 12, 13), (18, 3, 5, 5), 2, stride=2, last=0),
    "conv_dilated": conv((1, 11, 12, 16), (8, 16, 3, 3), (2, 0, 1, 3), dilation=2),
    "conv_groups": conv((1, 6, 7, 48), (36, 16, 3, 3), group=3, residual=True),
    "conv_small_groups": conv((1, 6, 7, 20), (10, 4, 3, 3), group=5),
    "conv_groups_first": conv((2, 32, 5, 6), (32, 16, 3, 3), group=2, last=0),
    "conv_strided": conv((1, 9, 9, 18), (32, 18, 1, 1), 0, stride=2),
    "conv_line": conv((2, 30, 16), (20, 16, 5), (4, 0)),
    "conv_line_first": conv((2, 16, 31), (20, 16, 3), (1, 1), stride=3, last=0),
    "conv_volume": conv((1, 4, 5, 6, 16), (8, 16, 2, 3, 3), (1, 1, 0, 0, 1, 1)),
    "conv_whole": conv((5, 3, 3, 16), (20, 16, 3, 3), 0),
    "conv_one_place": conv((3, 2, 2, 16), (20, 16, 3, 3), 1, stride=4),
    "conv_activated": conv((1, 6, 7, 16), (20, 16, 3, 3), activated=True),
    "conv_activated_first": conv((2, 20, 6, 5), (20, 20, 3, 3), activated=True, last=0),
    "conv_one_column": conv((1, 8, 8, 16), (1, 16, 3, 3)),
    "conv_flattened": flattened(),
    "conv_patches": patches(),
}


def run(k: Kernel) -> Comparison:
    """The kernel, interpreted with whatever it does not read or must write poisoned."""
    from korch.backends.cuda.interpret import interpret

    leaves = leaf_arrays(k.cone)
    arrays = [b.empty() for b in buffers_of(k)]
    for array in arrays:
        array.reshape(-1).view(np.uint8)[...] = 0xFF
    first = len(leaves) + 1
    for i, array in [*enumerate(leaves), *enumerate(prepare(k, leaves), first)]:
        arrays[i] = array
    interpret(k, arrays)
    return check(arrays[len(leaves)], k.cone, leaves, k.variant.precision)


def distinct(kernels: tuple[Kernel, ...]) -> list[Kernel]:
    """Kernels of different texts: warps and stages are nothing to the interpreter."""
    return list({k.source: k for k in kernels}.values())


def tried(name: str) -> list[Kernel]:
    """The tiles of a cone that are chosen in one precision, and one more in another."""
    cone = CONES[name]
    one, other = (PRECISIONS[(list(CONES).index(name) + i) % 5] for i in (0, 3))
    return distinct((*linear.build(cone, 1, (one,)), kernel(cone, ProductTile(16, 32, 16, 4, 3), other)))


def split(name: str) -> list[Kernel]:
    """The steps of a cone in as many parts as there are."""
    parts = ProductTile(16, 32, 16, 4, 3).turns(Size.of(product_of(CONES[name].linear[0])))
    return [kernel(CONES[name], ProductTile(16, 32, 16, 4, 3, parts), p) for p in ("tf32", "fp16")]


@pytest.mark.parametrize("name", slow_but_every(6, CONES))
def test_right(name: str):
    assert linear.refusal(CONES[name]) == ""
    wrong = [(k.variant, r.reason, k.source) for k in tried(name) if (r := run(k)).reason]
    assert not wrong, "\n".join(map(str, wrong[0]))


@pytest.mark.parametrize("name", slow_but_every(7, SPLIT))
def test_split(name: str):
    """More multiprocessors than tiles: the steps are summed in parts."""
    assert all(len(k.launches) == 2 for k in split(name))
    assert [k.variant for k in split(name) if run(k).reason] == []


@pytest.mark.slow
def test_grouped():
    """More tiles along the rows than run side by side."""
    cone = matmul((300, 20), (20, 70), const=True)
    assert not run(kernel(cone, ProductTile(16, 16, 32, 4, 2), "tf32")).reason
    assert not run(kernel(matmul((260, 20), (20, 70)), ProductTile(32, 16, 16, 4, 2), "tf32")).reason


@pytest.mark.parametrize("part", parts(16), ids=str)
def test_compiled(part: Part, compiling: Executor):
    """What is interpreted here, and the tiles that are chosen for large products, for the A100 and the H100.

    What is computed before a product may take more shared memory than its tile was chosen for, but all fit an H100.
    """
    large = [kernel(cone, _tile(cone, PRECISIONS[i % 5]), PRECISIONS[i % 5]) for i, cone in enumerate(CONES.values())]
    large += [kernel(CONES["conv"], ProductTile(64, 32, 32, 4, 3, 3), p) for p in PRECISIONS]
    kernels = [*large, *(k for name in CONES for k in tried(name)), *(k for name in SPLIT for k in split(name))]
    asked = compilations(compiling, {f"{i} {k.variant}": k for i, k in enumerate(part(kernels))})
    for _, future in asked:
        assert all(b.cubin and b.shared <= DEVICES["H100"].shared for b in future.result())


def _tile(cone: Cone, precision: str) -> ProductTile:
    return chosen(Size.of(product_of(cone.linear[0])), 132, precision)[0]


# What is refused, what is tried -----------------------------------------------------------------------------------


def test_refused_with_a_reason():
    b = Builder()
    y = b.op("MatMul", leaf(b, "x", 20, 20), leaf(b, "w", 20, 20))
    assert "ReduceSum" in linear.refusal(cone_of(b.op("ReduceSum", y, axes=(1,), keepdims=0)))
    assert "one element for one" in linear.refusal(cone_of(y + b.op("Transpose", y, perm=(1, 0))))
    assert "one element for one" in linear.refusal(cone_of(b.op("Concat", y, y, axis=0)))
    assert "not one" in linear.refusal(cone_of(b.op("MatMul", y, y)))
    assert "depthwise" in linear.refusal(conv((1, 8, 8, 16), (16, 1, 3, 3), group=16))
    assert "padding" in linear.refusal(conv((1, 1, 8, 16), (16, 16, 1, 3), (1, 0, 0, 0), stride=3))


@pytest.mark.parametrize("name", CONES)
def test_bound_is_positive_and_below_the_model(name: str):
    device, cone = DEVICES["H100"], CONES[name]
    for precisions in (("ieee",), ("ieee", "tf32"), ("fp16", "bf16")):
        kernels = linear.build(cone, device.multiprocessors, precisions)
        least = min(modelled_seconds(k, device) for k in kernels)
        assert 0 < linear.bound(cone, device.machine, precisions) <= least


def test_tiles_follow_the_product():
    """Large products take large tiles, few rows take split steps."""
    large, few = Size(1, 8192, 8192, 1, 8192), Size(1, 8, 1024, 1, 4096)
    assert chosen(large, 132, "tf32")[0].rows * chosen(large, 132, "tf32")[0].columns >= 128 * 128
    assert chosen(few, 132, "tf32")[0].parts > 1 and chosen(few, 132, "tf32")[0].rows == 16
    assert all(t.shared(p, (4, 4)) <= MOST_SHARED for p in PRECISIONS for t in chosen(large, 132, p))


def test_weights_are_laid_out_once():
    """Along the steps for TF32, rounded for 16 bits, as they are where that serves."""
    row = kernel(CONES["even"], ProductTile(16, 16, 16, 4, 2), "tf32").prepared
    half = kernel(CONES["even"], ProductTile(16, 16, 16, 4, 2), "bf16").prepared
    assert (row[0].perm, half[0].dtype) == ((1, 0), "bfloat16")
    assert not kernel(CONES["even"], ProductTile(16, 16, 16, 4, 2), "ieee").prepared
    assert kernel(CONES["conv"], ProductTile(16, 16, 16, 4, 2), "tf32").prepared[0].shape == (24, 3, 3, 32)
