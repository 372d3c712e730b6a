"""Some channels of every head alone: who makes queries need not make keys and values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from korch.ir.ops.table import Category
from korch.ir.primitive import EXACT, Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.maps import along, scale_along, shift_along
from korch.rewrite.rule import algebra
from korch.rewrite.space import Space


@dataclass(frozen=True)
class ChannelSlice:
    """Positions `start` to `stop` of `axis` of a tensor, which `views` make of x, whose channels that axis is a part
    of."""

    x: Tensor
    views: tuple[Primitive, ...]
    axis: int
    start: int
    stop: int

    @property
    def channels(self) -> list[int]:
        """Those of x that lie at these positions."""
        y, at = self.views[0].output.shape, self.axis_of_view
        inside = prod(y[at + 1 :]) // prod(self.x.shape[2:])
        return [
            (head * y[at] + position) * inside + i
            for head in range(prod(y[:at]) // self.x.shape[0])
            for position in range(self.start, self.stop)
            for i in range(inside)
        ]

    @property
    def axis_of_view(self) -> int:
        """Where the first of the views has the axis."""
        axis = self.axis
        for view in self.views[:0:-1]:
            axis = view.attr("perm")[axis]
        return axis


@algebra(pays=True, counts=False, error=EXACT)
def channels_of_heads(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """Queries, or keys and values, that a convolution makes for all heads = what its weights for these make.

    What one product needs is made together, and may stay in a cache: linear attention adds up keys by values before it
    asks for a query.
    """
    stretch = _stretch(s, p)
    wanted = _wanted(s, p, stretch) if stretch else None
    made = _made(s, wanted.x, wanted.channels) if wanted else None
    if stretch and wanted and made:
        first, *turns = wanted.views
        shape, axis = first.output.shape, wanted.axis_of_view
        made = s.op("Reshape", made, shape=(*shape[:axis], wanted.stop - wanted.start, *shape[axis + 1 :]))
        for turn in turns:
            made = s.op("Transpose", made, **dict(turn.attrs))
        starts = tuple(stretch.start - wanted.start if a == stretch.axis else 0 for a in range(made.rank))
        yield s.op("Slice", made, starts=starts, steps=(1,) * made.rank, lengths=p.output.shape)


def _stretch(s: Space, p: Primitive) -> ChannelSlice | None:
    """What `p` takes of an image's channels, if it cuts along one axis."""
    if not p.spec.cuts or set(p.attr("steps")) != {1}:
        return None
    axes = [a for a, (n, m) in enumerate(zip(p.inputs[0].shape, p.output.shape, strict=True)) if n != m]
    found = _views(s, p.inputs[0]) if len(axes) == 1 else ()
    if not found:
        return None
    start = p.attr("starts")[axes[0]]
    stretch = ChannelSlice(found[0].inputs[0], found, axes[0], start, start + p.output.shape[axes[0]])
    return stretch if _is_of_channels(stretch) else None


def _views(s: Space, t: Tensor) -> tuple[Primitive, ...]:
    """The Reshape and the transpositions behind it that make `t`, in their order."""
    found: list[Primitive] = []
    while True:
        view = next((q for q in s.graph.producers.get(t, ()) if q.spec.rearranges), None)
        if view is None:
            return ()
        found.append(view)
        if view.spec.regroups:
            return tuple(reversed(found))
        t = view.inputs[0]


def _is_of_channels(stretch: ChannelSlice) -> bool:
    """Whether what is cut are whole channels of an image, of each image alike."""
    x, y, at = stretch.x.shape, stretch.views[0].output.shape, stretch.axis_of_view
    return len(x) > 2 and prod(y[:at]) % x[0] == 0 and prod(y[at + 1 :]) % prod(x[2:]) == 0


def _wanted(s: Space, p: Primitive, stretch: ChannelSlice) -> ChannelSlice | None:
    """All that the products with `p` need of the same tensor; None where that is the whole."""
    reached = _products(s, p.output)
    others = [
        c
        for q in s.graph.consumers.get(p.inputs[0], ())
        if (c := _stretch(s, q)) and c.axis == stretch.axis and (q == p or reached & _products(s, q.output))
    ]
    start, stop = min([stretch.start, *(c.start for c in others)]), max([stretch.stop, *(c.stop for c in others)])
    whole = stop - start == p.inputs[0].shape[stretch.axis]
    return None if whole or not reached else ChannelSlice(stretch.x, stretch.views, stretch.axis, start, stop)


def _products(s: Space, t: Tensor) -> set[Tensor]:
    """The products of two computed matrices that are the first to read `t`, through what moves it or works on each of
    its elements."""
    found = set[Tensor]()
    for q in s.graph.consumers.get(t, ()):
        if q.spec.is_product and not any(x.const for x in q.inputs):
            found.add(q.output)
        elif q.category in (Category.LAYOUT, Category.ELEMENTWISE) and all(x == t or x.const for x in q.inputs):
            found |= _products(s, q.output)
    return found


# Channels alone -------------------------------------------------------------------------------------------------


def _made(s: Space, t: Tensor, picked: Sequence[int]) -> Tensor | None:
    """The channels `picked` of t, in this ascending order, by convolutions of no more; None where others make it."""
    if len(picked) == t.shape[1]:
        return t
    for q in s.graph.producers.get(t, ()):
        if q.spec.is_convolution and q.inputs[1].const and not q.attr("channels_last"):
            return _convolved(s, q, picked)
        if q.spec.joins and q.attr("axis") == 1:
            return _joined(s, q, picked)
        if q.category is Category.ELEMENTWISE and len(q.inputs) == 1:
            x = _made(s, q.inputs[0], picked)
            return x and s.op(q.op, x, **dict(q.attrs))
        for op, found in (("Add", shift_along(s, q, 1)), ("Mul", scale_along(s, q, 1))):
            x = _made(s, found[0], picked) if found else None
            if found and x:
                return s.op(op, x, along(s, _gathered(s, found[1], picked), x, 1))
    return None


def _convolved(s: Space, q: Primitive, picked: Sequence[int]) -> Tensor | None:
    """With the weights of the outputs `picked`, of as many of each group."""
    x, w = q.inputs
    groups, each, inputs = q.attr("group"), w.shape[0] // q.attr("group"), w.shape[1]
    held = Counter(i // each for i in picked)
    if len({*held.values()}) != 1:
        return None
    x = x if groups == 1 else _made(s, x, [g * inputs + i for g in held for i in range(inputs)])
    return x and s.op("Conv", x, _gathered(s, w, picked), **dict(q.attrs) | {"group": len(held)})


def _joined(s: Space, q: Primitive, picked: Sequence[int]) -> Tensor | None:
    """What is picked of each part, joined."""
    parts, at = list[Tensor | None](), 0
    for t in q.inputs:
        own = [i - at for i in picked if at <= i < at + t.shape[1]]
        parts += [_made(s, t, own)] if own else []
        at += t.shape[1]
    found = [t for t in parts if t]
    return s.op("Concat", *found, axis=1) if len(found) == len(parts) else None


def _gathered(s: Space, c: Tensor, picked: Sequence[int]) -> Tensor:
    """Some positions of the first axis of a constant."""
    return s.op("Gather", c, axis=0, indices=tuple(picked))
