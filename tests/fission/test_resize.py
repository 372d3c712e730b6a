"""Resize and Upsample: modes, coordinates, rounding, sizes and scales."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from korch.fission import fission
from korch.ir.evaluate import evaluate_graph

from .oracle import check, node_model, values

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
        check(
            "Resize",
            values(1, 2, *lengths),
            None,
            floats(1, 1, *scales),
            constants=[2],
            mode="nearest",
            opset=13 if coordinates.startswith("tf") else 19,
            coordinate_transformation_mode=coordinates,
            nearest_mode=nearest,
        )


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("coordinates", [*COORDINATES, "half_pixel_symmetric"])
@QUICK
@given(lengths=st.tuples(*[st.integers(1, 6)] * 2), sizes=st.tuples(*[st.integers(1, 9)] * 2), outside=st.booleans())
def test_weighted(mode, coordinates, lengths, sizes, outside):
    attrs = {"exclude_outside": int(outside), "cubic_coeff_a": -0.5} if mode == "cubic" else {}
    check(
        "Resize",
        values(1, 2, *lengths),
        None,
        None,
        np.asarray([1, 2, *sizes]),
        constants=[3],
        mode=mode,
        opset=19,
        coordinate_transformation_mode=coordinates,
        **attrs,
    )


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller", "stretch"])
def test_policies_and_axes(policy):
    check(
        "Resize",
        values(1, 2, 5, 8),
        None,
        None,
        np.asarray([7, 9]),
        constants=[3],
        mode="linear",
        opset=18,
        axes=[2, 3],
        keep_aspect_ratio_policy=policy,
    )


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
    assert ops(
        check(
            "Resize",
            values(1, 2, 6, 6),
            None,
            half,
            constants=[2],
            nearest_mode="floor",
            coordinate_transformation_mode="asymmetric",
        )
    ) == ["Slice"]


def test_integers_and_antialiasing_stay_opaque():
    half = floats(1, 1, 0.5, 0.5)
    check("Resize", values(1, 2, 6, 6), None, half, constants=[2], mode="linear", antialias=1, opset=18, opaque=True)
    x = np.arange(36, dtype=np.uint8).reshape(1, 1, 6, 6)
    check("Resize", x, None, half, constants=[2], mode="nearest")
    check("Resize", x, None, half, constants=[2], mode="linear", opaque=True)


SIZES = {
    "half_pixel": (20, 6, "half_pixel", "round_prefer_ceil", [1, 5, 8, 11, 15, 18]),
    "half_pixel to one": (7, 1, "half_pixel", "floor", [3]),
    "asymmetric": (14, 2, "asymmetric", "floor", [0, 7]),
    "symmetric": (28, 2, "half_pixel_symmetric", "round_prefer_floor", [6, 20]),
    "pytorch": (7, 19, "pytorch_half_pixel", "ceil", [0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 5, 6, 6, 6, 6]),
    "tf": (7, 1, "tf_half_pixel_for_nn", "round_prefer_ceil", [4]),
}


def picked(length: int, result: int, **attrs: Any) -> list[int]:
    """Which elements nearest takes for an axis that is given by its size."""
    x = np.arange(length, dtype=np.float32)
    model = node_model(
        "Resize",
        [x, None, None, np.array([result])],
        [3],
        mode="nearest",
        opset=13 if "tf_half_pixel_for_nn" in attrs.values() else 19,
        **attrs,
    )
    (found,) = evaluate_graph(fission(model), {"x0": x}).values()
    return found.astype(int).tolist()


@pytest.mark.parametrize("case", SIZES.values(), ids=SIZES)
def test_sizes_are_exact_ratios(case: tuple[int, int, str, str, list[int]]):
    """At ties, float32 picks a neighbour, and so does onnxruntime: of 20 elements 14 instead of 15."""
    length, result, coordinates, nearest, expected = case
    assert picked(length, result, coordinate_transformation_mode=coordinates, nearest_mode=nearest) == expected


@settings(max_examples=60, deadline=None)
@example(length=20, result=6, last=True)
@example(length=14, result=19, last=False)
@given(length=st.integers(2, 300), result=st.integers(1, 300), last=st.booleans())
def test_any_sizes_are_exact_ratios(length: int, result: int, last: bool):
    """Integers alone: (2 i + 1) length / (2 result) - 1 / 2, rounded."""
    over = [(2 * i + 1) * length - result for i in range(result)]  # times 2 result
    up = [(n + result) // (2 * result) for n in over]
    down = [-(-(n - result) // (2 * result)) for n in over]
    expected = [min(max(n, 0), length - 1) for n in (up if last else down)]
    nearest = "round_prefer_ceil" if last else "round_prefer_floor"
    assert picked(length, result, coordinate_transformation_mode="half_pixel", nearest_mode=nearest) == expected


def test_scales_are_the_float32_that_they_are():
    """A third is rounded up, and yet i / scale has to be 3 i: so float32 has it, and onnxruntime."""
    third = floats(1, 1, 1 / 3, 1)
    check(
        "Resize",
        values(1, 2, 30, 3),
        None,
        third,
        constants=[2],
        nearest_mode="floor",
        opset=19,
        coordinate_transformation_mode="asymmetric",
    )


def test_a_policy_rounds_exact_products():
    """7 * 31 / 14 is 15.5 and becomes 16; float32 makes less of it."""
    x = values(14, 7)
    model = node_model(
        "Resize",
        [x, None, None, np.array([31, 20])],
        [3],
        opset=18,
        mode="nearest",
        keep_aspect_ratio_policy="not_larger",
    )
    assert fission(model).outputs[0].shape == (31, 16)
