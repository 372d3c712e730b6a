"""Kernels with several outputs: cones that store an interior tensor too (the paper's future work).

A residual sum that is normalised and added to again, or an image that is padded for a convolution and needed as it is:
whoever computes the one has the other at hand, and a pass over it is saved. Such kernels can wait for each other
(`solve/cycles.py`).

They are not on offer by default. With one or more a root, the plans of five networks used 1 to 11 of them and were no
cheaper, as what would be read again lies in a cache; but the frontier search, which proves large models, takes single
outputs only, and without it a segmentation transformer ended with a gap of 0.05 to 1.1% instead of none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from korch.ir.cone import Cone
from korch.ir.graph import Graph
from korch.ir.ops.table import Category
from korch.ir.tensor import Tensor

MOVES = (Category.LAYOUT, Category.BROADCAST)


def exporting_cones(graph: Graph, cones: Iterable[Cone], least: int, most: int) -> list[Cone]:
    """Those of `cones` that can store a tensor of at least `least` bytes besides their root, each with one such.

    For each root there are `most`, those whose export has most readers first, then those that read least.
    """
    found: dict[Tensor, list[tuple[tuple[int, ...], Cone]]] = defaultdict(list)
    for cone in cones:
        if not cone.linear:
            found[cone.root] += [((-readers, *_traffic(cone)), cone.exporting(t))
                                 for t, readers in _wanted(graph, cone, least)]  # fmt: skip
    return [cone for some in found.values() for _, cone in sorted(some, key=lambda pair: pair[0])[:most]]


def _wanted(graph: Graph, cone: Cone, least: int) -> Iterator[tuple[Tensor, int]]:
    """Interior tensors that are computed here, not just moved, and how many other values are made of them."""
    values = {graph.value_of(p.output) for p in cone.primitives}
    for p in cone.primitives[:-1]:
        if p.category not in MOVES and p.output.nbytes >= least:
            others = {graph.value_of(q.output) for q in graph.consumers.get(p.output, ())} - values
            if readers := len(others) + graph.outputs.count(p.output):
                yield p.output, readers


def _traffic(cone: Cone) -> tuple[int, int]:
    """Bytes read, then work repeated."""
    return sum(t.nbytes for t in cone.leaves if not t.const), len(cone.primitives)
