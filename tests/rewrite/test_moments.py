"""Mean and variance in one pass: for every norm, never below zero, never under strict numerics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from korch.fission.normalization import (
    group_normalization,
    instance_normalization,
    layer_normalization,
    mean_variance_normalization,
)
from korch.ir import Builder, Graph, Value
from korch.ir.evaluate import evaluate_graph
from korch.ir.primitive import APPROXIMATE
from korch.rewrite import add_choices
from korch.rewrite.evidence import check
from korch.rewrite.moments import one_pass_variance, second_moment_less_square
from korch.rewrite.rule import Rule
from korch.rewrite.samples.moments import small_variances
from korch.rewrite.saturate import algebra, saturated

from .choices import assert_same_values, by_rule, derived
from .nets import graph_of, numbers

SHAPE = (2, 6, 340, 130)
ANYWHERE = Rule("anywhere", second_moment_less_square)


def parameter(b: Builder, n: int) -> Value:
    return b.constant(numbers(n))


NORMS: dict[str, Callable[[Builder, Value], Value]] = {
    "instance": lambda b, x: instance_normalization(b, x, parameter(b, 6), parameter(b, 6)),
    "group": lambda b, x: group_normalization(b, x, parameter(b, 6), parameter(b, 6), num_groups=3),
    "layer": lambda b, x: layer_normalization(b, x, parameter(b, 130), parameter(b, 130), axis=1)[0],
    "mean and variance": lambda b, x: mean_variance_normalization(b, x),
}


@pytest.mark.parametrize("norm", NORMS)
def test_every_norm_can_take_its_moments_in_one_pass(norm: str):
    plain = graph_of(NORMS[norm], SHAPE)
    graph = derived(plain, [one_pass_variance])
    (variance,) = (p for p in by_rule(graph, one_pass_variance) if p.op == "Relu")
    assert variance.output in plain.producers and variance.error == APPROXIMATE
    means = [p for p in graph.primitives if p.op == "ReduceMean"]
    x = means[0].inputs[0]
    assert len(means) == (5 if norm == "group" else 3) and any(
        p.op == "Mul" and p.inputs == (x, x) for p in graph.primitives
    )
    assert by_rule(algebra(plain), one_pass_variance)


def one_pass(norm: str) -> Graph:
    """The norm with nothing but the other variance."""
    full = derived(graph_of(NORMS[norm], SHAPE), [one_pass_variance])
    return replace(full, primitives=tuple(reversed(full.primitives))).plain()


@pytest.mark.parametrize("norm", NORMS)
def test_rounding_does_not_make_a_variance_negative(norm: str):
    graph = one_pass(norm)
    x = np.full(SHAPE, 1234.567, np.float32) + np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32) * 1e-4
    assert np.isfinite(evaluate_graph(graph, {"x0": x}, "float32")["y"]).all()


def test_on_what_is_centred_little_is_lost():
    x = np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32) + np.float32(1)
    got = evaluate_graph(one_pass("instance"), {"x0": x}, "float32")["y"]
    assert np.abs(got - evaluate_graph(one_pass("instance"), {"x0": x})["y"]).max() < 1e-5


@pytest.mark.parametrize("seed", range(5))
def test_but_for_the_bound_at_zero_it_is_proved(seed: int):
    finding = check(Rule("unclamped", second_moment_less_square), small_variances(Random(seed)), seed)
    assert finding.proves and finding.sound


def test_other_means_and_other_squares_are_none():
    def build(other: bool) -> Callable[[Builder, Value], Value]:
        def made(b: Builder, x: Value) -> Value:
            mean = b.op("ReduceMean", x, axes=(1, 3) if other else (2, 3), keepdims=1)
            centred = x - mean
            return b.op("ReduceMean", centred * (centred if other else x), axes=(2, 3), keepdims=1)

        return made

    for other in (True, False):
        plain = graph_of(build(other), SHAPE)
        assert derived(plain, [one_pass_variance]).primitives == plain.primitives


@pytest.mark.parametrize("dtype", ["float16", "int32"])
def test_half_precision_and_means_that_are_rounded_keep_two_passes(dtype: str):
    b = Builder()
    x = b.input("x", dtype, (2, 3, 4))
    centred = x - b.op("ReduceMean", x, axes=(1, 2), keepdims=1)
    plain = b.graph([("y", b.op("ReduceMean", centred * centred, axes=(1, 2), keepdims=1))])
    assert saturated(plain, [ANYWHERE]).primitives == plain.primitives


def test_where_little_is_saved_there_is_no_choice():
    plain = graph_of(NORMS["instance"], (1, 6, 56, 56))
    assert not by_rule(derived(plain, [one_pass_variance]), one_pass_variance)
    assert by_rule(derived(plain, [ANYWHERE]), ANYWHERE)


def test_never_under_strict_numerics():
    plain = graph_of(NORMS["instance"], SHAPE)
    assert any(p.rule == one_pass_variance.name for p in add_choices(plain).primitives)
    strict = add_choices(plain, approximate=False)
    assert not any(p.rule == one_pass_variance.name or p.error == APPROXIMATE for p in strict.primitives)
    assert_same_values(plain, add_choices(plain))
