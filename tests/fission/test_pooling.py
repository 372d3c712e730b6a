"""Pools against onnxruntime: pads, auto_pad, ceil_mode, dilations and what the mean counts."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from .oracle import check, values

QUICK = settings(max_examples=30, deadline=None)


@st.composite
def pools(draw, dilated):
    """The input's shape and the attributes of a small pool (onnxruntime fails where SAME meets stride > kernel)."""
    k = draw(st.integers(1, 3))
    kernel = draw(st.lists(st.integers(1, 3), min_size=k, max_size=k))
    attrs = {"kernel_shape": kernel, "strides": [draw(st.integers(1, n)) for n in kernel]}
    attrs["auto_pad"] = draw(st.sampled_from(["NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]))
    if attrs["auto_pad"] == "NOTSET":
        attrs["pads"] = [draw(st.integers(0, n - 1)) for n in kernel * 2]
        attrs["ceil_mode"] = draw(st.integers(0, 1))
        if dilated:
            attrs["dilations"] = draw(st.lists(st.integers(1, 2), min_size=k, max_size=k))
    lengths = draw(st.lists(st.integers(5, 8), min_size=k, max_size=k))
    return (2, 2, *lengths), attrs


@QUICK
@given(pools(dilated=True))
def test_max_pool(case):
    shape, attrs = case
    check("MaxPool", values(*shape), opset=12, **attrs)


@QUICK
@given(pools(dilated=True), st.sampled_from(["int8", "uint8"]))
def test_max_pool_of_bytes(case, dtype):
    """Padding is no larger than any."""
    shape, attrs = case
    check("MaxPool", (60 * values(*shape)).astype("int8").astype(dtype), opset=12, **attrs)


@QUICK
@given(pools(dilated=False), st.integers(0, 1))
def test_average_pool(case, include):
    shape, attrs = case
    assume(not (include and attrs["auto_pad"].startswith("SAME")))
    check("AveragePool", values(*shape), count_include_pad=include, **attrs)


@QUICK
@given(pools(dilated=True))
def test_dilated_average_pool(case):
    shape, attrs = case
    check("AveragePool", values(*shape), opset=19, opaque=None, **attrs)


@QUICK
@given(pools(dilated=False), st.integers(1, 3))
def test_lp_pool(case, p):
    shape, attrs = case
    attrs.pop("ceil_mode", None)
    check("LpPool", values(*shape), p=p, **attrs)


@pytest.mark.parametrize("op", ["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"])
@pytest.mark.parametrize("shape", [(2, 3, 5), (1, 3, 4, 5), (1, 2, 3, 4, 5)])
def test_global_pools(op, shape):
    check(op, values(*shape))


def test_positions_of_maxima_stay_opaque():
    check("MaxPool", values(1, 2, 4, 4), kernel_shape=[2, 2], outputs=2, opaque=True)
