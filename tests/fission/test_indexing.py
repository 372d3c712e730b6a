"""Slice, Split, Gather, Pad and their like: Python's clamping, all opsets' forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from korch.errors import ModelError

from .oracle import check, values

QUICK = settings(max_examples=15, deadline=None)
SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=4)


def ints(*numbers):
    return np.asarray(numbers, np.int64)


def axes_of(data, shape):
    r = len(shape)
    return data.draw(st.lists(st.integers(-r, r - 1), min_size=1, max_size=r, unique_by=lambda a: a % r))


def ops(graph):
    return [p.op for p in graph.primitives]


@QUICK
@given(shape=SHAPES, data=st.data())
def test_slice(shape, data):
    axes = axes_of(data, shape)
    bound = st.integers(-7, 7) | st.sampled_from([np.iinfo(np.int64).max, np.iinfo(np.int64).min + 1])
    starts, ends = ([data.draw(bound) for _ in axes] for _ in range(2))
    steps = [data.draw(st.sampled_from([1, 2, 3, -1, -2])) for _ in axes]
    kept = [len(range(shape[a])[i:j:k]) for a, i, j, k in zip(axes, starts, ends, steps, strict=True)]
    if 0 not in kept:
        check("Slice", values(*shape), ints(*starts), ints(*ends), ints(*axes), ints(*steps), constants=[1, 2, 3, 4])


@pytest.mark.parametrize("axes", [None, [0, 2], [1]])
def test_slice_by_attributes(axes):
    k = 2 if axes is None else len(axes)
    attrs = {"starts": [1, -3][:k], "ends": [100, -1][:k]} | ({"axes": axes} if axes else {})
    check("Slice", values(4, 5, 6), opset=9, **attrs)


def test_an_empty_slice_needs_no_computation():
    graph = check("Slice", values(4), ints(3), ints(1), constants=[1, 2])
    assert graph.outputs[0].const


def test_computed_bounds_stay_opaque_or_fail():
    with pytest.raises(Exception, match="depends on data"):
        check("Slice", values(4), ints(1), ints(3))


@QUICK
@given(data=st.data(), opset=st.sampled_from([11, 13, 18]))
def test_split(data, opset):
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    axis = data.draw(st.sampled_from([1, -2]))
    x = values(2, sum(sizes), 3)
    if opset < 13:
        check("Split", x, outputs=len(sizes), opset=opset, axis=axis, split=sizes)
    else:
        check("Split", x, ints(*sizes), constants=[1], outputs=len(sizes), opset=opset, axis=axis)


def test_split_evenly():
    check("Split", values(6, 2), outputs=3, opset=13)
    check("Split", values(6, 2), outputs=3, opset=11)
    check("Split", values(7, 2), outputs=3, opset=18, num_outputs=3)


@QUICK
@given(data=st.data())
def test_concat(data):
    lengths = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))
    if sum(lengths):
        axis = data.draw(st.sampled_from([1, -2]))
        check("Concat", *(values(2, n, 3, seed=i) for i, n in enumerate(lengths)), axis=axis)


@QUICK
@given(shape=SHAPES, data=st.data())
def test_gather(shape, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    n = shape[axis]
    where = data.draw(st.lists(st.integers(1, 3), max_size=2))
    picked = [data.draw(st.integers(-n, n - 1)) for _ in range(int(np.prod(where)))]
    check("Gather", values(*shape), ints(*picked).reshape(where), constants=[1], axis=axis)


def test_evenly_spaced_gathers_are_slices():
    assert ops(check("Gather", values(9), ints(1, 3, 5), constants=[1])) == ["Slice"]
    assert ops(check("Gather", values(9), ints(5, 3, 1), constants=[1])) == ["Slice"]
    assert ops(check("Gather", values(3, 4), ints(2).reshape(()), constants=[1])) == ["Slice", "Reshape"]
    assert ops(check("Gather", values(9), ints(1, 3, 4), constants=[1])) == ["Gather"]


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("condition", [[1, 0, 1], [0, 1, 1], [0, 1], [0, 0, 0]])
def test_compress(axis, condition):
    attrs = {} if axis is None else {"axis": axis}
    graph = check("Compress", values(3, 4), np.asarray(condition, bool), constants=[1], **attrs)
    assert set(ops(graph)) <= {"Slice", "Gather", "Reshape"}


def test_compress_by_what_is_computed_or_too_long():
    with pytest.raises(ModelError, match="depends on data"):
        check("Compress", values(3), np.asarray([True, False, True]))
    with pytest.raises(ModelError, match="outside"):
        check("Compress", values(3), np.asarray([True, False, True, True]), constants=[1])


@QUICK
@given(shape=SHAPES, dtype=st.sampled_from(["int32", "int64"]), data=st.data())
def test_gather_at_indices_of_the_run(shape, dtype, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    n = shape[axis]
    where = data.draw(st.lists(st.integers(1, 3), max_size=2))
    picked = [data.draw(st.integers(-n, n - 1)) for _ in range(int(np.prod(where)))]
    assert ops(check("Gather", values(*shape), ints(*picked).reshape(where).astype(dtype), axis=axis)) == ["Take"]


def test_gathered_integers_and_rows_of_weights():
    check("Gather", np.arange(7, dtype=np.int64), ints(1, -1, 4))
    check("Gather", np.asarray([True, False, True]), ints(2, 1))
    check("Gather", values(9, 4), ints(1, 3, 4), constants=[0])


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("opset", [9, 11])
def test_one_hot(axis, opset):
    indices, pair = ints(1, -1, 7, 0).reshape(2, 2), np.asarray([-1.5, 2.5], np.float32)
    check("OneHot", indices, ints(4).reshape(()), pair, constants=[1, 2], opset=opset, axis=axis)
    check("OneHot", indices, ints(4), pair, opset=opset, axis=axis, constants=[1])


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
@QUICK
@given(data=st.data(), opset=st.sampled_from([10, 11, 18]))
def test_pad(mode, data, opset):
    shape = data.draw(st.lists(st.integers(4, 5), min_size=1, max_size=3))
    low = data.draw(st.sampled_from([0, -1]))  # cut to no less than 2, onnxruntime reflects 1
    pads = [data.draw(st.integers(low, 2 + low)) for _ in range(2 * len(shape))]
    if opset < 11:
        more = {"value": 1.5} if mode == "constant" else {}
        check("Pad", values(*shape), pads=pads, mode=mode, opset=opset, **more)
    else:
        fill = np.asarray(1.5, np.float32) if mode == "constant" and data.draw(st.booleans()) else None
        check("Pad", values(*shape), ints(*pads), fill, constants=[1, 2], mode=mode, opset=opset)


def test_pad_of_named_axes():
    check("Pad", values(2, 3, 4), ints(1, 2, 3, 0), None, ints(-1, 0), constants=[1, 3], opset=18)
    check("Pad", values(2, 3, 4), ints(1, 2, 3, 5), None, ints(-1, 1), constants=[1, 3], opset=19, mode="wrap")
    check("Pad", np.arange(4, dtype=np.int64), ints(1, 2), ints(7).reshape(()), constants=[1, 2])
    check("Pad", np.asarray([True, False]), ints(1, 2), constants=[1])


def test_center_crop_pad():
    check("CenterCropPad", values(5, 8, 3), ints(8, 5), constants=[1], axes=[0, 1], opset=18, oracle="onnx")
    check("CenterCropPad", values(4, 7), ints(7, 4), constants=[1], opset=18, oracle="onnx")


@pytest.mark.parametrize("k", [None, -2, 0, 1, 9])
@pytest.mark.parametrize("upper", [0, 1])
def test_trilu(k, upper):
    check("Trilu", values(2, 4, 5), None if k is None else ints(k).reshape(()), constants=[1], upper=upper)
    check("Trilu", np.arange(12).reshape(3, 4), upper=upper)
