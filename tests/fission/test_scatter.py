"""Gathers and scatters, at constant places and at places of the run, against onnxruntime."""

import numpy as np
import onnx.parser
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from korch.fission import fission

from .oracle import check, check_model, node_model, values

QUICK = settings(max_examples=15, deadline=None)


def ops(graph):
    return {p.op for p in graph.primitives}


def grid(*ranges):
    """Indices of all elements in the block of `ranges`."""
    return np.stack(np.meshgrid(*ranges, indexing="ij"), -1).astype(np.int64)


@pytest.mark.parametrize(
    "block", [(range(2), range(1, 3), range(4)), (range(1, 2), range(3), range(2, 4)), (range(2), range(3), range(4))]
)
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


REDUCTIONS = ["none", "add", "mul", "max", "min"]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("constants", [[1], []])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_slices_at_indices_of_the_run(depth, constants, reduction):
    """Several coordinates, some from the back; of what is combined, two slices go to one place."""
    distinct, twice = [[1, -1, 0], [0, 2, -4]], [[-2, 1, 3], [1, -1, 0]]
    places = np.asarray(distinct if reduction == "none" else distinct + twice)[:, :depth]
    updates = values(len(places), *(2, 3, 4)[depth:], seed=1)
    graph = check("ScatterND", values(2, 3, 4), places, updates, constants=constants, opset=18, reduction=reduction)
    assert ("Scatter" in ops(graph)) == (reduction != "none" or not constants)


def test_indices_of_many_axes():
    places, updates = np.asarray([[[1], [-2]], [[1], [0]]]), values(2, 2, 3, 4, seed=1)
    check("ScatterND", values(2, 3, 4), places, updates, opset=18, reduction="add")


@pytest.mark.parametrize("reduction", REDUCTIONS)
@QUICK
@given(
    data=st.data(),
    dtype=st.sampled_from(["float32", "float64", "int32", "int64"]),
    picked=st.sampled_from(["int32", "int64"]),
)
def test_elements_at_indices_of_the_run(reduction, data, dtype, picked):
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    n, box = shape[axis], [data.draw(st.integers(1, m)) for m in shape]
    box[axis] = data.draw(st.integers(1, n if reduction == "none" else 6))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    at = rng.integers(-n, n, box)
    if reduction == "none":  # ONNX does not say which of two stays
        at = rng.random(shape).argsort(axis)[tuple(map(slice, box))] - n * (at < 0)
    x, updates = (np.round(values(*s, seed=k, low=-5, high=5)).astype(dtype) for k, s in enumerate((shape, box)))
    graph = check("ScatterElements", x, at.astype(picked), updates, axis=axis, opset=18, reduction=reduction)
    assert "Scatter" in ops(graph)


def test_of_updates_for_one_element_the_last_stays():
    x, twice = values(3, 2), np.asarray([[1], [-2], [0]])
    updates = np.arange(6, dtype=np.float32).reshape(3, 2)
    wanted = x.copy()
    wanted[[1, 0]] = updates[1:]
    for constants in ([1], []):
        model = node_model("ScatterND", [x, twice, updates], constants, 1)
        check_model(model, {"x0": x, "x1": twice, "x2": updates}, [wanted])


