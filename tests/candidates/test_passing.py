"""Wide tensors on the way from or to bytes pass through kernels; everything else stays an end of some."""

from __future__ import annotations

import numpy as np

from korch.candidates import enumerate_cones
from korch.candidates.passing import passing
from korch.ir import Builder, Graph
from korch.ir.builder import Value


def codes(x: Value) -> Value:
    wide = x.builder.op("Round", x / 0.05) + 3.0
    return x.builder.op("Cast", x.builder.op("Min", x.builder.op("Max", wide, 0.0), 255.0), to="uint8")


def floats(q: Value) -> Value:
    return (q.builder.op("Cast", q, to="float32") - 3.0) * 0.05


def quantized() -> Graph:
    """A product between bytes, two of whose results are added."""
    b = Builder()
    x = floats(b.input("x", "uint8", (4, 8)))
    w = b.constant(np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32))
    first = floats(codes(b.op("Relu", x @ w)))
    return b.graph([("y", codes(first + floats(codes(first @ w))))])


def ends(graph: Graph) -> set[str]:
    """The operators whose results kernels of several primitives begin or end with."""
    several = [c for c in enumerate_cones(graph) if len(c.primitives) > 1]
    producers = {t: ps[0].op for t, ps in graph.producers.items()}
    return {producers[t] for c in several for t in (c.root, *c.leaves) if t in producers}


def test_kernels_begin_and_end_with_bytes_and_with_what_products_read():
    graph = quantized()
    inner = passing(graph)
    passed = {p.op for p in graph.primitives if p.output in inner}
    assert passed == {"Relu", "Div", "Round", "Add", "Sub", "Max", "Min", "Cast"}
    assert ends(graph) == {"Mul", "MatMul", "Cast"}


def test_every_primitive_can_run_alone():
    graph = quantized()
    alone = {c.primitives[0] for c in enumerate_cones(graph) if len(c.primitives) == 1}
    assert alone == set(graph.primitives)


def test_what_has_other_readers_or_leaves_the_model_does_not_pass():
    b = Builder()
    x = b.input("x", "float32", (4, 8))
    scaled = x * 2.0
    rounded = b.op("Round", scaled)
    y = b.op("Cast", rounded + 1.0, to="uint8")
    assert passing(b.graph([("y", y)])) == {scaled.tensor, rounded.tensor, b.made[y.tensor].inputs[0]}
    assert scaled.tensor not in passing(b.graph([("y", y), ("s", scaled)]))
    assert scaled.tensor not in passing(b.graph([("y", y), ("s", b.op("ReduceSum", scaled, axes=(1,), keepdims=0))]))


def test_chains_of_one_width_are_cut_anywhere():
    b = Builder()
    x = b.input("x", "float32", (4, 8))
    assert passing(b.graph([("y", b.op("Exp", b.op("Relu", x) + 1.0))])) == set()
