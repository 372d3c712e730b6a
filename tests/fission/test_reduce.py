"""Reductions: axes by attribute and by input, every opset's form, integers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .oracle import check, values

OPS = [
    "ReduceSum",
    "ReduceMean",
    "ReduceProd",
    "ReduceMax",
    "ReduceMin",
    "ReduceL1",
    "ReduceL2",
    "ReduceSumSquare",
    "ReduceLogSum",
    "ReduceLogSumExp",
]


@st.composite
def shapes_and_axes(draw):
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    r = len(shape)
    axes = draw(st.lists(st.integers(-r, r - 1), max_size=r, unique_by=lambda a: a % r))
    return shape, axes


@pytest.mark.parametrize("op", OPS)
@settings(max_examples=8, deadline=None)
@given(case=shapes_and_axes(), keepdims=st.integers(0, 1), opset=st.sampled_from([11, 13, 18]))
def test_reduction(op, case, keepdims, opset):
    shape, axes = case
    x = values(*shape, low=0.5, high=2)
    if opset < (13 if op == "ReduceSum" else 18):
        check(op, x, opset=opset, keepdims=keepdims, **({"axes": axes} if axes else {}))
    else:
        check(op, x, np.asarray(axes, np.int64), constants=[1], opset=opset, keepdims=keepdims)


def test_no_axes_may_mean_none():
    assert not check("ReduceSum", values(2, 3), noop_with_empty_axes=1).primitives
    check("ReduceSum", values(2, 3), noop_with_empty_axes=0)


@pytest.mark.parametrize(
    "op", ["ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceMean", "ReduceSumSquare", "ReduceL1", "ReduceL2"]
)
def test_integers(op):
    check(op, np.arange(-3, 9, dtype=np.int32).reshape(3, 4), axes=[1], opset=12)


def test_bools():
    check("ReduceMax", np.asarray([[True, False], [False, False]]), np.asarray([1]), constants=[1], opset=20)


def test_an_axis_of_one_has_nothing_to_add():
    graph = check("ReduceSum", values(2, 1, 3), np.asarray([1]), constants=[1], keepdims=0)
    assert [p.op for p in graph.primitives] == ["Reshape"]


def test_log_sum_exp_of_nothing_finite():
    x = np.asarray([[-np.inf, -np.inf], [-np.inf, 1.0], [90, 91], [np.inf, 0], [np.inf, -np.inf]], np.float32)
    check("ReduceLogSumExp", x, axes=[1])


@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
@settings(max_examples=8, deadline=None)
@given(data=st.data(), keepdims=st.integers(0, 1), last=st.integers(0, 1))
def test_arg(op, data, keepdims, last):
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = np.rint(values(*shape))
    check(op, x, axis=axis, keepdims=keepdims, select_last_index=last, opset=13)


@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("reverse", [0, 1])
def test_cumulative_sum(exclusive, reverse):
    for axis in (0, 1, -1):
        which = np.asarray(axis)
        check("CumSum", values(2, 3, 4), which, constants=[1], exclusive=exclusive, reverse=reverse)
        check("CumSum", np.arange(24).reshape(2, 3, 4), which, constants=[1], exclusive=exclusive, reverse=reverse)


def test_long_running_sums_stay_opaque():
    check("CumSum", values(2, 300), np.asarray(1), constants=[1], opaque=True)
    check("CumSum", values(2, 3), np.asarray(1), opaque=True)
