"""MatMul, Gemm and convolutions against onnxruntime."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from .oracle import check, values

QUICK = settings(max_examples=12, deadline=None)
PADDING = st.sampled_from(["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"])


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ((3,), (3,)),
        ((3,), (3, 2)),
        ((2, 3), (3,)),
        ((2, 3), (3, 4)),
        ((5, 2, 3), (3, 4)),
        ((2, 1, 2, 3), (5, 3, 4)),
        ((3,), (5, 3, 4)),
        ((5, 2, 3), (3,)),
    ],
)
def test_matmul_of_any_ranks(x, y):
    check("MatMul", values(*x), values(*y, seed=1))
    check("MatMul", values(*x), values(*y, seed=1), constants=[1])


def test_integer_products_stay_opaque():
    check("MatMul", values(2, 3).astype("int32"), values(3, 4).astype("int32"), opaque=True)


@QUICK
@given(
    ta=st.booleans(),
    tb=st.booleans(),
    alpha=st.sampled_from([1.0, 0.5]),
    beta=st.sampled_from([1.0, 2.0]),
    c=st.sampled_from([None, (), (1,), (4,), (2, 4), (2, 1)]),
    const=st.booleans(),
    opset=st.sampled_from([7, 11, 17]),
)
def test_gemm(ta, tb, alpha, beta, c, const, opset):
    assume(c is not None or opset >= 11)
    x, y = values(*((3, 2) if ta else (2, 3))), values(*((4, 3) if tb else (3, 4)), seed=1)
    bias = [] if c is None else [values(*c, seed=2)]
    check(
        "Gemm",
        x,
        y,
        *bias,
        transA=int(ta),
        transB=int(tb),
        alpha=alpha,
        beta=beta,
        opset=opset,
        constants=[1, 2] if const else [],
    )


def test_a_constant_factor_vanishes_into_weights():
    graph = check("Gemm", values(2, 3), values(3, 4, seed=1), values(4, seed=2), alpha=0.5, constants=[1, 2])
    assert [p.op for p in graph.primitives] == ["MatMul", "Add"]


@st.composite
def convolutions(draw, transposed=False):
    """Shapes of input, weight and bias, and attributes of a small convolution."""
    k = draw(st.integers(1, 3))
    group = draw(st.sampled_from([1, 2]))
    per_in, per_out = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    kernel = draw(st.lists(st.integers(1, 3), min_size=k, max_size=k))
    lengths = draw(st.lists(st.integers(5, 8), min_size=k, max_size=k))
    attrs = {"group": group, "strides": draw(st.lists(st.integers(1, 3), min_size=k, max_size=k))}
    auto = draw(PADDING)
    if auto == "NOTSET":
        attrs["pads"] = draw(st.lists(st.integers(0, 2), min_size=2 * k, max_size=2 * k))
        attrs["dilations"] = draw(st.lists(st.integers(1, 2), min_size=k, max_size=k))
    attrs["auto_pad"] = auto
    x = (2, per_in * group, *lengths)
    rows, columns = (per_in * group, per_out) if transposed else (per_out * group, per_in)
    bias = [(per_out * group,)] if draw(st.booleans()) else []
    return [x, (rows, columns, *kernel), *bias], attrs


@QUICK
@given(convolutions())
def test_conv(case):
    shapes, attrs = case
    x, w, *bias = (values(*s, seed=i) for i, s in enumerate(shapes))
    check("Conv", x, w, *bias, constants=[1, 2], **attrs)
    if attrs["auto_pad"] == "NOTSET":
        check("Conv", x, w, *bias, **(attrs | {"kernel_shape": w.shape[2:]}))


@QUICK
@given(convolutions(transposed=True), st.integers(0, 1))
def test_conv_transpose(case, extra):
    shapes, attrs = case
    x, w, *bias = (values(*s, seed=i) for i, s in enumerate(shapes))
    k = x.ndim - 2
    if extra and all(s > 1 for s in attrs["strides"]) and attrs["auto_pad"] == "NOTSET":
        attrs["output_padding"] = [1] * k
    full = [
        s * (n - 1) + (m - 1) * d + 1
        for s, n, m, d in zip(attrs["strides"], x.shape[2:], w.shape[2:], attrs.get("dilations", [1] * k))
    ]
    if attrs["auto_pad"].startswith("SAME"):
        assume(all(f >= n * s for f, n, s in zip(full, x.shape[2:], attrs["strides"])))
    check("ConvTranspose", x, w, *bias, constants=[1, 2], **attrs)


@pytest.mark.parametrize("auto_pad", ["NOTSET", "SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("output_shape", [(9, 9), (8, 10), (10, 8)])
def test_conv_transpose_of_a_given_shape(auto_pad, output_shape):
    check(
        "ConvTranspose",
        values(1, 2, 5, 5),
        values(2, 3, 3, 3),
        strides=[2, 2],
        output_shape=list(output_shape),
        auto_pad=auto_pad,
        constants=[1],
    )
