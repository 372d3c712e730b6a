"""Which reductions run as one loop nest: such as fold the same elements, neither waiting for the other.

Mean and mean of squares, or smallest and largest, then take one pass over what they read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from korch.backends.cpu.loops.binding import Schedule, Stage, is_reduction
from korch.backends.cpu.loops.schedule import worth_keeping
from korch.backends.cpu.loops.writer import Writer
from korch.backends.maps.index import Var
from korch.ir.cone import Cone
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor

MOST = 4
"""Accumulators of one nest: more would not stay in registers."""


def groups(writer: Writer) -> Iterator[tuple[Stage, ...]]:
    """The stages in order; those that run as one loop nest together."""
    plan = writer.plan
    together = {p.output: group for group in joined(plan.cone) for p in group}
    waiting = list[Stage]()
    for s in plan.stages:
        if waiting and s.maker in together.get(waiting[0].tensor, ()) and _fits(writer, waiting[0], s):
            waiting.append(s)
        else:
            if waiting:
                yield tuple(waiting)
            waiting = [s]
    yield tuple(waiting)


def joined(cone: Cone) -> list[tuple[Primitive, ...]]:
    """Consecutive reductions of `cone` that could run as one loop nest, at least two each."""
    if sum(is_reduction(p) for p in cone.primitives) < 2:
        return []
    kept = worth_keeping(cone)
    stages = [p for p in cone.primitives if is_reduction(p) or p.output in kept or p.output == cone.root]
    stored, found = {p.output for p in stages}, [[stages[0]]]
    for p in stages[1:]:
        if len(found[-1]) < MOST and p.output != cone.root and _folds_alike(cone, stored, found[-1], p):
            found[-1].append(p)
        else:
            found.append([p])
    return [tuple(group) for group in found if len(group) > 1]


def _folds_alike(cone: Cone, stored: Collection[Tensor], group: Sequence[Primitive], p: Primitive) -> bool:
    """Whether `p` folds along the same axes, reads something that the group reads, and nothing that it makes."""
    first, reads = group[0], _read(cone, stored, p)
    return (
        _is_plain(first)
        and _is_plain(p)
        and (first.inputs[0].shape, first.attrs, first.output.dtype) == (p.inputs[0].shape, p.attrs, p.output.dtype)
        and not any(q.output in reads for q in group)
        and not reads.isdisjoint(_read(cone, stored, first))
    )


def _is_plain(p: Primitive) -> bool:
    return p.spec.folds


def _read(cone: Cone, stored: Collection[Tensor], p: Primitive) -> set[Tensor]:
    """What the loop nest of `p` loads: leaves, and what other stages have stored."""
    made = {q.output: q for q in cone.primitives}
    found, stack = set[Tensor](), list(p.inputs)
    while stack:
        t = stack.pop()
        if t in made and t not in stored:
            stack += made[t].inputs
        elif t.value is None:
            found.add(t)
    return found


def _fits(writer: Writer, first: Stage, other: Stage) -> bool:
    """Whether the loops of both have been bound alike, and run through."""
    alike = _bound(writer.plan, first) == _bound(writer.plan, other)
    return alike and not any(any(v.name in writer.breaks(s) for v in s.loops) for s in (first, other))


def _bound(plan: Schedule, s: Stage) -> tuple[object, ...]:
    return s.base, s.extent, _extents(s.loops), _extents(s.reds)


def _extents(loops: Sequence[Var]) -> list[int]:
    return [v.extent for v in loops]


def beside(first: Stage, other: Stage) -> Stage:
    """`other` inside the loops of `first`."""
    return replace(other, axes=first.axes, loops=first.loops, reds=first.reds, source=first.source)
