"""Softmax does not depend on what is subtracted from a whole row; subtracting its maximum only keeps exp in range."""

from __future__ import annotations

from collections.abc import Iterator
from math import log

import numpy as np

from korch.ir.primitive import APPROXIMATE, Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.rule import algebra
from korch.rewrite.space import Space

ROOM = 2 / 3
"""Of the dtype's exponents, those that exp and its sums may take: products with what follows have the rest."""


@algebra()
def softmax_unshifted(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """exp(x - m) / sum exp(x - m) = exp x / sum exp x, where the range of x is proved."""
    for x, total in _shifted(s, p):
        if _stays_in_range(s, x, total):
            yield _unshifted(s, x, total)


@algebra(error=APPROXIMATE, proved=False)
def softmax_unshifted_unproved(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """exp(x - m) / sum exp(x - m) = exp x / sum exp x, whatever x is: where it is large, exp overflows."""
    for x, total in _shifted(s, p):
        yield _unshifted(s, x, total)


def _shifted(s: Space, p: Primitive) -> Iterator[tuple[Tensor, Primitive]]:
    """x and the sum, where `p` is a softmax of x - m, m alike along the axes of the sum."""
    for total in s.producers(p.inputs[1]) if p.op == "Div" else ():
        if total.op == "ReduceSum" and total.inputs[0] == p.inputs[0] and total.attr("keepdims"):
            exponents = (e.inputs[0] for e in s.producers(p.inputs[0]) if e.op == "Exp")
            differences = (q for d in exponents for q in s.producers(d) if q.op == "Sub")
            yield from ((q.inputs[0], total) for q in differences if _is_alike(q, total.attr("axes")))


def _is_alike(q: Primitive, axes: tuple[int, ...]) -> bool:
    """Whether all elements of x - m along `axes` have one m."""
    x, m = q.inputs
    missing = x.rank - m.rank
    return x.shape == q.output.shape and all(a < missing or m.shape[a - missing] == 1 for a in axes)


def _unshifted(s: Space, x: Tensor, total: Primitive) -> Tensor:
    e = s.op("Exp", x)
    return s.op("Div", e, s.op("ReduceSum", e, **dict(total.attrs)))


def _stays_in_range(s: Space, x: Tensor, total: Primitive) -> bool:
    """Whether neither exp x nor its sum can overflow or lose digits."""
    known, info = s.ranges.get(x), np.finfo(x.dtype)
    terms = x.size // max(total.output.size, 1)
    if known is None or not terms:
        return False
    return known.lo >= ROOM * log(info.tiny) and known.hi + log(terms) <= ROOM * log(info.max)
