"""The rules together: they compose, end, do not depend on their order, and stay right under layouts."""

from __future__ import annotations

from dataclasses import replace
from graphlib import TopologicalSorter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from korch.ir import Builder, Graph, Tensor, Value
from korch.ir.primitive import Primitive
from korch.rewrite import add_choices
from korch.rewrite.compose import map_after_shift
from korch.rewrite.rule import Rule
from korch.rewrite.saturate import algebra, all_algebra, kept, saturated
from korch.rewrite.space import Space

from .choices import assert_same_values, by_rule, derived, differing, fewest, multiply_adds
from .nets import biased, conv, enlarged, graph_of, head, image, linear, repeated, scaled, tokens

LEVELS = [(1, 4, 16, 16), (1, 6, 8, 8), (1, 8, 4, 4)]


def test_a_head_of_levels_becomes_a_small_linear_a_level():
    plain = graph_of(head, *LEVELS)
    best = fewest(plain)
    assert multiply_adds(plain) == 16 * (4 * 256 + 6 * 64 + 8 * 16) + 256 * 48 * 16
    assert multiply_adds(best) == 16 * (4 * 256 + 6 * 64 + 8 * 16)
    assert not any(p.op == "Concat" for p in best.primitives)
    assert_same_values(plain, replace(best, primitives=(*plain.primitives, *best.primitives)))


def test_nothing_more_is_found_in_what_was_found():
    rules = [r for r in all_algebra() if not r.pays]  # those that pay look at the model as it was written
    graph = saturated(graph_of(head, *LEVELS), rules)
    assert len(saturated(graph, rules).primitives) == len(graph.primitives)


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_rules_does_not_matter(seed: int):
    rules = list(all_algebra())
    plain = graph_of(head, *LEVELS)
    np.random.default_rng(seed).shuffle(rules)  # type: ignore[arg-type]
    one, other = saturated(plain, all_algebra()), saturated(plain, rules)
    assert len(one.primitives) == len(other.primitives)
    assert _multiset(kept(plain, one)) == _multiset(kept(plain, other))


def _multiset(graph: Graph) -> list[str]:
    """The primitives without the names of tensors."""
    return sorted(f"{p.op} {[t.shape for t in p.inputs]} {p.output.shape} {p.attrs}" for p in graph.primitives)


def test_the_bound_holds():
    plain = graph_of(head, *LEVELS)
    assert (
        len(saturated(plain, all_algebra(), limit=5).primitives) <= len(plain.primitives) + 5 + 8
    )  # a rule ends first


def test_a_graph_without_linear_primitives_stays_as_it_is():
    plain = graph_of(lambda b, x: b.op("Relu", x), (2, 3))
    assert algebra(plain).primitives == plain.primitives


def test_choices_are_acyclic_without_layouts():
    reads: dict[Tensor, set[Tensor]] = {}
    for p in algebra(graph_of(head, *LEVELS)).primitives:
        reads.setdefault(p.output, set()).update(p.inputs)
    TopologicalSorter(reads).prepare()  # or it raises CycleError


def test_what_would_make_each_other_is_not_kept_together():
    """u of v and v of u, each through a new tensor: the one that comes first."""
    b = Builder()
    x = b.input("x", "float32", (64, 64))
    plain = b.graph([("u", linear(b, x, 64)), ("v", linear(b, x, 64, seed=1))])
    (u, v), (s, t) = plain.outputs, (Tensor(name, "float32", (64, 64)) for name in "st")
    steps = [("Exp", v, s), ("Log", s, u), ("Sin", u, t), ("Asin", t, v)]
    graph = kept(plain, plain.add(Primitive(op, (x,), y, ()) for op, x, y in steps))
    assert [p.op for p in graph.primitives] == ["MatMul", "MatMul", "Exp", "Log"]


def test_layouts_of_alternatives_are_right():
    plain = graph_of(head, *LEVELS)
    graph = add_choices(plain)
    assert_same_values(plain, graph)
    assert any(p.output in graph.twins and p.op == "Interpolate" for p in graph.primitives)


# Random networks -----------------------------------------------------------------------------------------------

STEPS = {
    "conv": lambda b, x: conv(b, x, 4, seed=len(b.primitives)),
    "conv3": lambda b, x: conv(b, x, 3, k=3, pad=1, seed=len(b.primitives)),
    "valid": lambda b, x: conv(b, x, 2, k=2, seed=len(b.primitives)),
    "bias": lambda b, x: biased(b, x, seed=len(b.primitives)),
    "scale": lambda b, x: scaled(b, x, seed=len(b.primitives)),
    "half": lambda b, x: x * 0.5,
    "relu": lambda b, x: b.op("Relu", x),
    "tokens": lambda b, x: image(b, biased(b, linear(b, tokens(b, x), 5, seed=len(b.primitives))), x.shape[2]),
    "concat": lambda b, x: b.op("Concat", conv(b, x, 2, seed=9), x, conv(b, x, 3, seed=8), axis=1),
    "rows": lambda b, x: b.op("Concat", x, conv(b, x, x.shape[1]), axis=2),
    "enlarge": lambda b, x: enlarged(b, x, 2),
    "repeat": repeated,
    "repeat3": lambda b, x: conv(b, repeated(b, x), 3, k=3, pad=1),
    "edge": lambda b, x: b.op("Pad", x, pads=(0, 0, 1, 0, 0, 0, 0, 1), mode="edge", value=0.0),
    "zeros": lambda b, x: b.op("Pad", x, pads=(0, 0, 0, 1, 0, 0, 1, 0), mode="constant", value=0.0),
    "ones": lambda b, x: b.op("Pad", x, pads=(0, 0, 0, 1, 0, 0, 1, 0), mode="constant", value=1.0),
    "mean": lambda b, x: x - b.op("ReduceMean", x, axes=(2, 3), keepdims=1),
    "pool": lambda b, x: b.op(
        "AveragePool",
        x,
        kernel_shape=(2, 2),
        strides=(2, 2),
        pads=(0, 0, 1, 1),
        dilations=(1, 1),
        channels_last=0,
        count_include_pad=0,
    ),
    "residual": lambda b, x: x + conv(b, x, x.shape[1], seed=3),
}


def network(steps: list[str]) -> Graph:
    def build(b: Builder, x: Value) -> Value:
        for name in steps:
            if x.tensor.size < 4000 and min(x.shape[2:]) > 1:
                x = STEPS[name](b, x)
        return x

    return graph_of(build, (2, 3, 4, 5))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=2, max_size=6))
def test_all_producers_compute_the_same(steps: list[str]):
    derived(network(steps))


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=2, max_size=6))
def test_all_producers_compute_the_same_in_all_layouts(steps: list[str]):
    plain = network(steps)
    assert_same_values(plain, add_choices(plain))


# Wrong rules are caught ----------------------------------------------------------------------------------------


def forgets_the_bias(s: Space, p: Primitive):
    """W (x + v) = W x."""
    return [next(iter(s.producers(t))).inputs[0] for t in map_after_shift(s, p)]


def test_a_wrong_rule_is_caught():
    plain = graph_of(lambda b, x: conv(b, biased(b, x), 4), (1, 3, 4, 4))
    wrong = Rule("forgets_the_bias", forgets_the_bias)
    right = saturated(plain, [map_after_shift])
    assert by_rule(right, map_after_shift) and not differing(plain, right)
    assert differing(plain, saturated(plain, [wrong]))
