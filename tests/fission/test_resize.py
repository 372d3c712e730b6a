"""Resize and Upsample: modes, coordinates, rounding, sizes and scales."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .oracle import check, values

QUICK = settings(max_examples=10, deadline=None)
COORDINATES = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]


def floats(*numbers):
    return np.asarray(numbers, np.float32)


def ops(graph):
    return [p.op for p in graph.primitives]


@pytest.mark.parametrize("nearest", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
@pytest.mark.parametrize("coordinates", [*COORDINATES, "tf_half_pixel_for_nn"])
@QUICK
@given(lengths=st.tuples(st.integers(1, 7), st.integers(1, 7)), scales=st.tuples(*[st.floats(0.375, 3, width=32)] * 2))
def test_nearest(nearest, coordinates, lengths, scales):
    results = [int(np.float32(n) * np.float32(s)) for n, s in zip(lengths, scales, strict=True)]
    if all(results) and results != list(lengths):  # onnxruntime copies where no length changes, whatever the scales
        check("Resize", values(1, 2, *lengths), None, floats(1, 1, *scales), constants=[2], mode="nearest",
              opset=13 if coordinates.startswith("tf") else 19, coordinate_transformation_mode=coordinates,
              nearest_mode=nearest)  # fmt: skip


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("coordinates", [*COORDINATES, "half_pixel_symmetric"])
@QUICK
@given(lengths=st.tuples(*[st.integers(1, 6)] * 2), sizes=st.tuples(*[st.integers(1, 9)] * 2), outside=st.booleans())
def test_weighted(mode, coordinates, lengths, sizes, outside):
    attrs = {"exclude_outside": int(outside), "cubic_coeff_a": -0.5} if mode == "cubic" else {}
    check("Resize", values(1, 2, *lengths), None, None, np.asarray([1, 2, *sizes]), constants=[3], mode=mode,
          opset=19, coordinate_transformation_mode=coordinates, **attrs)  # fmt: skip


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller", "stretch"])
def test_policies_and_axes(policy):
    check("Resize", values(1, 2, 5, 8), None, None, np.asarray([7, 9]), constants=[3], mode="linear", opset=18,
          axes=[2, 3], keep_aspect_ratio_policy=policy)  # fmt: skip


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("scales", [(1, 1, 2, 2), (1, 1, 1.5, 3), (1, 1, 0.5, 0.6)])
def test_old_forms(mode, scales):
    x = values(1, 2, 5, 6)
    check("Resize", x, floats(*scales), constants=[1], mode=mode, opset=10)
    if min(scales) >= 1:
        check("Upsample", x, floats(*scales), constants=[1], mode=mode, opset=9)
        check("Upsample", x, mode=mode, opset=7, scales=[float(s) for s in scales])


def test_opset_11():
    check("Resize", values(1, 2, 5, 6), floats(), floats(1, 1, 2, 2), constants=[1, 2], opset=11, mode="linear")


def test_primitives():
    twice = floats(1, 1, 2, 2)
    assert ops(check("Resize", values(1, 2, 5, 6), None, twice, constants=[2])) == ["Gather"] * 2
    assert ops(check("Resize", values(1, 2, 5, 6), None, twice, constants=[2], mode="linear")) == ["Interpolate"] * 2
    assert ops(check("Resize", values(1, 2, 1, 1), None, twice, constants=[2], mode="linear")) == ["Expand"]
    half = floats(1, 1, 0.5, 1)
    assert ops(check("Resize", values(1, 2, 6, 6), None, half, constants=[2], nearest_mode="floor",
                     coordinate_transformation_mode="asymmetric")) == ["Slice"]  # fmt: skip


def test_integers_and_antialiasing_stay_opaque():
    half = floats(1, 1, 0.5, 0.5)
    check("Resize", values(1, 2, 6, 6), None, half, constants=[2], mode="linear", antialias=1, opset=18, opaque=True)
    x = np.arange(36, dtype=np.uint8).reshape(1, 1, 6, 6)
    check("Resize", x, None, half, constants=[2], mode="nearest")
    check("Resize", x, None, half, constants=[2], mode="linear", opaque=True)
