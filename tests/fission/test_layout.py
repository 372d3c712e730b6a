"""Shapes, transposes, blocks and copies."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto

from .oracle import check, values

QUICK = settings(max_examples=15, deadline=None)
SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=4)


def ints(*numbers):
    return np.asarray(numbers, np.int64)


def ops(graph):
    return [p.op for p in graph.primitives]


@pytest.mark.parametrize("wanted", [(6, 4), (-1,), (0, -1), (2, 0, -1, 1), (0, 0, 0), (4, 3, 2)])
def test_reshape(wanted):
    check("Reshape", values(2, 3, 4), ints(*wanted), constants=[1])


def test_reshape_to_a_scalar():
    check("Reshape", values(1, 1), np.zeros(0, np.int64), constants=[1])


def test_computed_shapes_stay_opaque_or_fail():
    with pytest.raises(Exception, match="depends on data"):
        check("Reshape", values(2, 3), ints(3, 2))


@QUICK
@given(shape=SHAPES, data=st.data())
def test_flatten(shape, data):
    check("Flatten", values(*shape), axis=data.draw(st.integers(-len(shape), len(shape))))


@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("axes", [None, [1], [-1, 1], [1, 3]])
def test_squeeze(opset, axes):
    x = values(2, 1, 3, 1)
    if opset < 13:
        check("Squeeze", x, opset=opset, **({"axes": axes} if axes else {}))
    else:
        check("Squeeze", x, *([] if axes is None else [ints(*axes)]), constants=[1], opset=opset)


@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("axes", [[0], [-1], [3, 0], [1, -1], [-2, 0, 2]])
def test_unsqueeze(opset, axes):
    if opset < 13:
        check("Unsqueeze", values(2, 3), opset=opset, axes=axes)
    else:
        check("Unsqueeze", values(2, 3), ints(*axes), constants=[1], opset=opset)


@QUICK
@given(shape=SHAPES, data=st.data())
def test_transpose(shape, data):
    perm = data.draw(st.none() | st.permutations(range(len(shape))))
    check("Transpose", values(*shape), **({} if perm is None else {"perm": perm}))


@QUICK
@given(shape=SHAPES, data=st.data())
def test_expand(shape, data):
    x = [n if data.draw(st.booleans()) else 1 for n in shape]
    wanted = [n if data.draw(st.booleans()) else 1 for n in shape]
    check("Expand", values(*x[data.draw(st.integers(0, len(x) - 1)) :]), ints(*wanted), constants=[1])


@QUICK
@given(shape=SHAPES, data=st.data())
def test_tile(shape, data):
    check("Tile", values(*shape), ints(*(data.draw(st.integers(1, 3)) for _ in shape)), constants=[1])


def test_tiling_axes_of_one_is_a_broadcast():
    assert ops(check("Tile", values(1, 3, 1), ints(2, 1, 4), constants=[1])) == ["Expand"]


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
@pytest.mark.parametrize("s", [1, 2, 3])
def test_blocks(mode, s):
    check("DepthToSpace", values(2, 2 * s * s, 3, 4), blocksize=s, mode=mode)
    check("SpaceToDepth", values(2, 3, 2 * s, 3 * s), blocksize=s)


def test_pixel_shuffle_is_one_transpose():
    assert ops(check("DepthToSpace", values(1, 8, 3, 4), blocksize=2)) == ["Reshape", "Transpose", "Reshape"]


def test_eye_like():
    check("EyeLike", values(3, 4), k=1)
    check("EyeLike", values(3, 4), dtype=TensorProto.INT64)


@given(shape=SHAPES)
@settings(max_examples=5, deadline=None)
def test_sizes_are_known(shape):
    assert not check("Size", values(*shape)).primitives
