"""Maxima over windows that hold others."""

from __future__ import annotations

import pytest

from korch.ir import Builder, Graph
from korch.rewrite.pools import pool_of_bytes, pool_of_pool
from korch.rewrite.saturate import algebra
from korch.rewrite.space import Space

from .choices import assert_same_values, by_rule, derived

PLAIN = {"strides": (1, 1), "dilations": (1, 1), "channels_last": 0}


def pools(*windows: tuple[int, int], **other: object) -> Graph:
    """Maxima of one tensor over k x k windows, each (k, pad); `other` attributes for all of them."""
    b = Builder()
    x = b.input("x", "float32", (1, 4, 13, 11))
    ys = [b.op("MaxPool", x, kernel_shape=(k, k), pads=(pad,) * 4, **(PLAIN | other)) for k, pad in windows]
    return b.graph([(f"y{k}", y) for (k, _), y in zip(windows, ys, strict=True)])


def test_every_pool_of_a_pyramid_is_one_of_a_smaller():
    graph = derived(pools((5, 2), (9, 4), (13, 6)), [pool_of_pool])
    made = {(p.inputs[0], p.attr("kernel_shape"), p.attr("pads")) for p in by_rule(graph, pool_of_pool)}
    small, middle, _ = graph.outputs
    assert made == {(small, (5, 5), (2,) * 4), (middle, (5, 5), (2,) * 4), (small, (9, 9), (4,) * 4)}


def test_a_pyramid_may_be_taken_in_steps():
    plain = pools((3, 1), (5, 2), (9, 4))
    graph = algebra(plain)
    assert len(by_rule(graph, pool_of_pool)) == 3
    assert_same_values(plain, graph)


@pytest.mark.parametrize("other", [{"strides": (2, 2)}, {"dilations": (2, 2)}])
def test_windows_that_skip_positions_stay(other: dict[str, object]):
    assert not by_rule(derived(pools((3, 1), (5, 2), **other), [pool_of_pool]), pool_of_pool)


@pytest.mark.parametrize("windows", [((3, 1), (5, 0)), ((3, 0), (4, 3)), ((3, 1), (3, 1))])
def test_pads_must_be_left_for_what_is_left_of_the_window(windows: tuple[tuple[int, int], ...]):
    assert not by_rule(derived(pools(*windows), [pool_of_pool]), pool_of_pool)


def dequantized(by: float, shift: float = 0.0) -> Graph:
    """Maxima of bytes less a number that are scaled."""
    b = Builder()
    x = b.op("Cast", b.input("x", "uint8", (1, 2, 6, 6)), to="float32") - shift
    window = {"kernel_shape": (3, 3), "strides": (2, 2), "pads": (1,) * 4, "dilations": (1, 1), "channels_last": 0}
    return b.graph([("y", b.op("MaxPool", x * by, **window))])


@pytest.mark.parametrize("shift", [0.0, 7.0])
def test_bytes_are_pooled_as_bytes(shift: float):
    (pool,) = [p for p in by_rule(derived(dequantized(0.5, shift), [pool_of_bytes]), pool_of_bytes) if p.spec.is_pool]
    assert pool.output.dtype == "uint8"


@pytest.mark.parametrize("by", [-0.5, 0.0, float("inf"), float("nan")])
def test_but_not_where_an_order_is_lost(by: float):
    """A negative scale turns it around; zero times infinity is no number."""
    graph = dequantized(by)
    assert not pool_of_bytes(Space(graph), graph.primitives[-1])
