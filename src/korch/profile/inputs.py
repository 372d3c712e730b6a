"""Random leaves for a cone: the same ones every time, cheap for big tensors, mild enough to compute with."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np

from korch.ir.cone import Cone
from korch.ir.graph import Graph
from korch.ir.indices import indexed
from korch.ir.ops.opaque import opaque_operator
from korch.ir.ops.table import Array, Category
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor

BLOCK = 65_521  # values drawn; prime, so that no axis of a tensor repeats in step with it

Draw = Callable[[np.random.Generator, int], Array]

DRAWS: tuple[Draw, ...] = (
    lambda rng, n: rng.standard_normal(n),
    lambda rng, n: np.abs(rng.standard_normal(n)) + 0.5,  # for logarithms, roots, powers
    lambda rng, n: rng.uniform(0.05, 0.95, n),  # for arcs
    lambda rng, n: np.abs(rng.standard_normal(n)) + 1.0,
)
"""Ways to draw floats, tried in this order until the reference is finite."""


def fill_leaf(out: Array, cone: Cone, index: int, draw: Draw = DRAWS[0]) -> None:
    """Writes values for `cone.leaves[index]` into `out`, which has its shape and dtype."""
    leaf = cone.leaves[index]
    if leaf.value is not None:
        out[...] = leaf.value
        return
    rng = np.random.default_rng([index, len(cone.leaves)])
    _tile(out, _block(leaf, cone, rng, min(out.size, BLOCK), draw))


def leaf_arrays(cone: Cone, draw: Draw = DRAWS[0]) -> list[Array]:
    """New arrays for all leaves of the cone."""
    arrays = [np.empty(t.shape, t.dtype) for t in cone.leaves]
    for i, array in enumerate(arrays):
        fill_leaf(array, cone, i, draw)
    return arrays


def _tile(out: Array, block: Array) -> None:
    flat = out.reshape(-1)
    for at in range(0, flat.size, BLOCK):
        part = flat[at : at + BLOCK]
        part[...] = block[: part.size]


def _block(leaf: Tensor, cone: Cone, rng: np.random.Generator, n: int, draw: Draw) -> Array:
    kind = np.dtype(leaf.dtype).kind
    if kind == "f":
        return (draw(rng, n) * _scale(leaf, cone)).astype(leaf.dtype)
    if kind == "b":
        return rng.integers(0, 2, n).astype(bool)
    if length := indexed_length(leaf, cone):
        return _indices(leaf.dtype, length, rng, n)
    if length := opaque_length(leaf, cone):
        return rng.integers(0, length, n).astype(leaf.dtype)  # these pass as indices of almost anything
    if any((p.spec.adds_integers or p.spec.unpacks) and leaf in p.inputs for p in cone.primitives):
        limits = np.iinfo(leaf.dtype)
        return rng.integers(limits.min, limits.max, n, leaf.dtype, endpoint=True)
    magnitude = rng.integers(1, 8, n)  # no zeros: integers get divided by
    sign = rng.choice([-1, 1], n) if kind == "i" else 1
    return (magnitude * sign).astype(leaf.dtype)


def _scale(leaf: Tensor, cone: Cone) -> float:
    """Second operands of linear primitives are scaled so that the result is about as large as the first, and those of
    recurrences so that states do not become chaotic."""
    weighed = [p for p in cone.primitives if p.intensive or p.spec.recurs]
    lengths = [p.spec.terms(p) for p in weighed if len(p.inputs) > 1 and p.inputs[1] == leaf]
    return 1 / math.sqrt(max(lengths, default=1))


def _passes(p: Primitive) -> bool:
    """Whether `p` leaves an index the number that it is."""
    return p.spec.casts or (p.category in (Category.LAYOUT, Category.BROADCAST) and not p.spec.pads)


def indexed_length(leaf: Tensor, cone: Cone | Graph) -> int:
    """The length of the shortest axis that values of `leaf`, of a cone or an input of a graph, index; 0 where they are
    no indices."""
    passed = {leaf}
    lengths: list[int] = []
    for p in cone.primitives:
        given = indexed(p)
        if given and given[0] in passed:
            lengths.append(given[1])
        if _passes(p) and not passed.isdisjoint(p.inputs[:1] if p.spec.takes else p.inputs):
            passed.add(p.output)
    return min(lengths, default=0)


CODES = re.compile(r"QLinear|Integer$|QuantizeLinear$|Bit|Resize$|Cum|Conv|MatMul|QGemm")
"""Operators without a rule whose integers are numbers. Those of others may be indices: of anything, the batch too."""


def opaque_length(leaf: Tensor, cone: Cone | Graph) -> int:
    """How many values, from 0 on, `leaf` may have for the opaque primitives that read it: 2, or 1 where they index axes
    of which one may be as short; 0 where none reads it."""
    passed, lengths = {leaf}, list[int]()
    for p in cone.primitives:
        if p.category is Category.OPAQUE and not passed.isdisjoint(p.inputs):
            others = [n for t in p.inputs if t not in passed for n in t.shape if n]
            counts = p.spec.recurs or CODES.search(opaque_operator(p))
            lengths.append(2 if counts else min([2, *others]))
        elif _passes(p) and not passed.isdisjoint(p.inputs):
            passed.add(p.output)
    return min(lengths, default=0)


def _indices(dtype: str, length: int, rng: np.random.Generator, n: int) -> Array:
    """Valid ones, from the front and from the back."""
    limits = np.iinfo(dtype)
    return rng.integers(max(-length, limits.min), min(length - 1, limits.max), n, endpoint=True).astype(dtype)
