"""Primitives that do the same to every element along an axis: which axes, and the same on other lengths."""

from __future__ import annotations

from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.space import Space


def axis_after(q: Primitive, axis: int) -> int | None:
    """Where `axis` of q's input is in its output, if `q` is linear and works on other axes only; else None.

    Means of integers are not: they are rounded.
    """
    if q.spec.axis_map is None or (q.spec.averages and not q.inputs[0].is_float):
        return None
    return q.spec.axis_map(q, axis)


def axis_before(q: Primitive, axis: int) -> int | None:
    """The axis of q's input that `axis_after` sends to `axis`."""
    return next((a for a in range(q.inputs[0].rank) if axis_after(q, a) == axis), None)


def moved(s: Space, q: Primitive, x: Tensor, axis: int) -> Tensor:
    """What `q` does, done to x, which may have another length along `axis`."""
    attrs, after = dict(q.attrs), axis_after(q, axis)
    assert after is not None
    for name in {"lengths", "shape"} & attrs.keys():
        attrs[name] = (*attrs[name][:after], x.shape[axis], *attrs[name][after + 1 :])
    return s.op(q.op, x, **attrs)


def keeps_constants(q: Primitive) -> bool:
    """Whether `q` gives c everywhere for an input that is c everywhere: its weights sum to 1."""
    return q.spec.is_view or q.spec.keeps_constants(q)
