"""Gathers and scatters, at constant places and at places of the run, against onnxruntime."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .oracle import check, values

QUICK = settings(max_examples=15, deadline=None)


def ops(graph):
    return {p.op for p in graph.primitives}


def grid(*ranges):
    """Indices of all elements in the block of `ranges`."""
    return np.stack(np.meshgrid(*ranges, indexing="ij"), -1).astype(np.int64)


@pytest.mark.parametrize("block", [(range(2), range(1, 3), range(4)), (range(1, 2), range(3), range(2, 4)),
                                   (range(2), range(3), range(4))])  # fmt: skip
@pytest.mark.parametrize("opset", [11, 18])
def test_a_block_is_put_between_the_rest(block, opset):
    updates = values(*map(len, block), seed=1)
    graph = check("ScatterND", values(2, 3, 4), grid(*block), updates, constants=[1], opset=opset)
    assert ops(graph) <= {"Slice", "Concat", "Reshape"}
    if len(block[2]) == 4:
        check("ScatterND", values(2, 3, 4), grid(*block[:2]), updates, constants=[1], opset=opset)


def test_elements_that_are_no_block_are_picked():
    indices = np.asarray([[0, 2], [-1, 0], [1, 1]])
    assert "Gather" in ops(check("ScatterND", values(2, 3, 4), indices, values(3, 4), constants=[1]))
    assert "Gather" in ops(check("ScatterND", values(2, 3), indices, values(3), constants=[1]))


@pytest.mark.parametrize(("op", "opset"), [("Scatter", 9), ("ScatterElements", 13)])
def test_scattered_elements(op, opset):
    indices = np.asarray([[2, 0, -1], [1, 2, 0]])
    check(op, values(2, 4), indices, values(2, 3), constants=[1], axis=1, opset=opset)
    column = np.full((2, 1), 3)
    assert ops(check(op, values(2, 4), column, values(2, 1), constants=[1], axis=1, opset=opset)) == {"Slice", "Concat"}


def test_scatters_that_stay_opaque():
    x, twice = values(3, 2), np.asarray([[1], [1]])
    check("ScatterND", x, np.asarray([[1], [0]]), values(2, 2), constants=[1], opset=16, reduction="add", opaque=True)
    check("ScatterND", x, np.asarray([[1], [0]]), values(2, 2), opaque=True)
    check("ScatterND", x, twice, np.ones((2, 2), np.float32), constants=[1], opaque=True)
    check("ScatterElements", x, twice, values(2, 1), opaque=True)


def test_nothing_to_scatter():
    check("ScatterND", values(3, 2), np.zeros((0, 1), np.int64), values(0, 2), constants=[1, 2])


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_gather_nd(depth):
    indices = np.asarray([[[1, 2, 0], [0, -1, 3]], [[1, 0, 1], [-2, 1, 1]]])[..., :depth]
    check("GatherND", values(2, 3, 4), indices, constants=[1])
    check("GatherND", values(2, 3, 4), indices, opaque=depth > 1)


def test_gather_nd_of_batches():
    for constants in ([1], []):
        check("GatherND", values(2, 3, 4), np.asarray([[[1], [0]], [[2], [-2]]]), constants=constants, batch_dims=1)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gather_elements(axis):
    indices = np.asarray([[0, 1, -1], [1, 0, 0]])
    check("GatherElements", values(3, 3), indices, constants=[1], axis=axis)


@QUICK
@given(shape=st.lists(st.integers(1, 4), min_size=1, max_size=3), dtype=st.sampled_from(["int32", "int64"]),
       data=st.data())  # fmt: skip
def test_gather_elements_at_indices_of_the_run(shape, dtype, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    n, where = shape[axis], [data.draw(st.integers(1, m)) for m in shape]
    where[axis] = data.draw(st.integers(1, 5))
    picked = [data.draw(st.integers(-n, n - 1)) for _ in range(int(np.prod(where)))]
    graph = check("GatherElements", values(*shape), np.asarray(picked, dtype).reshape(where), axis=axis)
    assert "Take" in ops(graph)
