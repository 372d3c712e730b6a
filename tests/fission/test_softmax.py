"""Softmax, LogSoftmax, Hardmax: both meanings of `axis`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .oracle import check, values

SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=4)


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("opset", [11, 13, 21])
@settings(max_examples=8, deadline=None)
@given(shape=SHAPES, data=st.data())
def test_softmax_is_its_definition(op, opset, shape, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    check(op, values(*shape), axis=axis, opset=opset)


def test_defaults_and_text():
    graph = check("Softmax", values(2, 3))
    assert [p.op for p in graph.primitives] == ["ReduceMax", "Sub", "Exp", "ReduceSum", "Div"]
    assert graph.primitives[0].origin == "Softmax of y0"
    check("Softmax", values(2, 3, 4), opset=9)


def test_hardmax_takes_the_first_of_equals():
    check("Hardmax", np.float32([[3, 1, 3], [2, 2, 2]]), axis=1)
