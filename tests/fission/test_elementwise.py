"""Elementwise operators against onnxruntime, several opsets and dtypes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto

from korch.fission.elementwise import BINARY, UNARY

from .oracle import check, values

QUICK = settings(max_examples=6, deadline=None)
SHAPES = st.lists(st.integers(1, 4), max_size=3)


def broadcast_pair(data, count=2):
    """Shapes that broadcast: each a suffix of one shape with some axes 1."""
    full = data.draw(SHAPES)
    return [
        [n if data.draw(st.booleans()) else 1 for n in full[data.draw(st.integers(0, len(full))) :]]
        for _ in range(count)
    ]


DOMAINS = {
    "Acos": (-1, 1),
    "Asin": (-1, 1),
    "Atanh": (-0.9, 0.9),
    "Acosh": (1, 4),
    "Log": (0.1, 3),
    "Sqrt": (0, 3),
    "Reciprocal": (0.5, 3),
}


@pytest.mark.parametrize("op", UNARY)
def test_unary(op):
    low, high = DOMAINS.get(op, (-2.5, 2.5))
    x = values(3, 5, low=low, high=high)
    x = x > 0 if op == "Not" else np.where(x > 2, np.float32("nan"), x) if op == "IsNaN" else x
    graph = check(op, x)
    assert len(graph.primitives) == (0 if op == "Identity" else 1)


@pytest.mark.parametrize("op", BINARY)
@QUICK
@given(data=st.data())
def test_binary_broadcasts(op, data):
    x, y = (values(*s, seed=i) for i, s in enumerate(broadcast_pair(data)))
    if op in ("And", "Or", "Xor"):
        x, y = np.asarray(x > 0), np.asarray(y > 0)
    elif op == "Div":
        y = np.where(np.abs(y) < 0.2, np.float32(1), y)
    elif op in ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"):
        x, y = np.asarray(np.rint(x)), np.asarray(np.rint(y))
    check(op, x, y, opset=data.draw(st.sampled_from([13, 16, 21])))


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "Mod"])
def test_integers(op):
    x = np.asarray([-7, 7, -8, 5], np.int64)
    y = np.asarray([2, 3, 3, 1] if op == "Pow" else [2, -2, 3, -3], np.int64)
    check(op, x, y)


@pytest.mark.parametrize("op", ["Sum", "Max", "Min", "Mean"])
@QUICK
@given(data=st.data())
def test_variadic(op, data):
    shapes = broadcast_pair(data, data.draw(st.integers(1, 4)))
    check(op, *(values(*s, seed=i) for i, s in enumerate(shapes)), opset=data.draw(st.sampled_from([8, 13])))


def test_variadic_takes_one_primitive_an_operand():
    graph = check("Mean", values(2), values(2, seed=1), values(2, seed=2))
    assert [p.op for p in graph.primitives] == ["Add", "Add", "Div"]


@QUICK
@given(data=st.data())
def test_where(data):
    c, x, y = (values(*s, seed=i) for i, s in enumerate(broadcast_pair(data, 3)))
    check("Where", np.asarray(c > 0), x, y)


@pytest.mark.parametrize("fmod", [0, 1])
def test_mod_signs(fmod):
    x, y = np.asarray([-7, 7, -7, 7], np.int32), np.asarray([3, 3, -3, -3], np.int32)
    check("Mod", x, y, fmod=fmod)
    if fmod:
        check("Mod", values(4), np.asarray([0.7, -0.7, 0.3, 2], np.float32), fmod=1)


@pytest.mark.parametrize("exponent", [1.0, 2.0, 3.0, 4.0, 5.0, 0.5, -1.0])
def test_power(exponent):
    x = values(3, 4, low=0.1, high=2)
    check("Pow", x, np.asarray(exponent, np.float32), constants=[1])
    check("Pow", x, np.full(4, exponent, np.float64))
    check("Pow", x, np.asarray([2, 3, 0, 1], np.int64))


@pytest.mark.parametrize("exponent", [1, 2, 3, 4])
def test_small_powers_are_products(exponent):
    graph = check("Pow", values(3, 4), np.asarray(exponent, np.float32), constants=[1])
    assert {p.op for p in graph.primitives} <= {"Mul"}


def test_integer_base_keeps_its_dtype():
    check("Pow", np.arange(4, dtype=np.int32), np.asarray(2.5, np.float32))


@pytest.mark.parametrize("exponent", [2, 3])
def test_small_powers_of_integers_are_exact(exponent):
    """300007 ** 3 is more than the integers that float64 has."""
    x = np.asarray([300007, -300007, 94906267], np.int64)[: 5 - exponent]
    graph = check("Pow", x, np.asarray(exponent, np.int64), constants=[1])
    assert {p.op for p in graph.primitives} == {"Mul"}


def test_square_is_a_product():
    graph = check("Pow", values(3), np.asarray(2, np.float32), constants=[1])
    assert [p.op for p in graph.primitives] == ["Mul"]


@pytest.mark.parametrize("opset", [6, 11, 13])
@pytest.mark.parametrize("limits", [(-0.5, 1.0), (0.0, 6.0), (None, 1.0), (0.5, None), (None, None)])
def test_clip(opset, limits):
    x, (low, high) = values(4, 5), limits
    if opset == 6:
        check("Clip", x, opset=8, **{k: v for k, v in (("min", low), ("max", high)) if v is not None})
    else:
        ends = [None if v is None else np.asarray(v, np.float32) for v in limits]
        check("Clip", x, *ends, constants=[1, 2], opset=opset)
        check("Clip", x, *ends, opset=opset)


def test_relu_six():
    limits = np.asarray(0, np.float32), np.asarray(6, np.float32)
    assert [p.op for p in check("Clip", values(4), *limits, constants=[1, 2]).primitives] == ["Relu", "Min"]


@pytest.mark.parametrize("slope", [(), (1,), (3, 1, 1), (1, 3, 4, 5)])
def test_p_relu(slope):
    x = values(2, 3, 4, 5)
    check("PRelu", x, values(*slope), constants=[1])
    check("PRelu", x, values(*slope))


@pytest.mark.parametrize("negative", [0, 1])
@pytest.mark.parametrize("positive", [0, 1])
def test_is_inf(negative, positive):
    x = np.asarray([1, np.inf, -np.inf, np.nan], np.float32)
    check("IsInf", x, detect_negative=negative, detect_positive=positive)


@pytest.mark.parametrize("to", ["FLOAT", "DOUBLE", "INT32", "INT64", "INT8", "BOOL", "FLOAT16"])
@pytest.mark.parametrize("source", ["float32", "float64", "int32", "bool", "uint8"])
def test_cast(source, to):
    x = np.asarray([0, 1.5, 3, 2.75], source)
    check("Cast", x, to=getattr(TensorProto, to))
    check("CastLike", x, np.zeros(1, np.int32), opset=19)


@pytest.mark.parametrize("opset", [7, 10, 12, 22])
def test_dropout_does_nothing(opset):
    assert not check("Dropout", values(3, 4), opset=opset).primitives
    if opset >= 12:  # onnxruntime gives the older ones a mask of zeros
        check("Dropout", values(3, 4), outputs=2, opset=opset)


def test_bits_stay_opaque():
    x = np.asarray([1, 2], np.uint8)
    check("BitShift", x, x, direction="LEFT", opaque=True)
    check("BitwiseAnd", x, x, opset=18, opaque=True)
