"""Chains of cones with one linear primitive each."""

from __future__ import annotations

import numpy as np
import pytest

from korch.candidates import Limits, enumerate_cones
from korch.ir import Builder, Cone, Graph, Value
from korch.ir.tensor import Tensor
from korch.rewrite import add_choices


def product(x: Value, width: int) -> Value:
    return x @ x.builder.constant(np.ones((x.shape[-1], width), np.float32))


def chains(graph: Graph, least: int = 1 << 10) -> list[Cone]:
    return [c for c in enumerate_cones(graph, Limits(chain=least)) if len(c.linear) > 1]


def test_three_links_and_every_two_of_them():
    b = Builder()
    y = product(b.op("Relu", product(b.op("Relu", product(b.input("x", "float32", (64, 8)), 32)), 32)), 8)
    found = chains(b.graph([("y", y)]))
    assert sorted(len(c.linear) for c in found) == [2, 2, 3]
    (whole,) = [c for c in found if len(c.linear) == 3]
    assert [t.name for t in whole.leaves if not t.const] == ["x"] and whole.root == y.tensor


def test_small_tensors_and_tensors_that_others_read_are_no_joints():
    b = Builder()
    hidden = b.op("Relu", product(b.input("x", "float32", (64, 8)), 32))
    graph = b.graph([("y", product(hidden, 8)), ("hidden", hidden)])
    assert not chains(graph)
    alone = Builder()
    y = product(alone.op("Relu", product(alone.input("x", "float32", (64, 8)), 32)), 8)
    assert not chains(alone.graph([("y", y)]), least=1 << 20) and chains(alone.graph([("y", y)]))


def test_a_softmax_stands_between_two_products():
    b = Builder()
    q, k, v = (b.input(n, "float32", s) for n, s in (("q", (128, 16)), ("k", (16, 64)), ("v", (64, 16))))
    s = q @ k
    e = b.op("Exp", s - b.op("ReduceMax", s, axes=(1,), keepdims=True))
    y = (e / b.op("ReduceSum", e, axes=(1,), keepdims=True)) @ v
    (chain,) = [c for c in chains(b.graph([("y", y)])) if len(c.leaves) == 3]
    assert [p.op for p in chain.linear] == ["MatMul", "MatMul"] and len(chain.primitives) == 7


def test_what_is_added_and_computed_from_less_may_be_computed_beside(monkeypatch: pytest.MonkeyPatch):
    """Also where what stands between the products reads too much to be among the few that chains are made of."""
    monkeypatch.setattr("korch.candidates.chains.WAYS", 1)
    b = Builder()
    x, *small = (b.input(name, "float32", shape) for name, shape in (("x", (64, 8)), ("s", (16, 32)), ("t", (8, 32))))
    one, two = (
        b.op(
            "Interpolate",
            t,
            axis=0,
            taps=1,
            weights=(1.0,) * 64,
            indices=tuple(i * t.shape[0] // 64 for i in range(64)),
        )
        for t in small
    )
    bias = b.constant(np.arange(32, dtype=np.float32))
    y = product(b.op("Relu", product(x, 32) + bias + (one + two)), 64)
    found = [c.leaves for c in chains(b.graph([("y", y)]))]
    assert [{t.name for t in leaves if not t.const} for leaves in found].count({"x", "s", "t"}) == 1


def test_winograd_is_one_chain():
    b = Builder()
    x = b.input("x", "float32", (1, 64, 16, 16))
    w = b.constant(np.ones((64, 64, 3, 3), np.float32))
    y = b.op("Conv", x, w, strides=(1, 1), dilations=(1, 1), pads=(1, 1, 1, 1), group=1, channels_last=0)
    graph = add_choices(b.graph([("y", b.op("Relu", y))]))
    ops = {tuple(p.op for p in c.linear) for c in chains(graph)}
    assert ("WinogradInput", "MatMul", "WinogradOutput") in ops


def test_strassen_is_one_chain():
    b = Builder()
    y = product(b.input("x", "float32", (64, 448)), 448)
    ops = {tuple(p.op for p in c.linear) for c in chains(add_choices(b.graph([("y", b.op("Relu", y))])))}
    assert ("StrassenInput", "MatMul", "StrassenOutput") in ops


def test_no_chain_computes_again_what_its_leaf_is_made_of():
    b = Builder()
    x = b.op("Relu", product(b.input("x", "float32", (64, 8)), 32))
    y = product(b.op("Relu", product(x, 32)), 32) + x
    for chain in chains(b.graph([("y", product(y, 8))])):
        made = {p.output for p in chain.linear}
        assert not any(_made_of(b, t) & made for t in chain.leaves), chain


def _made_of(b: Builder, t: Tensor) -> set[Tensor]:
    """All that `t` is computed from."""
    makers = {p.output: p for p in b.primitives}
    return {t}.union(*(_made_of(b, u) for u in makers[t].inputs)) if t in makers else set()


def keys_by_values(b: Builder, x: Value) -> Value:
    """relu(k)^T v, k and v halves of what a product makes of x."""
    y = product(x, 32)
    k, v = (b.op("Slice", y, starts=(0, i), steps=(1, 1), lengths=(y.shape[0], 16)) for i in (0, 16))
    return b.op("Transpose", b.op("Relu", k), perm=(1, 0)) @ v


def test_both_factors_of_a_product_are_made_of_one_tensor():
    """Also where one of them is computed on the way, which could not be the end of the kernel before."""
    b = Builder()
    y = keys_by_values(b, b.input("x", "float32", (64, 8)))
    found = [{t.name for t in c.leaves if not t.const} for c in chains(b.graph([("y", y)]))]
    assert {"x"} in found


def test_no_chain_reads_what_is_made_of_what_it_computes():
    """A row's sum, which another kernel would have to compute the rows for."""
    b = Builder()
    rows = b.op("Relu", product(b.input("x", "float32", (64, 8)), 32))
    y = product(rows / b.op("ReduceSum", rows, axes=(1,), keepdims=1), 8)
    found = chains(b.graph([("y", y)]))
    assert found and all([t.name for t in c.leaves if not t.const] == ["x"] for c in found)
