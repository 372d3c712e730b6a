"""Leaves that index are filled with valid indices, so that kernels are checked on what programs may be given."""

from __future__ import annotations

import numpy as np
import pytest

from korch.ir import Builder, Cone, Value
from korch.profile.inputs import leaf_arrays


def cone_of(dtype: str, lengths: tuple[int, ...], passed: str) -> Cone:
    """Tables of these lengths, all indexed by one leaf, seen through the primitive `passed`."""
    b = Builder()
    i = b.input("i", dtype, (40, 50))
    seen = {
        "": i,
        "Cast": b.op("Cast", i, to="int64"),
        "Transpose": b.op("Transpose", i, perm=(1, 0)),
        "Slice": b.op("Slice", i, starts=(1, 2), steps=(1, 2), lengths=(30, 20)),
    }[passed]
    y: Value | None = None
    for n in lengths:
        rows = b.op("Take", b.input(f"x{n}", "float32", (n, 3)), seen, axis=0, batch=0)
        y = rows if y is None else y + rows
    assert y is not None
    return Cone.of(b.graph([("y", y)]).primitives)


@pytest.mark.parametrize("passed", ["", "Cast", "Transpose", "Slice"])
@pytest.mark.parametrize("lengths", [(9,), (9, 5), (1,)])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_indices_are_valid_and_use_the_whole_axis(dtype: str, lengths: tuple[int, ...], passed: str):
    cone = cone_of(dtype, lengths, passed)
    (indices,) = [a for a, t in zip(leaf_arrays(cone), cone.leaves, strict=True) if t.name == "i"]
    n = min(lengths)
    assert set(np.unique(indices).tolist()) == set(range(-n, n))


def test_indices_of_indices():
    b = Builder()
    inner, outer, x = b.input("inner", "int64", (6,)), b.input("outer", "int64", (50,)), b.input("x", "float32", (3, 2))
    y = b.op("Take", x, b.op("Take", inner, outer, axis=0, batch=0), axis=0, batch=0)
    cone = Cone.of(b.graph([("y", y)]).primitives)
    found = {t.name: set(a.ravel().tolist()) for a, t in zip(leaf_arrays(cone), cone.leaves, strict=True)}
    assert found["inner"] <= set(range(-3, 3))
    assert found["outer"] == set(range(-6, 6))


def test_indices_of_a_scatter():
    b = Builder()
    i, u, x = b.input("i", "int32", (50, 1)), b.input("u", "int64", (50, 3)), b.input("x", "int64", (4, 3))
    y = b.op("Scatter", x, b.op("Cast", i, to="int64"), u, axis=0, length=4, reduction="add")
    cone = Cone.of(b.graph([("y", y)]).primitives)
    found = {t.name: set(a.ravel().tolist()) for a, t in zip(leaf_arrays(cone), cone.leaves, strict=True)}
    assert found["i"] == set(range(-4, 4)) and found["u"] == set(range(-7, 8)) - {0}
