"""Scatters as generated C against the float64 reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx.parser
import pytest
from tests.marks import slow_but, slow_but_every

from korch.backends.cpu.loops.backend import BACKEND as LOOPS
from korch.backends.cpu.scatter.backend import BACKEND
from korch.backends.cpu.scatter.shares import shares
from korch.backends.cuda.triton.refusals import refusal as triton_refusal
from korch.errors import Error
from korch.executable import Executable
from korch.executable.plan import Plan, Step
from korch.fission import fission
from korch.ir import Builder, Cone, Graph, Value
from korch.ir.evaluate import evaluate_cone
from korch.ir.ops.scatter import COMBINED
from korch.profile.inputs import leaf_arrays

from .measured import MANY_THREADS, measured, refusal, wrong

Build = Callable[[Builder, Value], Value]
REDUCTIONS = ("none", *COMBINED)
TYPES = ("float64", "int32", "int64", "int8")


def scatter(
    shape: tuple[int, ...],
    places: tuple[int, ...],
    axis: int = 0,
    reduction: str = "add",
    dtype: str = "float32",
    number: bool = False,
    before: Build | None = None,
    epilogue: Build | None = None,
    picked: str = "int64",
) -> Cone:
    """Updates for `places` of a tensor of `shape`, or of one that is the same number everywhere; `before` computes the
    updates and `behind` goes on."""
    b = Builder()
    x = b.constant(np.asarray(1, dtype)) if number else b.input("x", dtype, shape)
    u = b.input("u", dtype, tuple(places[a] if a == axis else n for a, n in enumerate(shape)))
    y = b.op(
        "Scatter",
        x,
        b.input("i", picked, places),
        before(b, u) if before else u,
        axis=axis,
        length=shape[axis],
        reduction=reduction,
    )
    return Cone.of(b.graph([("y", epilogue(b, y) if epilogue else y)]).primitives)


def edges(nodes: int, count: int, width: int) -> Cone:
    """What a graph network does: rows at the one end of each edge, weighted and added up at the other, and a layer's
    end."""
    b = Builder()
    x, ends = b.input("x", "float32", (nodes, width)), b.input("ends", "int64", (2, count))
    start, end = (b.op("Slice", ends, starts=(k, 0), steps=(1, 1), lengths=(1, count)) for k in (0, 1))
    rows = b.op("Take", x, b.op("Reshape", start, shape=(count,)), axis=0, batch=0) * b.input(
        "w", "float32", (count, 1)
    )
    zero, at = b.constant(np.float32(0)), b.op("Reshape", end, shape=(count, 1))
    y = b.op("Scatter", zero, at, rows, axis=0, length=nodes, reduction="add")
    return Cone.of(b.graph([("y", b.op("Relu", x + y / b.input("n", "float32", (nodes, 1))))]).primitives)


CONES = [
    *(scatter((50, 64), (90, 1), reduction=r, number=n) for r in REDUCTIONS for n in (False, True)),
    *(scatter((7, 5), (30, 5), reduction=r, dtype=d) for r in REDUCTIONS for d in TYPES),
    scatter((7, 5), (6, 1), reduction="none", dtype="bool"),
    scatter((1000, 200), (500, 1), picked="int32"),
    scatter((3, 40, 33), (3, 90, 1), axis=1),
    scatter((2, 3, 400), (2, 3, 900), axis=2, reduction="max"),
    scatter((400, 2, 51), (900, 1, 1)),
    scatter((4, 300, 2, 17), (1, 500, 2, 1), axis=1),
    scatter((1,), (30_000,)),
    scatter((5,), (30_000,), number=True),
    scatter((900, 64), (30, 1), reduction="none"),
    scatter((20_000, 3), (1, 1)),
    scatter((1, 1), (1, 1)),
    scatter((17,), (1,)),
    scatter((300, 70), (400, 1), before=lambda b, u: b.op("Exp", u * b.input("v", "float32", (70,)))),
    scatter((300, 70), (400, 1), epilogue=lambda b, y: b.op("Relu", y + b.input("v", "float32", (70,)))),
    scatter((300, 6, 20), (400, 1, 1), before=lambda b, u: u + b.input("v", "float32", (6, 1))),
    edges(60, 500, 48),
    edges(60, 500, 7),
    edges(1, 40, 1),
    edges(3000, 200, 19),
]


@pytest.mark.parametrize("threads", MANY_THREADS)
def test_right(threads: int, tmp_path: Path):
    assert not wrong(measured(BACKEND, CONES, threads, tmp_path))


def outputs(cone: Cone, leaves: dict[str, np.ndarray], threads: int) -> list[np.ndarray]:
    """The root by every kernel for so many threads."""
    constants = {t.name: np.asarray(t.value, t.dtype) for t in cone.leaves if t.const}
    inputs = tuple(t for t in cone.leaves if not t.const)
    graph = Graph("g", inputs, (cone.root,), ("y",), cone.primitives, constants)
    found = list[np.ndarray]()
    for kernel in BACKEND.build(cone, threads):
        with Executable.link(Plan(graph, (Step.of(kernel, 1e-6, None),), threads, "default", 1e-6, 0.0)) as e:
            found.append(e.run({t.name: leaves[t.name] for t in inputs})["y"])
    return found


def named(cone: Cone) -> dict[str, np.ndarray]:
    return dict(zip([t.name for t in cone.leaves], leaf_arrays(cone), strict=True))


ODD = [
    scatter((9, 4), (9000, 1)),
    scatter((3, 40, 33), (3, 900, 1), axis=1),
    edges(301, 3000, 70),
    scatter((5, 333), (5, 5000), axis=1),
    scatter((40, 90), (700, 1), reduction="none"),
]


@pytest.mark.parametrize("cone", slow_but_every(6, ODD), ids=lambda c: str(c.root.shape))
def test_whoever_owns_which_part_the_bits_are_the_same(cone: Cone):
    found = [y.tobytes() for threads in (1, 2, 3, 7) for y in outputs(cone, named(cone), threads)]
    assert len(found) >= 4 and len(set(found)) == 1


def test_of_updates_for_one_place_the_last_stays():
    cone = scatter((3, 2000), (60, 1), reduction="none")
    leaves = named(cone) | {"i": np.asarray([0, -1, 2] * 20).reshape(-1, 1)}
    for y in outputs(cone, leaves, 2):
        np.testing.assert_array_equal(y, np.stack([leaves["u"][57], leaves["x"][1], leaves["u"][59]]))


def test_everything_goes_to_one_place():
    cone = scatter((5, 40), (3000, 1), number=True)
    leaves = named(cone) | {"i": np.full((3000, 1), -2)}
    exact = evaluate_cone(cone, [leaves[t.name] for t in cone.leaves])
    for y in outputs(cone, leaves, 2):
        np.testing.assert_allclose(y, exact, rtol=0, atol=1e-3)


def test_no_number_stays_none():
    for reduction in ("max", "min", "add"):
        cone = scatter((3,), (4,), reduction=reduction)
        nan = float("nan")
        leaves = {"x": np.float32([nan, 1, 2]), "u": np.float32([3, nan, 0, 4]), "i": np.asarray([0, 1, 2, 1])}
        for y in outputs(cone, leaves, 1):
            assert np.isnan(y).tolist() == [True, True, False]


@pytest.mark.parametrize("width", slow_but([1, 64], [1]))
def test_an_index_outside_of_its_axis_is_an_error(width: int):
    cone = edges(40, 600, width)
    good = named(cone)
    for row in (0, 1):
        for wrong_index in (40, -41, 2**40, -(2**63)):
            ends = good["ends"].copy()
            ends[row, 599] = wrong_index
            with pytest.raises(Error, match="index outside of the axis"):
                outputs(cone, good | {"ends": ends}, 2)
    assert outputs(cone, good, 2)


@pytest.mark.parametrize("wrong_index", [(0, 3), (0, -4), (2, 0), (-3, 0)])
def test_a_coordinate_outside_of_its_axis_is_an_error(wrong_index: tuple[int, int]):
    """Position 3 of a tensor of 2 x 3 is the first of its second row: (0, 3) does not mean it."""
    graph = fission(
        onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 18]>
        g (float[2, 3] x, int64[2, 2] i, float[2] u) => (float[2, 3] y) { y = ScatterND(x, i, u) }""")
    )
    last = max(i for i, p in enumerate(graph.primitives) if p.op == "Scatter")
    cone = Cone.of(graph.primitives[: last + 1])
    graph = replace(graph, outputs=(cone.root,))
    feeds = {"x": np.zeros((2, 3), np.float32), "u": np.float32([5, 7])}
    with Executable.link(Plan(graph, (Step.of(BACKEND.build(cone, 2)[0]),), 2)) as e:
        found = e.run(feeds | {"i": np.asarray([(0, -1), (-1, 1)])})["y"]
        assert found.tolist() == [0, 0, 5, 0, 7, 0]
        with pytest.raises(Error, match="index outside of the axis"):
            e.run(feeds | {"i": np.asarray([(0, 0), wrong_index])})


