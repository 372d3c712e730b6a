"""Candidates without views at their ends, and without what computes much many times over."""

from __future__ import annotations

import numpy as np

from korch.candidates import enumerate_cones, trimmed
from korch.ir import Builder, Cone, Value


def ops(cone: Cone) -> tuple[str, ...]:
    return tuple(p.op for p in cone.primitives)


def test_views_stand_alone_or_in_between():
    b = Builder()
    x = b.op("Reshape", b.input("x", "float32", (4, 6)), shape=(1, 24))
    y = b.op("Relu", b.op("Transpose", b.op("Exp", x), perm=(1, 0)))
    z = b.op("Tanh", b.op("Reshape", y, shape=(2, 12)))
    graph = b.graph([("z", z)])
    cones = enumerate_cones(graph)
    kept = [ops(c) for c in trimmed(cones, graph.outputs)]
    assert ("Reshape",) in kept and ("Transpose",) in kept  # nothing moves: one axis has length 1
    assert ("Exp", "Transpose", "Relu", "Reshape", "Tanh") in kept
    assert not any(len(found) > 1 and {found[0], found[-1]} & {"Reshape", "Transpose"} for found in kept)
    assert len(kept) < len(cones) and {c.root for c in cones} == {c.root for c in trimmed(cones, graph.outputs)}


def test_what_moves_stays_and_what_several_read():
    b = Builder()
    x = b.input("x", "float32", (4, 6))
    turned = b.op("Transpose", b.op("Relu", x), perm=(1, 0))
    y = b.op("Concat", *(b.op("Reshape", v, shape=(24,)) for v in (b.op("Exp", turned), turned)), axis=0)
    graph = b.graph([("y", y)])
    kept = {tuple(sorted(ops(c))) for c in trimmed(enumerate_cones(graph), graph.outputs)}
    assert ("Relu", "Transpose") in kept and ("Concat", "Exp", "Reshape", "Reshape") in kept


def test_outputs_are_stored_by_whoever_computes_them():
    b = Builder()
    y = b.op("Reshape", b.op("Relu", b.input("x", "float32", (4, 6))), shape=(24,))
    graph = b.graph([("y", y)])
    assert ("Relu", "Reshape") in {ops(c) for c in trimmed(enumerate_cones(graph), graph.outputs)}


def enlarged(b: Builder, x: Value, axis: int, to: int) -> Value:
    """Bilinearly."""
    places, n = np.linspace(0, x.shape[axis] - 1, to), x.shape[axis]
    low = np.minimum(places.astype(int), n - 2)
    indices, weights = np.stack([low, low + 1], 1), np.stack([1 - (places - low), places - low], 1)
    return b.op(
        "Interpolate",
        x,
        axis=axis,
        taps=2,
        indices=tuple(indices.ravel().tolist()),
        weights=tuple(weights.ravel().tolist()),
    )


def test_what_is_resized_is_not_computed_for_every_tap():
    b = Builder()
    x = b.input("x", "float32", (1, 8, 8, 4))
    small = enlarged(b, enlarged(b, x, 1, 16), 2, 16) + b.input("y", "float32", (1, 16, 16, 4))
    y = enlarged(b, enlarged(b, small, 1, 64), 2, 64)
    graph = b.graph([("y", y)])
    kept = trimmed(enumerate_cones(graph), graph.outputs)
    assert max(sum(p.op == "Interpolate" for p in c.primitives) for c in kept) == 2
    assert any(c.root == y.tensor and set(c.leaves) == {small.tensor} for c in kept)
