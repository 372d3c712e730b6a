"""The check accepts what rounding may do and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from korch.ir import Builder, Cone, Value
from korch.ir.evaluate import evaluate_cone
from korch.ir.ops.table import Array
from korch.profile.check import check, reference
from korch.profile.inputs import DRAWS, leaf_arrays
from korch.profile.region import grid, region_of


def softmax(b: Builder) -> Value:
    e = b.op("Exp", b.input("x", "float32", (256, 1024)))
    return e / b.op("ReduceSum", e, axes=(1,), keepdims=1)


def product(b: Builder) -> Value:
    return b.input("x", "float32", (128, 512)) @ b.input("w", "float32", (512, 384))


def difference_of_squares(b: Builder) -> Value:
    x = b.input("x", "float32", (1 << 18,))
    return (x + 100.0) * (x + 100.0) - 10000.0


def rounded(b: Builder) -> Value:
    return b.op("Cast", b.op("Floor", b.input("x", "float32", (1 << 18,)) * 3.3), to="int32")


CONES = [softmax, product, difference_of_squares, rounded]


def case(make: object) -> tuple[Cone, list[Array], Array]:
    b = Builder()
    make(b)  # type: ignore[operator]
    cone = Cone.of(b.primitives)
    leaves = leaf_arrays(cone)
    return cone, leaves, evaluate_cone(cone, leaves, precision="float32").astype(cone.root.dtype)


@pytest.mark.parametrize("make", CONES)
def test_float32_passes(make: object) -> None:
    cone, leaves, root = case(make)
    assert check(root, cone, leaves).reason == ""


@pytest.mark.parametrize("make", CONES)
def test_error_in_last_row_is_caught(make: object) -> None:
    cone, leaves, root = case(make)
    error = 1 if root.dtype.kind == "i" else 1e-3 * float(np.abs(root).max())
    root.reshape(-1)[-16:] += np.asarray(error).astype(root.dtype)
    assert "wrong at" in check(root, cone, leaves).reason


def test_half_precision_product_is_caught() -> None:
    cone, leaves, _ = case(product)
    rough = (leaves[0].astype(np.float16) @ leaves[1].astype(np.float16)).astype(np.float32)
    assert "wrong at" in check(rough, cone, leaves).reason


def test_one_outlier_hides_nothing() -> None:
    """1/x has a few huge values; an error of the size of the usual ones must not pass beside them."""
    b = Builder()
    b.op("Reciprocal", b.input("x", "float32", (100_000,)))
    cone = Cone.of(b.primitives)
    leaves = leaf_arrays(cone)
    assert "wrong at" in check(1 / leaves[0] * np.float32(1.0001), cone, leaves).reason


def test_nan_where_the_reference_has_it() -> None:
    b = Builder()
    b.op("Sqrt", b.input("x", "float32", (1000,)))
    cone = Cone.of(b.primitives)
    leaves = leaf_arrays(cone)
    with np.errstate(invalid="ignore"):
        root = np.sqrt(leaves[0])
    assert check(root, cone, leaves).reason == ""
    assert "wrong at" in check(np.nan_to_num(root), cone, leaves).reason
    assert reference(cone, leaves).finite < 0.9 and reference(cone, leaf_arrays(cone, DRAWS[1])).finite == 1


def test_region_is_small_and_reaches_the_corners() -> None:
    region = grid((1, 64, 208, 208), 20_000)
    assert np.prod([len(r) for r in region]) <= 20_000
    assert all(r[0] == 0 and r[-1] == n - 1 for r, n in zip(region, (1, 64, 208, 208), strict=True))
    assert len(region_of(case(rounded)[0])[0]) < 1 << 18


def test_leaves_are_the_same_every_time() -> None:
    cone = case(product)[0]
    first, second = leaf_arrays(cone), leaf_arrays(cone)
    assert all((a == b).all() for a, b in zip(first, second, strict=True))
    assert abs(float(first[1].std()) * 512**0.5 - 1) < 0.05
