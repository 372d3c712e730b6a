"""Seeded inputs for programs: what timing and verification run on."""

from __future__ import annotations

import numpy as np

from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.ir.tensor import Tensor
from korch.profile.inputs import indexed_length, opaque_length


def random_feeds(graph: Graph, seed: int = 0) -> dict[str, Array]:
    """One array an input: floats from N(0, 1), booleans at even odds, integers 0 or 1, which are legal as indices too
    but of an axis of length 1."""
    rng = np.random.default_rng(seed)
    return {t.name: _array(t, graph, rng) for t in graph.inputs}


def _array(t: Tensor, graph: Graph, rng: np.random.Generator) -> Array:
    if np.dtype(t.dtype).kind == "f":
        return rng.standard_normal(t.shape, dtype=np.float32).astype(t.dtype)
    short = np.dtype(t.dtype).kind != "b" and 1 in (indexed_length(t, graph), opaque_length(t, graph))
    return rng.integers(0, 1 if short else 2, t.shape).astype(t.dtype)
