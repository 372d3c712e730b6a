"""A cone cut into stages: one linear primitive each with what oneDNN takes behind it, and generated code between."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from korch.backends.contract import Backend
from korch.ir.cone import Cone
from korch.ir.ops.elementwise import COSTLY
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor

VIEWS = ("Transpose", "Reshape", "Slice", "Expand", "Identity")
"""What a linear primitive's backend may read its operands through."""


def stages(cone: Cone, backends: Sequence[Backend], apart: bool = False) -> tuple[Cone, ...] | None:
    """The stages in order of execution, each a cone that one of `backends` takes; None where there is no such cut.

    The leaves of a stage are the cone's or roots of earlier stages. A linear primitive whose epilogue no backend takes
    is a stage of its own, and so are views that none reads through; with `apart` costly functions behind it are one,
    too.
    """
    ends = {cone.behind_views(t, VIEWS) for p in cone.linear for t in p.inputs if not t.const} & set(cone.makers)
    ends |= turned(cone) | (costly(cone) if apart else set())
    refused = [s for s in _cut(cone, ends) if not taker(s, backends)]
    products = {p.output for s in refused for p in s.linear}
    operands = {t for s in refused for p in s.linear for t in p.inputs if t in s.makers}
    ways = (_cut(cone, ends | more) for more in (set[Tensor](), products, operands, products | operands))
    return next((found for found in ways if all(taker(s, backends) for s in found)), None)


def turned(cone: Cone) -> set[Tensor]:
    """Second operands that are leaves with another axis innermost: each strip's product would store them again."""
    return {p.inputs[1] for p in cone.linear if p.op == "MatMul" and _turned(cone, p.inputs[1])}


def _turned(cone: Cone, t: Tensor) -> bool:
    """Whether `t` is a leaf that is no constant, seen through views of which one turns it."""
    turns = False
    while t in cone.makers and cone.makers[t].op in VIEWS:
        p = cone.makers[t]
        turns |= p.op == "Transpose" and p.attr("perm")[-1] != p.output.rank - 1
        t = p.inputs[0]
    return turns and t not in cone.makers and not t.const


def costly(cone: Cone) -> set[Tensor]:
    """What the cone computes and puts into costly functions, one behind the other taken as one."""
    made = cone.makers
    operands = {p.inputs[0] for p in cone.primitives if p.op in COSTLY} & set(made)
    return {t for t in operands if made[t].op not in COSTLY}


def taker(cone: Cone, backends: Iterable[Backend]) -> Backend | None:
    """The first backend that takes the cone."""
    return next((b for b in backends if b.declines(cone) is None), None)


def _cut(cone: Cone, ends: set[Tensor]) -> tuple[Cone, ...]:
    """A cone for each of `ends` and the root; views that several read are in each of them."""
    return tuple(_upto(cone, p.output, ends) for p in cone.primitives if p.output in ends or p.output == cone.root)


def _upto(cone: Cone, root: Tensor, ends: set[Tensor]) -> Cone:
    needed, inside = {root}, list[Primitive]()
    for p in reversed(cone.primitives):
        if p.output in needed and (p.output == root or p.output not in ends):
            inside.append(p)
            needed.update(p.inputs)
    return Cone.of(reversed(inside))