def repeated(shape, own, axis, lengths, node):
    """A model with y = `node` of x and u, of length 5 and of `shape` along `axis`, and of `wide`: indices `at` of shape
    `own`, which it repeats to `shape` as torch does."""

    def text(*numbers):
        return ", ".join(map(str, numbers))

    x = [5 if a == axis else n for a, n in enumerate(shape)]
    return onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["": 18]>
        g (int64[{text(*own)}] at, float[{text(*x)}] x, float[{text(*shape)}] u) => (float[{text(*lengths)}] y)
        <int64[{len(shape)}] shape = {{{text(*shape)}}}>
        {{ wide = Expand(at, shape) y = {node} }}""")


REPEATED = [
    ((7, 4), (7, 1), 0),
    ((2, 7, 3), (7, 1), 1),
    ((2, 7, 3), (2, 7, 1), 1),
    ((2, 3, 7), (7,), 2),
    ((2, 7, 3), (7, 3), 1),
    ((2, 3, 7, 2), (2, 1, 7, 1), 2),
]


@pytest.mark.parametrize(("shape", "own", "axis"), REPEATED)
def test_repeated_indices_are_read_once(shape, own, axis):
    x = tuple(5 if a == axis else n for a, n in enumerate(shape))
    feeds = {"at": np.random.default_rng(0).integers(-5, 5, own), "x": values(*x), "u": values(*shape)}
    sums = repeated(shape, own, axis, x, f'ScatterElements<axis = {axis}, reduction = "add">(x, wide, u)')
    graph = check_model(sums, feeds)
    (p,) = (p for p in graph.primitives if p.op == "Scatter")
    assert p.inputs[1].size == np.prod(own) and "Expand" not in ops(graph)
    rows = check_model(repeated(shape, own, axis, shape, f"GatherElements<axis = {axis}>(x, wide)"), feeds)
    (p,) = (p for p in rows.primitives if p.op == "Take")
    assert ("Transpose" in ops(rows)) == (own in ((7, 3), (2, 1, 7, 1)))


def test_what_is_the_same_everywhere_is_one_number():
    graph = check("ScatterND", np.zeros((3, 2), np.float32), np.asarray([[0], [2]]), values(2, 2), constants=[0])
    (p,) = (p for p in graph.primitives if p.op == "Scatter")
    assert p.inputs[0].value == 0 and p.inputs[0].shape == ()


def test_scatters_that_stay_opaque():
    x = np.asarray([True, False, True])
    graph = fission(node_model("ScatterElements", [x, np.asarray([0]), x[:1]], opset=18, reduction="mul"))
    assert ops(graph) == {"Opaque"}
    check("ScatterND", values(2 << 20, 1), np.zeros((1, 2), np.int64), values(1), opaque=True)


def test_nothing_to_scatter():
    for constants in ([1, 2], []):
        check("ScatterND", values(3, 2), np.zeros((0, 1), np.int64), values(0, 2), constants=constants)
    check("ScatterElements", values(3, 2), np.zeros((0, 2), np.int64), values(0, 2))


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_gather_nd(depth):
    indices = np.asarray([[[1, 2, 0], [0, -1, 3]], [[1, 0, 1], [-2, 1, 1]]])[..., :depth]
    check("GatherND", values(2, 3, 4), indices, constants=[1])
    assert "Take" in ops(check("GatherND", values(2, 3, 4), indices))


def test_gather_nd_of_batches():
    for constants in ([1], []):
        check("GatherND", values(2, 3, 4), np.asarray([[[1], [0]], [[2], [-2]]]), constants=constants, batch_dims=1)
        check("GatherND", values(2, 3, 4), np.asarray([[[1, -1]], [[-3, 0]]]), constants=constants, batch_dims=1)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gather_elements(axis):
    indices = np.asarray([[0, 1, -1], [1, 0, 0]])
    check("GatherElements", values(3, 3), indices, constants=[1], axis=axis)


@QUICK
@given(
    shape=st.lists(st.integers(1, 4), min_size=1, max_size=3), dtype=st.sampled_from(["int32", "int64"]), data=st.data()
)
def test_gather_elements_at_indices_of_the_run(shape, dtype, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    n, where = shape[axis], [data.draw(st.integers(1, m)) for m in shape]
    where[axis] = data.draw(st.integers(1, 5))
    picked = [data.draw(st.integers(-n, n - 1)) for _ in range(int(np.prod(where)))]
    graph = check("GatherElements", values(*shape), np.asarray(picked, dtype).reshape(where), axis=axis)
    assert "Take" in ops(graph)
