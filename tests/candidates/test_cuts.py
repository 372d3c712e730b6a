"""Cones against Algorithm 1 of the paper, and what choices add."""

import random

import numpy as np
import pytest

from korch.candidates import Limits, enumerate_cones
from korch.candidates.algorithm1 import execution_states, key, single_output_cones
from korch.ir import Builder, Graph
from korch.rewrite.layouts import add_layouts

UNLIMITED = Limits(primitives=99, leaves=99, cuts=10**6)


def random_graph(seed: int, size: int = 7) -> Graph:
    """A random DAG of memory-intensive primitives."""
    rng = random.Random(seed)
    b = Builder()
    values = [b.input("x", "float32", (2, 6)), b.input("y", "float32", (2, 6))]
    for _ in range(size):
        match rng.randrange(4):
            case 0:
                values.append(b.op("Exp", rng.choice(values)))
            case 1:
                values.append(b.op("ReduceMax", rng.choice(values), axes=(1,), keepdims=1) * rng.choice(values))
            case _:
                values.append(rng.choice(values) + rng.choice(values))
    return b.graph([("out", values[-1])])


@pytest.mark.parametrize("seed", range(30))
def test_cones_cover_algorithm_1(seed: int):
    graph = random_graph(seed)
    ours = {key(graph, c) for c in enumerate_cones(graph, UNLIMITED)}
    assert single_output_cones(graph) <= ours


def test_execution_states_of_a_chain_and_of_parallel_primitives():
    b = Builder()
    x = b.input("x", "float32", (4,))
    y = b.op("Exp", b.op("Neg", b.op("Abs", x)))
    assert len(execution_states(b.graph([("y", y)]))) == 4
    b = Builder()
    x = b.input("x", "float32", (4,))
    y = b.op("Exp", x) + b.op("Abs", x)
    assert len(execution_states(b.graph([("y", y)]))) == 5


def test_a_cone_may_recompute_what_another_kernel_also_makes():
    b = Builder()
    x = b.input("x", "float32", (4, 8))
    e = b.op("Exp", x)
    y = e / b.op("ReduceSum", e, axes=(1,), keepdims=1)
    graph = b.graph([("y", y)])
    leaves = {frozenset(t.name for t in c.leaves) for c in enumerate_cones(graph) if c.root == y.tensor}
    inside = b.producer(y)
    assert inside is not None
    total = inside.inputs[1].name
    assert frozenset(("x", total)) in leaves  # exp twice: here and behind the sum


def test_one_linear_primitive_a_cone_with_views_before_and_elementwise_behind():
    b = Builder()
    x = b.input("x", "float32", (64, 64))
    w = b.constant(np.ones((64, 64), np.float32) * 0.5)
    y = b.op("Relu", b.op("Transpose", b.op("Relu", x) @ w, perm=(1, 0)) @ b.constant(np.ones((64, 65), np.float32)))
    cones = enumerate_cones(b.graph([("y", y)]))
    assert all(len(c.linear) <= 1 for c in cones)
    with_linear = [[p.op for p in c.primitives] for c in cones if c.linear]
    assert ["Transpose", "MatMul", "Relu"] in with_linear
    assert ["Relu", "MatMul"] not in with_linear


def test_whatever_maps_may_stand_around_a_product_that_moves_more_than_it_multiplies():
    b = Builder()
    x = b.op("Relu", b.input("x", "float32", (512, 24)))
    y = b.op("Slice", x @ b.input("w", "float32", (24, 9)), starts=(0, 0), steps=(1, 1), lengths=(512, 8))
    cones = enumerate_cones(b.graph([("y", b.op("Pad", y, pads=(1, 0, 0, 0), mode="constant", value=0.0))]))
    assert ["Relu", "MatMul", "Slice", "Pad"] in [[p.op for p in c.primitives] for c in cones]


def test_limits_hold_and_single_primitives_are_never_dropped():
    graph = random_graph(3, size=30)
    cones = enumerate_cones(graph, Limits(primitives=5, leaves=2, cuts=4))
    assert all(len(c.primitives) <= 5 and len([t for t in c.leaves if not t.const]) <= 2 for c in cones)
    assert {p.output for p in graph.primitives} == {c.root for c in cones}


def test_cuts_around_one_product_do_not_crowd_out_those_around_another():
    b = Builder()
    large, small = b.input("large", "float32", (64, 512)), b.input("small", "float32", (64, 8))
    side = small @ b.constant(np.ones((8, 64), np.float32))
    for op in ("Relu", "Neg", "Exp", "Abs", "Sqrt"):
        side = b.op(op, side)
    graph = b.graph([("y", large @ b.constant(np.ones((512, 64), np.float32)) + side)])
    (y,) = graph.outputs
    found = {
        frozenset(p.inputs[0].name for p in c.linear) for c in enumerate_cones(graph, Limits(cuts=4)) if c.root == y
    }
    assert found == {frozenset(), frozenset(["small"]), frozenset(["large"])}


def test_a_cone_never_goes_through_a_twin_and_back():
    b = Builder()
    x = b.input("x", "float32", (1, 4, 8, 8))
    w = b.constant(np.ones((4, 4, 3, 3), np.float32))
    window = dict(strides=(1, 1), pads=(1, 1, 1, 1), dilations=(1, 1), group=1, channels_last=0)
    y = b.op("Relu", b.op("Conv", b.op("Exp", x), w, **window))
    graph = add_layouts(b.graph([("y", y)]))
    for cone in enumerate_cones(graph):
        held = [graph.value_of(p.output) for p in cone.primitives if not graph.only_moves(p)]
        moved = [p for p in cone.primitives if graph.only_moves(p)]
        assert len(held) == len(set(held))
        assert all(t not in {p.output for p in cone.primitives} for t in cone.leaves)
        assert len(moved) <= len(held) + 1


def test_many_inputs_are_merged_one_after_another():
    b = Builder()
    xs = [b.op("Relu", b.op("Neg", b.input(f"x{i}", "float32", (8, 4)))) for i in range(20)]
    y = b.op("Concat", *xs, axis=1)
    cones = [c for c in enumerate_cones(b.graph([("y", y)])) if c.root == y.tensor]
    assert {x.tensor for x in xs} in [set(c.leaves) for c in cones]  # more leaves than other cones may have
    assert max(len(c.primitives) for c in cones) == Limits().primitives
    assert len(cones) == Limits().cuts
