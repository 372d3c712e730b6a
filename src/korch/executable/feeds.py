"""Seeded inputs for programs: what timing and verification run on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from korch.executable.ports import Port
from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.ir.tensor import Tensor
from korch.profile.inputs import indexed_length, opaque_length

OTHERS = ((1, 1.0), (2, 1.0), (0, 0.1), (0, 10.0), (0, 100.0))
"""Seeds and scales of inputs for models that are ill-conditioned on the usual ones."""


def random_feeds(graph: Graph, seed: int = 0, scale: float = 1.0) -> dict[str, Array]:
    """One array an input: floats from N(0, scale^2), booleans at even odds, integers from 0 to below `count_of`."""
    rng = np.random.default_rng(seed)
    return {t.name: _array(t, graph, rng, scale) for t in graph.inputs}


def other_feeds(graph: Graph) -> Iterator[dict[str, Array]]:
    """Feeds of other seeds and scales, for models that are ill-conditioned on the usual ones."""
    return (random_feeds(graph, seed, scale) for seed, scale in OTHERS)


def port_feeds(ports: Iterable[Port], seed: int = 0) -> dict[str, Array]:
    """One array for each port: floats from N(0, 1), whole numbers and booleans 0 or 1."""
    rng = np.random.default_rng(seed)
    return {
        p.name: rng.standard_normal(p.shape).astype(p.dtype)
        if np.dtype(p.dtype).kind == "f"
        else rng.integers(0, 2, p.shape).astype(p.dtype)
        for p in ports
    }


def count_of(t: Tensor, graph: Graph) -> int:
    """How many integers the input `t` may hold, from 0 on: all places of the shortest axis that they index, as rows of
    a table or edges of a graph are read from anywhere; all that its dtype has for bytes that are multiplied; of other
    numbers 2, or 1 where nobody knows what they index."""
    if np.dtype(t.dtype).kind == "b":
        return 2
    if any(p.spec.adds_integers and t in p.inputs for p in graph.primitives):
        return np.iinfo(t.dtype).max + 1
    indexed, unknown = indexed_length(t, graph), opaque_length(t, graph)
    return min(indexed or unknown, unknown) if unknown else indexed or 2


def _array(t: Tensor, graph: Graph, rng: np.random.Generator, scale: float) -> Array:
    if np.dtype(t.dtype).kind == "f":
        return (rng.standard_normal(t.shape, dtype=np.float32) * np.float32(scale)).astype(t.dtype)
    return rng.integers(0, count_of(t, graph), t.shape).astype(t.dtype)
