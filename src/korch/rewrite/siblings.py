"""Linear primitives that share an input merge: one with all their weights, and a slice of it for each."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from korch.ir.macs import multiply_adds
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.maps import is_dense
from korch.rewrite.rule import algebra
from korch.rewrite.space import Space

SMALL = 1 << 24
"""Multiply-adds up to which a kernel's start and the reading of its input weigh as much as its arithmetic."""
MOST = 8


@algebra(pays=True)
def merged_siblings(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """W_i x = rows i of (concat(W_i) x)."""
    group = _siblings(s, p)
    if len(group) > 1 and not all(_bias(s, q) for q in group):
        yield _part(s, _merged(s, group), group, p)


@algebra(pays=True)
def merged_biased_siblings(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """W_i x + b_i = rows i of (concat(W_i) x + concat(b_i))."""
    for q in s.producers(p.inputs[0]) if p.op == "Add" else ():
        group = _siblings(s, q)
        biases = [b for b in (_bias(s, r) for r in group) if b]
        if len(group) > 1 and len(biases) == len(group) and _bias(s, q) == p:
            y = _merged(s, group)
            axis = _channels(group[0])
            summand = s.op("Concat", *(b.inputs[1] for b in biases), axis=biases[0].inputs[1].rank - (y.rank - axis))
            yield _part(s, s.op("Add", y, summand), group, q)


@algebra(pays=True)
def merged_products(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """A B_i = columns i of A [B_1 B_2 ...], B_i computed as A is, where together they are no larger than A."""
    group = _products(s, p) if p.spec.is_product else ()
    if len(group) > 1:
        b = _side_by_side(s, tuple(q.inputs[1] for q in group))
        yield _part(s, s.op("MatMul", p.inputs[0], b), group, p)


@algebra()
def columns_of_product(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """Columns of A B = A (those columns of B), where computed B is the smaller one to be cut."""
    for q in s.graph.producers.get(p.inputs[0], ()) if _cuts_columns(p) else ():
        if q.spec.is_product and not q.inputs[1].const and q.inputs[1].size < q.output.size:
            b = q.inputs[1]
            starts, lengths = (*(0,) * (b.rank - 1), p.attr("starts")[-1]), (*b.shape[:-1], p.output.shape[-1])
            yield s.op("MatMul", q.inputs[0], s.op("Slice", b, starts=starts, steps=(1,) * b.rank, lengths=lengths))


def _cuts_columns(p: Primitive) -> bool:
    return p.spec.cuts and p.output.shape[:-1] == p.inputs[0].shape[:-1] and set(p.attr("steps")) == {1}


def _products(s: Space, p: Primitive) -> tuple[Primitive, ...]:
    """The products of the model that have p's left matrix, which is not read twice when they are one."""
    a = p.inputs[0]
    group = tuple(
        q
        for q in s.graph.consumers.get(a, ())
        if q.spec.is_product and q.inputs[0] == a and not q.inputs[1].const and q.inputs[1].shape[:-2] == a.shape[:-2]
    )
    small = sum(q.inputs[1].size for q in group) <= a.size
    return group if p in group and small and len(group) <= MOST else ()


def _side_by_side(s: Space, parts: tuple[Tensor, ...]) -> Tensor:
    """The matrices joined: the one whose columns they are, in this order, where there is one."""
    joined = s.op("Concat", *parts, axis=parts[0].rank - 1)
    wholes = (q.inputs[0] for q in s.producers(parts[0]) if q.spec.cuts)
    same = (x for x in wholes if x.shape == joined.shape and _are_columns(s, parts, x))
    return next(same, joined)


def _are_columns(s: Space, parts: tuple[Tensor, ...], x: Tensor) -> bool:
    at = 0
    for t in parts:
        first = (*(0,) * (x.rank - 1), at)
        if not any(
            q.spec.cuts and q.inputs[0] == x and q.attr("starts") == first and set(q.attr("steps")) == {1}
            for q in s.producers(t)
        ):
            return False
        at += t.shape[-1]
    return True


def _siblings(s: Space, p: Primitive) -> tuple[Primitive, ...]:
    """The linear primitives of the model that do as `p` does, to the same input, with other weights: at most MOST, `p`
    among them."""
    return s.once(_groups, p.inputs[0]).get(p, ()) if _is_small(p) else ()


def _groups(s: Space, x: Tensor) -> dict[Primitive, tuple[Primitive, ...]]:
    """The small linear primitives of the model that read x, each with those it merges with."""
    alike: dict[Hashable, list[Primitive]] = {}
    for q in filter(_is_small, s.graph.consumers.get(x, ())):
        alike.setdefault((q.op, q.attrs, q.inputs[1].shape[2:]), []).append(q)
    runs = [tuple(qs[i : i + MOST]) for qs in alike.values() for i in range(0, len(qs), MOST)]
    return {q: run for run in runs for q in run}


def _is_small(p: Primitive) -> bool:
    product = p.spec.is_product and p.inputs[1].const and p.inputs[1].rank == 2
    return (product or is_dense(p)) and not p.inputs[0].const and multiply_adds(p) <= SMALL


def _channels(p: Primitive) -> int:
    return 1 if p.spec.is_convolution else p.output.rank - 1


def _bias(s: Space, p: Primitive) -> Primitive | None:
    """The primitive of the model that adds a constant a channel to what `p` alone gives it."""
    readers = s.graph.consumers.get(p.output, ())
    if len(readers) != 1 or readers[0].op != "Add" or p.output in s.graph.outputs:
        return None
    c = readers[0].inputs[1]
    kernel = (1,) * (p.output.rank - 1 - _channels(p))
    return readers[0] if c.const and c.shape == (p.output.shape[_channels(p)], *kernel) else None


def _merged(s: Space, group: tuple[Primitive, ...]) -> Tensor:
    weights = s.op("Concat", *(q.inputs[1] for q in group), axis=0 if group[0].spec.is_convolution else 1)
    return s.op(group[0].op, group[0].inputs[0], weights, **dict(group[0].attrs))


def _part(s: Space, y: Tensor, group: tuple[Primitive, ...], p: Primitive) -> Tensor:
    """The channels of y that are those of `p`."""
    axis = _channels(p)
    before = sum(q.output.shape[axis] for q in group[: group.index(p)])
    starts = tuple(before if a == axis else 0 for a in range(y.rank))
    return s.op("Slice", y, starts=starts, steps=(1,) * y.rank, lengths=p.output.shape)
