"""Parts of tensors have the values that the whole has."""

from __future__ import annotations

import numpy as np

from korch.ir import Builder, Cone, Value
from korch.ir.evaluate import evaluate_cone


def assert_parts_agree(y: Value, region: tuple[np.ndarray[tuple[int], np.dtype[np.int64]], ...]) -> None:
    cone = Cone.of(y.builder.graph([("y", y)]).primitives)
    leaves = [np.random.default_rng(i).standard_normal(t.shape).astype(np.float32) for i, t in enumerate(cone.leaves)]
    part, whole = evaluate_cone(cone, leaves, region), evaluate_cone(cone, leaves)
    assert np.array_equal(part, whole[np.ix_(*region)])


def test_a_large_part_of_a_reshape_with_a_last_axis_of_one():
    b = Builder()
    y = b.op("Reshape", b.op("Neg", b.input("x", "float32", (16, 16, 48))), shape=(256, 48, 1))
    assert_parts_agree(y, (np.arange(256), np.arange(40), np.arange(1)))


def test_a_large_part_of_a_reshape_that_merges_axes():
    b = Builder()
    y = b.op("Reshape", b.op("Neg", b.input("x", "float32", (16, 16, 48))), shape=(256 * 48,))
    assert_parts_agree(y, (np.arange(0, 256 * 48 - 1),))
