"""Kernels with several outputs: cones that store an interior tensor too (the paper's future work).

A residual sum that is normalised and added to again, or an image that is padded for a convolution and needed as it is:
whoever computes the one has the other at hand, and a pass over it is saved. Such kernels can wait for each other
(`orchestrate/cycles.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from korch.ir.cone import Cone
from korch.ir.graph import Graph
from korch.ir.ops.table import Category
from korch.ir.tensor import Tensor

EACH = 1
"""Cones for each pair of root and export, and exports for each root: two made proofs of large models several times as
long, for plans that were no cheaper."""
MOVES = (Category.LAYOUT, Category.BROADCAST)


def exporting_cones(graph: Graph, cones: Iterable[Cone], least: int) -> list[Cone]:
    """Those of `cones` that can store a tensor of at least `least` bytes besides their root, each with one such."""
    found: dict[Tensor, dict[Tensor, list[Cone]]] = defaultdict(lambda: defaultdict(list))
    for cone in cones:
        if not cone.linear:
            for t in _wanted(graph, cone, least):
                found[cone.root][t].append(cone)
    return [cone.exporting(t) for by_export in found.values()
            for t in sorted(by_export, key=lambda t: -t.nbytes)[:EACH]
            for cone in sorted(by_export[t], key=_traffic)[:EACH]]  # fmt: skip


def _wanted(graph: Graph, cone: Cone, least: int) -> list[Tensor]:
    """Interior tensors that are computed here, not just moved, and that something else reads."""
    values = {graph.value_of(p.output) for p in cone.primitives}
    return [
        p.output for p in cone.primitives[:-1]
        if p.category not in MOVES and p.output.nbytes >= least and _read_elsewhere(graph, p.output, values)
    ]  # fmt: skip


def _read_elsewhere(graph: Graph, t: Tensor, values: set[Tensor]) -> bool:
    others = (graph.value_of(q.output) for q in graph.consumers.get(t, ()))
    return t in graph.outputs or any(v not in values for v in others)


def _traffic(cone: Cone) -> tuple[int, int]:
    return sum(t.nbytes for t in cone.leaves if not t.const), len(cone.primitives)
