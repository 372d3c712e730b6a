"""Tensors at which no kernel should begin or end: wide values on the way from or to a narrower form.

A quantized model rounds, clips and casts between all operators, in ten elementwise primitives each. A kernel that ends
in the middle of such a chain writes floats where the chain's narrow end has bytes, and saves nothing: whoever computes
the middle can compute the end, and whoever reads the middle can read the narrow begin. So these tensors pass only
through kernels. (A quantized mobilenet has 37,000 cones with such cuts, 7,500 without.)

Weights that are widened for one product are such tensors too: a kernel that stores them writes each time what folding
would have written once.
"""

from __future__ import annotations

from korch.ir.graph import Graph
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor


def passing(graph: Graph) -> frozenset[Tensor]:
    """Those tensors: made by elementwise primitives, read by maps that all make one tensor, which is no larger; and
    narrower where the chain of them ends, or where it begins. And those of constants."""
    following = {t: after for t in graph.producers if (after := _following(graph, t))}
    chains = frozenset(t for t in following if _ends_narrower(t, following) or _begins_narrower(t, graph))
    return chains | _of_constants(graph)


def _of_constants(graph: Graph) -> frozenset[Tensor]:
    """Those that follow from constants alone."""
    found = dict[Tensor, None]()
    before = -1
    while before != len(found):
        before = len(found)
        for t, makers in graph.producers.items():
            if any(all(i.const or i in found for i in p.inputs) for p in makers):
                found[t] = None
    return frozenset(found).difference(graph.outputs)


def _following(graph: Graph, t: Tensor) -> Tensor | None:
    """The one tensor that all readers of `t` make as maps of it; None where `t` is more than a step of a chain."""
    if t in graph.outputs or any(p.category is not Category.ELEMENTWISE for p in graph.producers[t]):
        return None
    readers = graph.consumers.get(t, ())
    made = {p.output for p in readers}
    if len(made) != 1 or any(_source(p) != t for p in readers):
        return None
    (after,) = made
    return after if after.nbytes <= t.nbytes else None


def _source(p: Primitive) -> Tensor | None:
    """What `p` maps element by element; None where it reads more than that."""
    given = {t for t in p.inputs if not t.const}
    if p.category is not Category.ELEMENTWISE or len(given) != 1:
        return None
    (x,) = given
    return x if x.shape == p.output.shape else None


def _ends_narrower(t: Tensor, following: dict[Tensor, Tensor]) -> bool:
    end = t
    while end in following:
        end = following[end]
    return end.nbytes < t.nbytes


def _begins_narrower(t: Tensor, graph: Graph) -> bool:
    seen, begin = set[Tensor](), t
    while begin not in seen:
        seen.add(begin)
        sources = {_source(p) for p in graph.producers.get(begin, ())}
        source = sources.pop() if len(sources) == 1 else None
        if source is None:
            return False
        if source.nbytes < t.nbytes:
            return True
        begin = source
    return False