def test_threads_share_out_columns_and_rows():
    def parts(cone: Cone, threads: int) -> list[tuple[int, ...]]:
        return [share.variant.numbers for share in shares(cone, threads)]

    assert parts(scatter((500, 64), (3000, 1)), 2) == [(1, 2), (2, 1)]
    assert parts(scatter((500, 64), (3000, 1)), 8) == [(2, 4), (1, 4), (8, 1)]
    assert parts(scatter((500, 8), (3000, 1)), 2) == [(2, 1), (1, 1)]
    assert parts(scatter((4, 500, 8), (4, 3000, 1), axis=1), 2) == [(1, 1)]
    assert parts(scatter((3, 500, 64), (3, 3000, 1), axis=1), 2) == [(1, 2), (2, 1)]
    assert parts(scatter((5, 8), (3, 1)), 2) == [(1, 1)]
    assert parts(scatter((4000, 128), (20, 1), reduction="none"), 2) == [(2, 1), (1, 1)]


def test_others_refuse_it():
    cone = scatter((7, 5), (9, 1), epilogue=lambda b, y: b.op("Relu", y))
    assert "a Scatter" in refusal(LOOPS, cone) and triton_refusal(cone).endswith("a Scatter")


def test_refused_with_a_reason():
    def epilogue(build: Build) -> str:
        return refusal(BACKEND, scatter((7, 5), (9, 1), epilogue=build))

    assert "Transpose behind" in epilogue(lambda b, y: b.op("Transpose", y, perm=(1, 0)))
    assert "Add behind" in epilogue(lambda b, y: y + b.input("wide", "float32", (2, 7, 5)))
    assert "ReduceSum beside" in epilogue(
        lambda b, y: y / b.op("ReduceSum", b.input("z", "float32", (5, 9)), axes=(1,), keepdims=0)
    )
    assert "take the place" in epilogue(lambda b, y: b.op("Cast", y, to="int32"))
    assert "without elements" in refusal(BACKEND, scatter((7, 0), (9, 1)))
    assert "float16" in refusal(BACKEND, scatter((7, 2), (9, 1), dtype="float16"))
    b = Builder()
    assert "has 0 Scatters" in refusal(BACKEND, Cone.of(b.graph([("y", -b.input("x", "float32", (3,)))]).primitives))
