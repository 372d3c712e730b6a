"""What an alternative gains is what the whole selection costs less with it."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import pytest

from korch.ir import Graph, Primitive, Tensor
from korch.ir.graph import select
from korch.rewrite.cost import estimate
from korch.rewrite.extract import Selection, alternatives, cheapest, cones_below
from korch.rewrite.saturate import all_algebra, saturated

from .nets import biased, conv, enlarged, graph_of, head, linear, repeated
from .test_products import softmax

GRAPHS = {
    "head": lambda: graph_of(head, (1, 4, 16, 16), (1, 6, 8, 8), (1, 8, 4, 4)),
    "shared": lambda: graph_of(lambda b, x: conv(b, conv(b, x, 4), 4) + enlarged(b, conv(b, x, 4), 1), (1, 3, 4, 4)),
    "softmax": lambda: graph_of(lambda b, x, v: softmax(b, x) @ v, (2, 8, 6), (2, 6, 3)),
    "image": lambda: graph_of(lambda b, x: conv(b, biased(b, conv(b, repeated(b, x), 8, 3, 1)), 2), (1, 3, 8, 8)),
    "linears": lambda: graph_of(lambda b, x: linear(b, linear(b, linear(b, x, 9), 7), 2), (1, 6, 5)),
}


@pytest.fixture(params=GRAPHS)
def plain(request: pytest.FixtureRequest) -> Graph:
    return GRAPHS[request.param]()


def cost_of(graph: Graph, chosen: Mapping[Tensor, Primitive]) -> float:
    return sum(map(estimate, select(graph, chosen)))


def test_gains_are_differences_of_whole_selections(plain: Graph):
    full = saturated(plain, all_algebra())
    chosen = {t: ps[0] for t, ps in plain.producers.items()}
    found = alternatives(full, plain, estimate)
    assert found
    for a in found:
        after = cost_of(plain, {**chosen, **a.inner, a.root.output: a.root})
        assert a.gain == cost_of(plain, chosen) - after


def test_asking_for_a_gain_changes_nothing(plain: Graph):
    selection = Selection(plain, estimate)
    before = +selection.readers
    for root, inner in cones_below(saturated(plain, all_algebra()), plain, estimate):
        selection.gain(root, inner)
        assert +selection.readers == before


def test_the_cheapest_is_no_dearer_than_any_single_alternative(plain: Graph):
    full = saturated(plain, all_algebra())
    written = cost_of(plain, {t: ps[0] for t, ps in plain.producers.items()})
    best = sum(map(estimate, cheapest(full, plain, estimate).primitives))
    assert best <= written - max(0, max(a.gain for a in alternatives(full, plain, estimate)))


def test_a_producer_that_needs_its_own_output_gains_nothing():
    plain = graph_of(lambda b, x: b.op("Relu", b.op("Abs", x)), (2, 3))
    inner, outer = plain.primitives
    circular = Primitive("Neg", (outer.output,), inner.output)
    assert Selection(plain, estimate).gain(circular, {}) == -inf
    assert not alternatives(plain.add([circular]), plain, estimate)
