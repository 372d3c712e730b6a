"""Parts of tensors have the values that the whole has."""

from __future__ import annotations

import numpy as np
import pytest

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


WINDOW = {"strides": (1, 1), "pads": (1,) * 4, "dilations": (1, 1), "channels_last": 0}


def pooled(b: Builder, x: Value) -> Value:
    return b.op("MaxPool", x, kernel_shape=(3, 3), **WINDOW)


def convolved(b: Builder, x: Value) -> Value:
    w = np.random.default_rng(0).standard_normal((2, 2, 3, 3)).astype(np.float32)
    return b.op("Conv", x, b.constant(w), group=1, **WINDOW)


@pytest.mark.parametrize("window", [pooled, convolved])
@pytest.mark.parametrize("columns", [range(15, -1, -1), (5, 4), (4, 4), (9, 6, 3), (7, 7, 7)], ids=str)
def test_windows_at_positions_that_do_not_rise(window, columns):
    b = Builder()
    y = window(b, b.input("x", "float32", (1, 2, 16, 16)))
    assert_parts_agree(y, (np.arange(1), np.arange(2), np.arange(16), np.asarray(columns)))


def test_a_pool_of_which_the_columns_are_reversed():
    b = Builder()
    x = b.input("x", "float32", (1, 2, 16, 16))
    turned = b.op("Slice", pooled(b, x), starts=(0, 0, 0, 15), steps=(1, 1, 1, -1), lengths=x.shape)
    cone = Cone.of(b.graph([("y", turned)]).primitives)
    leaf = np.random.default_rng(0).standard_normal(x.shape)
    straight = evaluate_cone(Cone.of(cone.primitives[:1]), [leaf])
    assert np.array_equal(evaluate_cone(cone, [leaf]), straight[..., ::-1])
