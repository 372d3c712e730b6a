"""A cone cut into stages: one linear primitive each with what oneDNN takes behind it, and generated code between."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from korch.backends.contract import Backend
from korch.ir.cone import Cone
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.ir.views import moves_nothing


def stages(cone: Cone, backends: Sequence[Backend], separate: bool = False) -> tuple[Cone, ...] | None:
    """The stages in order of execution, each a cone that one of `backends` takes; None where there is no such cut.

    The leaves of a stage are the cone's or roots of earlier stages. With `separate` costly functions behind a linear
    primitive are a stage of their own.
    """
    more = turned(cone) | (costly(cone) if separate else set[Tensor]())
    ways = (ends | more for ends in _ways(cone))
    return next(filter(None, (_taken(cone, ends, backends) for ends in ways)), None)


def _ways(cone: Cone) -> Iterator[set[Tensor]]:
    """Where to cut before linear primitives, the most promising way first.

    A product both of whose factors are made of one tensor makes them itself; other operands are stored as they are
    read. Or as they are made, with views that the primitive reads through.
    """
    shared = {p: {t} for p in cone.linear if (t := _shared_factor(cone, p))}
    made = {p: {cone.behind_views(t) for t in p.inputs} & set(cone.makers) for p in cone.linear}
    stored = {p: {_as_read(cone, t) for t in p.inputs if cone.behind_views(t) in cone.makers} for p in cone.linear}
    for way in (stored | shared, made | shared, stored, made):
        yield set[Tensor]().union(*way.values())


def _taken(cone: Cone, ends: set[Tensor], backends: Sequence[Backend]) -> tuple[Cone, ...] | None:
    """The stages that end there. Where no backend takes a linear primitive with all that is behind it, another stage
    begins behind what one takes; and views that none reads through are a stage of their own."""
    refused = [(p, s) for s in _cut(cone, ends) if not _takes(s, backends) for p in s.linear]
    after = {_last_taken(s, p, backends) for p, s in refused}
    products = {p.output for p, _ in refused}
    operands = {t for p, _ in refused for t in p.inputs if t in cone.makers}
    found = (_cut(cone, ends | more) for more in (set[Tensor](), after, products, operands, products | operands))
    return next((some for some in found if all(_takes(s, backends) for s in some)), None)


def _last_taken(stage: Cone, p: Primitive, backends: Sequence[Backend]) -> Tensor:
    """What the longest stage makes that begins like this one, and is all that the rest of it reads of `p`; views are
    left to the rest."""
    after = stage.primitives[stage.primitives.index(p) + 1 : -1]
    for q in reversed([q for q in after if not q.spec.is_view]):
        parts = _cut(stage, {q.output})
        if sum(p in part.primitives for part in parts) == 1 and p in parts[0].primitives and _takes(parts[0], backends):
            return q.output
    return p.output


def _as_read(cone: Cone, t: Tensor) -> Tensor:
    """What `t` is a view of, behind the last transposition that moves something in memory."""
    while (p := cone.makers.get(t)) and p.spec.is_view and (not p.spec.permutes or moves_nothing(p)):
        t = p.inputs[0]
    return t


def _takes(stage: Cone, backends: Sequence[Backend]) -> bool:
    """Whether one of the backends computes the stage, which is not just another name of what it reads."""
    return not all(map(moves_nothing, stage.primitives)) and taker(stage, backends) is not None


def _shared_factor(cone: Cone, product: Primitive) -> Tensor | None:
    """The last tensor that the cone computes of which alone both factors of a product are made, behind views."""
    if not product.spec.is_product or not all(t in cone.makers for t in product.inputs):
        return None
    for p in reversed(cone.primitives[: cone.primitives.index(product)]):
        stage = _upto(cone, product.output, {p.output})
        if [t for t in stage.leaves if not t.const] == [p.output] and p.output not in product.inputs:
            return cone.behind_views(p.output)
    return None


def turned(cone: Cone) -> set[Tensor]:
    """Second operands that are leaves with another axis innermost: each strip's product would store them again."""
    return {p.inputs[1] for p in cone.linear if p.spec.is_product and _turned(cone, p.inputs[1])}


def _turned(cone: Cone, t: Tensor) -> bool:
    """Whether `t` is a leaf that is no constant, seen through views of which one turns it."""
    turns = False
    while t in cone.makers and cone.makers[t].spec.is_view:
        p = cone.makers[t]
        turns |= p.spec.permutes and p.attr("perm")[-1] != p.output.rank - 1
        t = p.inputs[0]
    return turns and t not in cone.makers and not t.const


def costly(cone: Cone) -> set[Tensor]:
    """What the cone computes and puts into costly functions, one behind the other taken as one."""
    made = cone.makers
    operands = {p.inputs[0] for p in cone.primitives if p.spec.costly} & set(made)
    return {t for t in operands if not made[t].spec.costly}


def taker(cone: Cone, backends: Iterable[Backend]) -> Backend | None:
    """The first backend that takes the cone."""
    return next((b for b in backends if b.refuses(cone) is None), None)


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
