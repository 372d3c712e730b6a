"""Primitives and cones cut along one axis, by the access relations of the operator table."""

from __future__ import annotations

from typing import Any

from korch.ir.cone import Cone
from korch.ir.ops.spans import SUMMED, Part, Span, aligned, outermost
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive


def part(p: Primitive, span: Span) -> Part | None:
    """`p` for `span` of its output; None where what it reads is no span."""
    attrs = dict(p.attrs)
    if span.axis == SUMMED:
        return _summed(p, span, attrs)
    if p.category is Category.ELEMENTWISE:
        return Part(tuple(aligned(t, p.output, span) for t in p.inputs), attrs)
    return p.spec.reads(p, span, attrs) if p.spec.reads else None


def ways_across(cone: Cone) -> tuple[int, ...]:
    """The axes of the root along which strips are worth trying: the outermost, and that one which is outermost where a
    transposition that ends the cone begins; of a product of two computed matrices also that of the sum."""
    last, first = cone.primitives[-1], outermost(cone.root.shape)
    if last.spec.is_product and not any(t.const for t in last.inputs):
        return first, SUMMED
    if not last.spec.permutes:
        return (first,)
    return tuple(dict.fromkeys((first, last.attr("perm").index(outermost(last.inputs[0].shape)))))


def length_along(cone: Cone, axis: int) -> int:
    """Positions of the root along the axis, or that its product adds up."""
    return cone.primitives[-1].inputs[0].shape[-1] if axis == SUMMED else cone.root.shape[axis]


def _summed(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    """A sum over some of the columns of the one and rows of the other matrix."""
    if not p.spec.is_product:
        return None
    a, b = (Span(t.rank - i, span.begin, span.end) for i, t in enumerate(p.inputs, 1))
    return Part((a, b), attrs)
