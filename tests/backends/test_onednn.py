"""oneDNN kernels against the float64 reference: every linear primitive, layout and post-op that `pattern.py` takes."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from tests.marks import slow_but_every

from korch.backends.contract import Refusal
from korch.backends.cpu.onednn.backend import BACKEND
from korch.backends.linear.pattern import match
from korch.ir import Builder, Value
from korch.ir.evaluate import evaluate_cone

from .measured import refusal
from .onednn_harness import cone_of, random_leaves, run_kernel, tolerance

pytestmark = pytest.mark.onednn


def weights(b: Builder, *shape: int, name: str = "w") -> Value:
    rng = np.random.default_rng(1)
    scale = 1 / math.sqrt(math.prod(shape) / max(shape[0], shape[-1]))
    return b.constant((scale * rng.standard_normal(shape)).astype(np.float32), name=name)


def vector(b: Builder, *shape: int) -> Value:
    return b.constant(np.random.default_rng(2).uniform(0.5, 1.5, shape).astype(np.float32), name="v")


def conv(x: Value, w: Value, strides=1, pads=None, dilations=1, group=1, last=0, op="Conv", **more) -> Value:
    k = w.rank - 2
    every = lambda n: (n,) * k if isinstance(n, int) else tuple(n)  # noqa: E731
    pads = every(0) * 2 if pads is None else (every(pads) * 2 if isinstance(pads, int) else tuple(pads))
    return x.builder.op(
        op, x, w, strides=every(strides), pads=pads, dilations=every(dilations), group=group, channels_last=last, **more
    )


def deconv(x: Value, w: Value, strides=2, pads=1, extra=0, group=1, last=0, dilations=1) -> Value:
    k = w.rank - 2
    spatial = x.shape[1:-1] if last else x.shape[2:]
    size = tuple((n - 1) * strides + (t - 1) * dilations + 1 - 2 * pads + extra for n, t in zip(spatial, w.shape[2:]))
    channels = w.shape[1] * group
    shape = (x.shape[0], *size, channels) if last else (x.shape[0], channels, *size)
    return conv(x, w, strides, (pads,) * 2 * k, dilations, group, last, "ConvTranspose", output_shape=shape)


def check(y: Value, tmp_path: Path) -> None:
    """Every variant that oneDNN has an implementation for is right; the first one or another exists."""
    cone = cone_of(y)
    assert BACKEND.refuses(cone) is None
    leaves = random_leaves(cone, y.builder.constants)
    expected = evaluate_cone(cone, leaves)
    runs = [run_kernel(kernel, leaves, tmp_path) for kernel in BACKEND.build(cone, threads=2)]
    errors = [np.abs(x - expected).max() for x in runs if x is not None]
    bound = tolerance(cone, expected)
    assert errors and all(e <= bound for e in errors), errors  # NaN is no error below any bound


def image(b: Builder, last: int, n: int, c: int, *size: int) -> Value:
    return b.input("x", "float32", (n, *size, c) if last else (n, c, *size))


CONVOLUTIONS = {
    "3x3": dict(w=(24, 16, 3, 3), pads=1),
    "odd channels": dict(w=(7, 5, 3, 3), pads=1),
    "strided": dict(w=(32, 16, 3, 3), strides=2, pads=1),
    "asymmetric pads": dict(w=(16, 16, 3, 3), strides=2, pads=(0, 1, 1, 0)),
    "dilated": dict(w=(16, 16, 3, 3), dilations=2, pads=2),
    "stride and kernel differ by axis": dict(w=(16, 16, 1, 5), strides=(1, 2), pads=(0, 2, 0, 1)),
    "grouped": dict(w=(32, 8, 3, 3), group=2, pads=1),
    "depthwise": dict(w=(16, 1, 5, 5), group=16, pads=2),
    "depthwise strided": dict(w=(16, 1, 3, 3), group=16, strides=2, pads=1),
    "pointwise": dict(w=(24, 16, 1, 1)),
    "pointwise strided": dict(w=(24, 16, 1, 1), strides=2),
    "patches": dict(w=(24, 16, 4, 4), strides=4),
    "to one channel": dict(w=(1, 16, 3, 3), pads=1),
    "from one channel": dict(w=(16, 1, 3, 3), pads=1),
}


@pytest.mark.parametrize("last", [0, 1], ids=["nchw", "nhwc"])
@pytest.mark.parametrize("case", slow_but_every(6, CONVOLUTIONS.values()), ids=CONVOLUTIONS)
def test_convolutions_with_bias_and_relu(case, last, tmp_path):
    b = Builder()
    shape, options = case["w"], {k: v for k, v in case.items() if k != "w"}
    x = image(b, last, 2, shape[1] * options.get("group", 1), 13, 17)
    y = conv(x, weights(b, *shape), last=last, **options)
    y = y + vector(b, *((shape[0],) if last else (1, shape[0], 1, 1)))
    check(b.op("Relu", y), tmp_path)


@pytest.mark.parametrize("size", [(31,), (5, 9, 7)], ids=["1-d", "3-d"])
def test_convolutions_of_other_ranks(size, tmp_path):
    b = Builder()
    k = len(size)
    y = conv(image(b, 0, 2, 16, *size), weights(b, 24, 16, *(3,) * k), pads=1)
    check(b.op("Relu", y + vector(b, 24, *(1,) * k)), tmp_path)


@pytest.mark.parametrize("last", [0, 1], ids=["nchw", "nhwc"])
@pytest.mark.parametrize("extra", [0, 1])
def test_deconvolution(last, extra, tmp_path):
    b = Builder()
    y = deconv(image(b, last, 1, 16, 7, 9), weights(b, 16, 24, 4, 4), last=last, extra=extra)
    check(b.op("Relu", y + vector(b, *((24,) if last else (1, 24, 1, 1)))), tmp_path)


def test_grouped_deconvolution(tmp_path):
    b = Builder()
    check(deconv(image(b, 0, 1, 16, 7, 9), weights(b, 16, 4, 3, 3), group=4), tmp_path)


@pytest.mark.parametrize("last", [0, 1], ids=["nchw", "nhwc"])
@pytest.mark.parametrize("group", [1, 2])
def test_computed_weights(last, group, tmp_path):
    b = Builder()
    w = b.input("w", "float32", (24, 16 // group, 3, 3))
    check(conv(image(b, last, 1, 16, 9, 9), w, pads=1, group=group, last=last), tmp_path)


def test_computed_weights_of_a_deconvolution(tmp_path):
    b = Builder()
    check(deconv(image(b, 1, 1, 16, 7, 9), b.input("w", "float32", (16, 24, 4, 4)), last=1), tmp_path)


ACTIVATED = {
    "relu": lambda b, x: b.op("Relu", x),
    "relu as max": lambda b, x: b.op("Max", x, 0.0),
    "leaky relu": lambda b, x: b.op("LeakyRelu", x, alpha=0.1),
    "leaky relu as max": lambda b, x: b.op("Max", x, x * 0.1),
    "sigmoid": lambda b, x: b.op("Sigmoid", x),
    "tanh": lambda b, x: b.op("Tanh", x),
    "abs sqrt": lambda b, x: b.op("Sqrt", b.op("Abs", x)),
    "log": lambda b, x: b.op("Log", x * x + 1.0),
    "softplus": lambda b, x: b.op("Softplus", x),
    "round": lambda b, x: b.op("Round", x),
    "square": lambda b, x: x * x,
    "cube": lambda b, x: b.op("Pow", x, 3.0),
    "reciprocal": lambda b, x: b.op("Reciprocal", b.op("Abs", x) + 1.0),
    "literal over x": lambda b, x: 2.0 / (x * x + 1.0),
    "affine": lambda b, x: 3.0 - (x * 0.5 + 0.25) / 4.0,
    "negative": lambda b, x: -x,
    "mish": lambda b, x: x * b.op("Tanh", b.op("Softplus", x)),
    "silu": lambda b, x: b.op("Sigmoid", x) * x,
    "swish": lambda b, x: x * b.op("Sigmoid", x * 1.702),
    "gelu": lambda b, x: x * ((b.op("Erf", x / math.sqrt(2)) + 1.0) * 0.5),
    "gelu, half first": lambda b, x: (x * 0.5) * (b.op("Erf", x * math.sqrt(0.5)) + 1.0),
    "gelu, half last": lambda b, x: (x * (b.op("Erf", x / math.sqrt(2)) + 1.0)) * 0.5,
    "gelu by tanh": lambda b, x: (x * 0.5) * (b.op("Tanh", (x + b.op("Pow", x, 3.0) * 0.044715) * 0.7978845608) + 1.0),
    "gelu, x*x*x": lambda b, x: x * 0.5 * (b.op("Tanh", (x + x * x * x * 0.044715) * 0.79788456) + 1.0),
    "elu": lambda b, x: b.op("Where", b.op("Less", x, 0.0), (b.op("Exp", x) - 1.0) * 0.5, x),
    "hard swish by relu": lambda b, x: x * b.op("Min", b.op("Relu", x * (1 / 6) + 0.5), 1.0),
    "hard swish": lambda b, x: x * b.op("Max", b.op("Min", x * (1 / 6) + 0.5, 1.0), 0.0),
    "hard swish by 6": lambda b, x: x * b.op("Min", b.op("Max", x + 3.0, 0.0), 6.0) / 6.0,
}

LOSING = {
    "clip": lambda b, x: b.op("Min", b.op("Max", x, -0.5), 0.75),
    "clip from above first": lambda b, x: b.op("Max", b.op("Min", x, 0.75), -0.5),
    "from below": lambda b, x: b.op("Max", x, -0.25),
    "from above": lambda b, x: b.op("Min", x, 0.25),
    "exp": lambda b, x: b.op("Exp", x),
    "relu6": lambda b, x: b.op("Min", b.op("Relu", x), 6.0),
    "hard sigmoid": lambda b, x: b.op("Max", b.op("Min", x * 0.2 + 0.5, 1.0), 0.0),
    "largest": lambda b, x: b.op("Max", x, b.input("r", "float32", x.shape)),
    "smallest": lambda b, x: b.op("Min", b.input("r", "float32", x.shape), x),
}
"""Post-ops that make a number of NaN."""


def test_an_activation_is_one_post_op():
    b = Builder()
    y = b.input("x", "float32", (3, 4)) @ b.input("w", "float32", (4, 5))
    for name in ("mish", "silu", "gelu", "gelu by tanh", "hard swish by relu", "hard swish by 6", "elu", "relu6"):
        m = match(cone_of((ACTIVATED | LOSING)[name](b, y)))
        assert not isinstance(m, Refusal) and len(m.post_ops) == 1, name


@pytest.mark.parametrize("act", slow_but_every(8, ACTIVATED.values()), ids=ACTIVATED)
def test_activations(act, tmp_path):
    b = Builder()
    y = conv(image(b, 1, 1, 16, 6, 7), weights(b, 24, 16, 3, 3) * 3.0, pads=1, last=1)
    check(act(b, y + vector(b, 24)), tmp_path)


@pytest.mark.parametrize("act", LOSING.values(), ids=LOSING)
def test_what_loses_nan_is_refused(act):
    b = Builder()
    y = act(b, b.input("x", "float32", (9, 20)) @ weights(b, 20, 33))
    assert "NaN" in refusal(BACKEND, cone_of(y))


OPERANDS = {
    "residual": lambda b, x, v: x + b.input("r", "float32", x.shape),
    "residual, then activation": lambda b, x, v: b.op("Relu", b.input("r", "float32", x.shape) + x),
    "activation, then residual": lambda b, x, v: b.op("Relu", x) + b.input("r", "float32", x.shape),
    "subtracted": lambda b, x, v: x - b.input("r", "float32", x.shape),
    "subtracted from": lambda b, x, v: b.input("r", "float32", x.shape) - x,
    "gate": lambda b, x, v: x * b.input("r", "float32", x.shape),
    "divided": lambda b, x, v: v / (b.op("Abs", x) + 1.0),
    "scale and bias of the channels": lambda b, x, v: x * v + v,
    "computed scalar": lambda b, x, v: x * b.input("r", "float32", (1,)),
    "of higher rank": lambda b, x, v: x + b.input("r", "float32", (1, 1, *x.shape)),
}


@pytest.mark.parametrize("last", [0, 1], ids=["nchw", "nhwc"])
@pytest.mark.parametrize("with_operand", slow_but_every(6, OPERANDS.values()), ids=OPERANDS)
def test_operands_on_convolutions(with_operand, last, tmp_path):
    b = Builder()
    y = conv(image(b, last, 1, 16, 6, 7), weights(b, 24, 16, 1, 1), last=last)
    v = vector(b, *((24,) if last else (1, 24, 1, 1)))
    check(with_operand(b, y + v, v), tmp_path)


@pytest.mark.parametrize("last", [0, 1], ids=["nchw", "nhwc"])
def test_residual_on_wide_convolutions(last, tmp_path):
    b = Builder()
    y = conv(image(b, last, 1, 16, 6, 7), weights(b, 24, 16, 3, 3), pads=1, last=last)
    y = y + vector(b, *((24,) if last else (1, 24, 1, 1)))
    check(b.op("Relu", y + b.input("r", "float32", y.shape)), tmp_path)


@pytest.mark.parametrize("with_operand", slow_but_every(6, OPERANDS.values()), ids=OPERANDS)
def test_operands_on_products(with_operand, tmp_path):
    b = Builder()
    y = b.input("x", "float32", (2, 9, 20)) @ weights(b, 20, 33)
    check(with_operand(b, y + vector(b, 33), vector(b, 33)), tmp_path)


def heads(x: Value, count: int) -> Value:
    """[B, T, H*D] as [B, H, T, D]"""
    n, t, d = x.shape
    return x.builder.op("Transpose", x.builder.op("Reshape", x, shape=(n, t, count, d // count)), perm=(0, 2, 1, 3))


def scores(b: Builder) -> Value:
    q, k = (heads(b.input(n, "float32", (2, 10, 24)), 3) for n in "qk")
    return (q @ b.op("Transpose", k, perm=(0, 1, 3, 2))) * 0.25


def mixed(b: Builder) -> Value:
    v = heads(b.input("v", "float32", (2, 10, 24)), 3)
    y = b.op("Transpose", b.input("p", "float32", (2, 3, 10, 10)) @ v, perm=(0, 2, 1, 3))
    return b.op("Reshape", y, shape=(2, 10, 24))


def pieces(b: Builder) -> Value:
    qkv = b.input("x", "float32", (10, 3, 8))
    part = [b.op("Slice", qkv, starts=(0, i, 0), steps=(1, 1, 1), lengths=(10, 1, 8)) for i in (0, 2)]
    q, k = (b.op("Reshape", p, shape=(10, 8)) for p in part)
    return q @ b.op("Transpose", k, perm=(1, 0))


def bias_behind_reshape(b: Builder) -> Value:
    y = b.input("x", "float32", (2, 9, 20)) @ weights(b, 20, 32)
    return b.op("Reshape", y, shape=(18, 4, 8)) + vector(b, 4, 8)


def transposed_result(b: Builder) -> Value:
    y = b.input("x", "float32", (9, 20)) @ weights(b, 20, 33)
    return b.op("Transpose", y + vector(b, 33), perm=(1, 0)) + b.input("r", "float32", (33, 9))


PRODUCTS = {
    "2-d": lambda b: b.input("x", "float32", (17, 20)) @ b.input("y", "float32", (20, 33)),
    "constant": lambda b: b.op("Relu", b.input("x", "float32", (17, 20)) @ weights(b, 20, 33) + vector(b, 33)),
    "constant on the left": lambda b: weights(b, 17, 20) @ b.input("x", "float32", (20, 33)),
    "batched": lambda b: b.input("x", "float32", (2, 3, 7, 8)) @ b.input("y", "float32", (2, 3, 8, 9)),
    "one matrix for all": lambda b: b.input("x", "float32", (2, 3, 7, 8)) @ b.input("y", "float32", (8, 9)),
    "one row of matrices": lambda b: b.input("x", "float32", (2, 3, 7, 8)) @ b.input("y", "float32", (3, 8, 9)),
    "outer batches": lambda b: b.input("x", "float32", (2, 1, 7, 8)) @ b.input("y", "float32", (3, 8, 9)),
    "attention scores": scores,
    "attention mix": mixed,
    "slices": pieces,
    "bias behind a reshape": bias_behind_reshape,
    "transposed result": transposed_result,
    "k of 1": lambda b: b.input("x", "float32", (17, 1)) @ b.input("y", "float32", (1, 33)),
    "n of 1": lambda b: b.input("x", "float32", (17, 20)) @ b.input("y", "float32", (20, 1)),
    "m of 1": lambda b: b.input("x", "float32", (1, 20)) @ weights(b, 20, 33),
    "all of 1": lambda b: b.input("x", "float32", (1, 1)) @ b.input("y", "float32", (1, 1)),
}


@pytest.mark.parametrize("product", slow_but_every(6, PRODUCTS.values()), ids=PRODUCTS)
def test_products(product, tmp_path):
    check(product(Builder()), tmp_path)


def test_pointwise_convolutions_of_channels_last_are_no_products_too():
    """The same code would run."""
    b = Builder()
    y = conv(image(b, 1, 1, 16, 6, 7), weights(b, 24, 16, 1, 1), last=1)
    names = [k.variant.form for k in BACKEND.build(cone_of(y + b.input("r", "float32", y.shape)), threads=2)]
    assert names == ["conv", "conv jit"]


REFUSED = {
    "two linear": (lambda b, y: y @ b.input("z", "float32", (7, 3)), "2 linear primitives"),
    "no post-op": (lambda b, y: b.op("Sin", y), "no post-op"),
    "used twice": (lambda b, y: y + b.op("Tanh", y), "twice"),
    "broadcast": (lambda b, y: y + b.input("z", "float32", (5, 1, 1, 1, 1)), "broadcasts"),
    "beside": (lambda b, y: y + b.op("Exp", b.input("z", "float32", (1,))), "beside"),
    "reduction": (lambda b, y: b.op("ReduceSum", y, axes=(1,), keepdims=1), "no post-op"),
    "operand": (lambda b, y: y * b.input("z", "float32", y.shape), "channels-first"),
    "dtype": (lambda b, y: b.op("Cast", y, to="float64"), "float64"),
}


@pytest.mark.parametrize("extend, reason", REFUSED.values(), ids=REFUSED)
def test_refuses_with_a_reason(extend, reason):
    b = Builder()
    y = conv(image(b, 0, 1, 4, 7, 7), weights(b, 4, 4, 3, 3), pads=1)
    refusal = BACKEND.refuses(cone_of(extend(b, y)))
    assert isinstance(refusal, Refusal) and reason in refusal.reason


@pytest.mark.parametrize("shape, refused", [((4 * 24,), True), ((1, 1), False)])
def test_rows_for_matrices_that_lie_inside_one_another(shape, refused):
    """Heads side by side, with one number for each channel or for all."""
    b = Builder()
    y = b.input("x", "float32", (4, 9, 12)) @ b.input("w", "float32", (4, 12, 24))
    y = b.op("Reshape", b.op("Transpose", y, perm=(1, 0, 2)), shape=(9, 4 * 24))
    refusal = BACKEND.refuses(cone_of(y * b.input("z", "float32", shape)))
    assert (refusal is not None) == refused
