"""The traits in the operator table are true of the references."""

from __future__ import annotations

import numpy as np
import pytest

from korch.ir import Primitive, Tensor
from korch.ir.cone import Cone
from korch.ir.evaluate import evaluate_cone, evaluate_primitive
from korch.ir.ops import sourced
from korch.ir.ops.table import Array, Op, ViewKind, op_named
from korch.ir.primitive import freeze

VIEWS: dict[str, dict[str, object]] = {
    "Identity": {},
    "Reshape": {"shape": (4, 3, 2)},
    "Transpose": {"perm": (2, 0, 1)},
    "Slice": {"starts": (1, 0, 3), "steps": (1, 2, -1), "lengths": (1, 2, 4)},
    "Expand": {"shape": (5, 2, 3, 4)},
}
"""Attributes of views of a tensor [2, 3, 4]."""
SOURCED = [name for name in VIEWS if op_named(name).source]
RISING = np.linspace(-0.9, 3.0, 40)
"""Where all increasing functions are defined but logarithm and root, of which the positive part counts."""


def view_of(name: str) -> Primitive:
    x, attrs = Tensor("x", "float32", (2, 3, 4)), VIEWS[name]
    return Primitive(name, (x,), Tensor("y", *op_named(name).infer((x,), attrs)), freeze(attrs))


def numbered(p: Primitive) -> Array:
    return np.arange(p.inputs[0].size, dtype=np.float64).reshape(p.inputs[0].shape)


@pytest.mark.parametrize("name", VIEWS)
def test_views_have_elements_as_often_as_they_say(name: str):
    p = view_of(name)
    found = evaluate_primitive(p, [numbered(p)]).reshape(-1).astype(int)
    counts = np.bincount(found, minlength=p.inputs[0].size)
    assert set(found.tolist()) <= set(range(p.inputs[0].size))
    seen = ViewKind.REARRANGES if (counts == 1).all() else ViewKind.SELECTS if (counts <= 1).all() else ViewKind.REPEATS
    assert p.spec.view is seen


@pytest.mark.parametrize("name", SOURCED)
def test_sources_are_where_references_read(name: str):
    """On the whole, and on every other position of each axis."""
    p = view_of(name)
    for step in (1, 2):
        region = tuple(np.arange(0, n, step) for n in p.output.shape)
        by_source = sourced.evaluate(p, region, lambda _, part: numbered(p)[np.ix_(*part)])
        np.testing.assert_array_equal(by_source, evaluate_cone(Cone.of([p]), [numbered(p)], region))


def test_only_moves_have_sources():
    assert SOURCED
    assert all(op_named(name).moves for name in SOURCED)


def every_op() -> list[Op]:
    from korch.ir.ops.table import _TABLE  # pyright: ignore[reportPrivateUsage]

    return list(_TABLE.values())


@pytest.mark.parametrize("op", [o for o in every_op() if o.increasing], ids=lambda o: o.name)
def test_increasing_functions_nowhere_fall(op: Op):
    x = Tensor("x", "float64", RISING.shape)
    y = evaluate_primitive(Primitive(op.name, (x,), x), [RISING])
    y = y[np.isfinite(y)]
    assert len(y) > 20
    assert (np.diff(y) >= 0).all()


@pytest.mark.parametrize("op", [o for o in every_op() if o.picks and o.name in ("Max", "Min")], ids=lambda o: o.name)
def test_what_picks_takes_one_of_two(op: Op):
    x = Tensor("x", "float64", (2,))
    y = evaluate_primitive(Primitive(op.name, (x, x), x), [np.array([1.0, 5.0]), np.array([3.0, 2.0])])
    np.testing.assert_array_equal(y, [3.0, 5.0] if op.picks > 0 else [1.0, 2.0])
