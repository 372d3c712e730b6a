"""Scatter: what it takes, and parts of its result; what it computes is tested with the fission of ONNX's scatters."""

import numpy as np
import pytest

from korch.ir import Builder, Cone
from korch.ir.evaluate import evaluate_cone
from korch.ir.ops.scatter import COMBINED
from korch.ir.ranges import Interval, ranges

SHAPES = [
    ((3, 5, 4), (3, 7, 4), 1),
    ((3, 5, 4), (1, 7, 1), 1),
    ((6, 4), (9, 1), 0),
    ((2, 6), (2, 9), 1),
    ((6,), (9,), 0),
]


def cone_of(shape, places, axis, reduction, number=False):
    b = Builder()
    x = b.constant(np.float32(0.5)) if number else b.input("x", "float32", shape)
    updates = tuple(places[a] if a == axis else n for a, n in enumerate(shape))
    i, u = b.input("i", "int64", places), b.input("u", "float32", updates)
    y = b.op("Scatter", x, i, u, axis=axis, length=shape[axis], reduction=reduction)
    return Cone.of(b.graph([("y", y)]).primitives)


def leaves_of(cone):
    rng, n = np.random.default_rng(0), cone.primitives[-1].attr("length")
    return [
        np.asarray(t.value)
        if t.value is not None
        else rng.integers(-n, n, t.shape)
        if t.name == "i"
        else rng.standard_normal(t.shape)
        for t in cone.leaves
    ]


def one_by_one(cone, leaves):
    """The definition: a loop over all updates, in their order."""
    p = cone.primitives[-1]
    x, i, u = leaves
    y, i = np.broadcast_to(x, p.output.shape).copy(), np.broadcast_to(i, u.shape)
    for at in np.ndindex(u.shape):
        to = tuple(int(i[at]) if a == p.attr("axis") else k for a, k in enumerate(at))
        combine = COMBINED.get(p.attr("reduction"))
        y[to] = combine(y[to], u[at]) if combine else u[at]
    return y


@pytest.mark.parametrize("number", [True, False])
@pytest.mark.parametrize("reduction", ["none", *COMBINED])
@pytest.mark.parametrize(("shape", "places", "axis"), SHAPES)
def test_the_whole_and_parts_of_it(shape, places, axis, reduction, number):
    cone = cone_of(shape, places, axis, reduction, number)
    leaves = leaves_of(cone)
    wanted = one_by_one(cone, leaves)
    np.testing.assert_allclose(evaluate_cone(cone, leaves), wanted, rtol=1e-12)
    region = tuple(np.arange(n)[n // 3 :: 2] for n in shape)
    np.testing.assert_allclose(evaluate_cone(cone, leaves, region), wanted[np.ix_(*region)], rtol=1e-12)


@pytest.mark.parametrize(
    ("x", "i", "u", "attrs", "reason"),
    [
        ((4, 3), (5, 2), (5, 3), {}, "do not scatter"),
        ((4, 3), (1, 3), (5, 3), {}, "do not scatter"),
        ((3, 3), (5, 1), (5, 3), {}, "do not scatter"),
        ((4, 3), (5,), (5, 3), {}, "do not scatter"),
        ((0, 3), (5, 1), (5, 3), {"length": 0}, "of length 0"),
        ((4, 3), (5, 1), (5, 3), {"reduction": "mean"}, "mean"),
    ],
)
def test_what_does_not_fit(x, i, u, attrs, reason):
    b = Builder()
    given = [
        b.input(name, dtype, shape)
        for name, dtype, shape in (("x", "float32", x), ("i", "int64", i), ("u", "float32", u))
    ]
    with pytest.raises(ValueError, match=reason):
        b.op("Scatter", *given, **{"axis": 0, "length": 4, "reduction": "add"} | attrs)


@pytest.mark.parametrize("reduction", ["none", "max", "add"])
def test_what_is_known_of_its_values(reduction):
    b = Builder()
    x, u = b.op("Tanh", b.input("x", "float32", (4,))), b.op("Sigmoid", b.input("u", "float32", (5,)))
    y = b.op("Scatter", x, b.input("i", "int64", (5,)), u, axis=0, length=4, reduction=reduction)
    assert ranges(b.graph([("y", y)]))[y.tensor] == (Interval() if reduction == "add" else Interval(-1, 1))
