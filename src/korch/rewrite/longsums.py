"""A product with few results and long sums, piece by piece: partial products of some steps each, and their sum.

The pieces are as many tasks as there are pieces, whatever the number of threads, and are added in one order. Each takes
all matrices of a batch: where those lie side by side in memory, as heads of attention do, a piece of all of them is
contiguous. Linear attention multiplies keys and values in this way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from korch.ir.graph import Graph
from korch.ir.ops.table import Shape
from korch.ir.primitive import REASSOCIATED, Primitive, freeze
from korch.ir.tensor import Tensor
from korch.rewrite.table import rewrite

LONG = 2048
"""Steps of a sum from which on it is worth several tasks."""
PIECE = (64, 256)
"""Steps of a piece, at least and at most."""
LANES = 16
"""What the columns of a result should be a multiple of."""


@rewrite(stage=2, error=REASSOCIATED)
def long_sums_in_pieces(graph: Graph) -> Graph:
    """Adds the producer to every product of two computed operands whose sums are long and whose results are few."""
    added: list[Primitive] = []
    for p in graph.primitives:
        steps = _piece(p)
        if steps:
            added += _in_pieces(p, steps, f"{p.output.name}_{len(added)}")
    return graph.add(added)


def _piece(p: Primitive) -> int:
    """Steps of a piece; 0 where the sums are not worth it."""
    if p.op != "MatMul" or any(t.const for t in p.inputs):
        return 0
    a, b = p.inputs
    rows, steps, columns = a.shape[-2:] + b.shape[-1:] if a.rank == b.rank > 1 else (0, 0, 0)
    if steps < LONG or a.shape[:-2] != b.shape[:-2]:
        return 0
    each = max((d for d in range(PIECE[0], PIECE[1] + 1) if steps % d == 0), default=0)
    return each if 4 * rows * columns <= each * (rows + columns) else 0


def _in_pieces(p: Primitive, each: int, stem: str) -> list[Primitive]:
    """The chain that ends in p's output, which is what has no name. Rows that fill vectors become columns where the
    columns do not."""
    a, b = p.inputs
    swapped = bool(b.shape[-1] % LANES) and a.shape[-2] % LANES == 0
    chain: list[Primitive] = []

    def new(name: str, op: str, inputs: tuple[Tensor, ...], shape: Shape, attrs: Mapping[str, Any]) -> Tensor:
        out = Tensor(f"{stem}_{name}", p.output.dtype, shape) if name else p.output
        chain.append(Primitive(op, inputs, out, freeze(dict(attrs)), REASSOCIATED, p.origin, "long_sums_in_pieces"))
        return out

    def cut(name: str, t: Tensor, axis: int, turned: bool) -> Tensor:
        """`t` with the pieces of `axis` as its first axis, its last two axes swapped if `turned`."""
        shape = (*t.shape[:axis], t.shape[axis] // each, each, *t.shape[axis + 1 :])
        wide = new(f"{name}_cut", "Reshape", (t,), shape, {"shape": shape})
        rest = [i for i in range(t.rank + 1) if i != axis]
        perm = (axis, *rest[:-2], *(reversed(rest[-2:]) if turned else rest[-2:]))
        return new(name, "Transpose", (wide,), tuple(shape[i] for i in perm), {"perm": perm})

    first, second = cut("a", a, a.rank - 1, swapped), cut("b", b, b.rank - 2, swapped)
    if swapped:
        first, second = second, first
    shape = (*first.shape[:-1], second.shape[-1])
    parts = new("parts", "MatMul", (first, second), shape, {})
    total = new("sum" if swapped else "", "ReduceSum", (parts,), shape[1:], {"axes": (0,), "keepdims": 0})
    if swapped:
        perm = (*range(a.rank - 2), a.rank - 1, a.rank - 2)
        new("", "Transpose", (total,), p.output.shape, {"perm": perm})
    return chain
