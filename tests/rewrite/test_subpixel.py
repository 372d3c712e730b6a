"""A 3x3 convolution of a repeated image is four 2x2 convolutions, or one transposed 4x4 convolution."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import korch.rewrite.subpixel as subpixel
from korch.ir import Builder, Graph, Value
from korch.rewrite import add_choices
from korch.rewrite.subpixel import subpixel_convolutions, transposed_upsampling

from .choices import assert_same_values, by_rule, derived, differing, fewest, multiply_adds, saturated
from .nets import conv, graph_of, repeated


def upsampling(mode: str, height: int = 3, width: int = 4, channels: int = 2, outputs: int = 3) -> Graph:
    def build(b: Builder, x: Value) -> Value:
        y = repeated(b, x)
        if mode == "zeros":
            return conv(b, y, outputs, 3, 1)
        y = b.op("Pad", y, pads=(0, 0, 1, 1, 0, 0, 1, 1), mode=mode, value=0.0)
        return conv(b, y, outputs, 3, 0)

    return graph_of(build, (2, channels, height, width))


@settings(deadline=None, max_examples=20)
@given(
    st.sampled_from(["zeros", "constant", "edge", "reflect"]),
    st.integers(2, 5),
    st.integers(2, 5),
    st.integers(1, 3),
    st.integers(1, 3),
)
def test_the_same_values(mode: str, height: int, width: int, channels: int, outputs: int):
    graph = derived(upsampling(mode, height, width, channels, outputs), [subpixel_convolutions])
    assert sum(p.op == "Conv" for p in by_rule(graph, subpixel_convolutions)) == 4
    graph = derived(upsampling(mode, height, width, channels, outputs), [transposed_upsampling])
    assert sum(p.op == "ConvTranspose" for p in by_rule(graph, transposed_upsampling)) == 1


@pytest.mark.parametrize("mode", ["zeros", "reflect"])
def test_four_products_where_nine_were(mode: str):
    plain = upsampling(mode, 16, 16, 4, 8)
    best = fewest(plain)
    assert multiply_adds(best) <= multiply_adds(plain) * 4 / 9 * 1.05
    if mode == "reflect":
        assert multiply_adds(best) * 9 == multiply_adds(plain) * 4


def test_in_channels_last_too():
    plain = upsampling("reflect", 8, 8, 64, 32)
    graph = add_choices(plain)
    assert_same_values(plain, graph)
    assert any(p.op == "Reshape" and {p.inputs[0], p.output} <= set(graph.twins) for p in graph.primitives)


@pytest.mark.parametrize(
    "build",
    [
        lambda b, x: conv(b, repeated(b, x), 3, 3, 1, 2),
        lambda b, x: conv(b, repeated(b, x), 3, 3, 0),
        lambda b, x: conv(b, b.op("Gather", x, axis=3, indices=(0, 0, 1, 1, 2, 2)), 3, 3, 1),
        lambda b, x: conv(
            b, b.op("Pad", repeated(b, x), pads=(0, 0, 1, 1, 0, 0, 1, 1), mode="constant", value=1.0), 3, 3
        ),
        lambda b, x: conv(b, b.op("Pad", repeated(b, x), pads=(0, 0, 1, 1, 0, 0, 1, 1), mode="wrap", value=0.0), 3, 3),
    ],
    ids=["stride", "valid", "one axis", "ones", "wrap"],
)
def test_anything_else_is_left_alone(build):
    graph = derived(graph_of(build, (1, 2, 3, 3)))
    assert not by_rule(graph, subpixel_convolutions) and not by_rule(graph, transposed_upsampling)


def test_swapped_phases_are_caught(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(subpixel, "TAPS", subpixel.TAPS[::-1])
    plain = upsampling("zeros")
    assert differing(plain, saturated(plain, [subpixel_convolutions]))


def test_a_turned_kernel_is_caught(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(subpixel, "SPREAD", subpixel.SPREAD[::-1])
    plain = upsampling("reflect")
    assert differing(plain, saturated(plain, [transposed_upsampling]))
