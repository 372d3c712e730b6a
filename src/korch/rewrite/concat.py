"""What works on the parts of a concatenation: linears, split where their inputs were joined, and transpositions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from korch.ir.primitive import EXACT, Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.maps import is_dense, map_of, mapped
from korch.rewrite.rule import algebra
from korch.rewrite.space import Space


@algebra()
def map_over_concat(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """W concat(x_i) = sum_i W_i x_i, W_i the columns of W that meet x_i."""
    m = map_of(s, p)
    for parts in _joined(s, m.x, m.axis) if m else ():
        terms = [mapped(s, w, x, m.axis) for w, x in _with_weights(s, m.weights, parts, m.axis)] if m else []
        yield _sum(s, terms)


@algebra()
def convolution_over_concat(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """conv(concat(x_i), w) = sum_i conv(x_i, w_i), w_i the input channels of w that meet x_i."""
    if is_dense(p) and map_of(s, p) is None:
        for parts in _joined(s, p.inputs[0], 1):
            pairs = _with_weights(s, p.inputs[1], parts, 1)
            yield _sum(s, [s.op("Conv", x, w, **dict(p.attrs)) for w, x in pairs])


@algebra(pays=True, error=EXACT)
def transposition_over_concat(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """concat(x_i) transposed is the concatenation of x_i transposed: of parts that lie channels-last, which it makes
    channels-last again, nothing need turn (heads of detectors)."""
    for q in s.producers(p.inputs[0]) if p.spec.permutes else ():
        if q.spec.joins:
            perm = p.attr("perm")
            parts = [s.op("Transpose", x, perm=perm) for x in q.inputs]
            yield s.op("Concat", *parts, axis=perm.index(q.attr("axis")))


def _joined(s: Space, x: Tensor, axis: int) -> Iterator[tuple[Tensor, ...]]:
    """The parts of which x is the concatenation along `axis`."""
    for q in s.producers(x):
        if q.spec.joins and q.attr("axis") == axis and not any(t.const for t in q.inputs):
            yield q.inputs


def _with_weights(s: Space, w: Tensor, parts: tuple[Tensor, ...], axis: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Each part with its weights, contracted along axis 1 of `w`."""
    start = 0
    for x in parts:
        n = x.shape[axis]
        lengths = (w.shape[0], n, *w.shape[2:])
        yield s.op("Slice", w, starts=(0, start, *(0,) * (w.rank - 2)), steps=(1,) * w.rank, lengths=lengths), x
        start += n


def _sum(s: Space, terms: list[Tensor | None]) -> Tensor | None:
    found = [t for t in terms if t is not None]
    return reduce(lambda a, b: s.op("Add", a, b), found) if len(found) == len(terms) else None
