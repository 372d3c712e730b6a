"""The output cut into strips along one axis, and every stage narrowed to what a strip needs of it.

Where strips would be low against their halo, bands along the next axis are cut into strips of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from korch.backends.cpu.loops.binding import Place
from korch.backends.cpu.tiles.access import length_along
from korch.backends.cpu.tiles.piece import Piece, Strip, Turn, is_one_piece, narrow
from korch.backends.cpu.tiles.repeat import Make, each, repeated
from korch.ir.cone import Cone
from korch.ir.ops.spans import SUMMED, Read, Span, outermost
from korch.ir.tensor import Tensor

UNEVEN = 1.04
"""Of equal shares, beyond which threads do not take whole strips each: kernels for lower ones are worth compiling."""


@dataclass(frozen=True)
class Chunk:
    """Turns that one thread runs one after another: all but the first keep the halo of the one before.

    `anew`: what takes the place of each turn where another thread has run the one before; empty where it must not.
    """

    turns: tuple[Turn, ...]
    anew: tuple[Turn, ...]

    @property
    def strips(self) -> Turn:
        """What its thread runs if nobody helps."""
        return tuple(strip for turn in self.turns for strip in turn)

    @property
    def all(self) -> Iterator[Strip]:
        return (strip for turn in (*self.turns, *self.anew) for strip in turn)

    def map(self, change: Callable[[Strip], Strip]) -> Chunk:
        """The chunk with each strip changed."""
        return Chunk(*(tuple(tuple(map(change, turn)) for turn in turns) for turns in (self.turns, self.anew)))


@dataclass(frozen=True)
class StripCut:
    """How a cone is cut: into stages, and its root along an axis (or into sums over parts of a product's) in strips of
    so many positions, in each of so many bands along the next axis. Stages behind the last whose halo strips keep run
    for `step` positions at a time, if that is not zero: what they leave for each other is small then, and strips may be
    higher."""

    stages: tuple[Cone, ...]
    axis: int
    height: int
    bands: int = 1
    step: int = 0

    @property
    def length(self) -> int:
        """Positions of all strips."""
        return length_along(self.stages[-1], self.axis)

    @property
    def lead(self) -> int:
        """Positions by which the first strip is lower: what the root skips of Winograd's first tiles."""
        made = self.stages[-1].primitives if self.axis != SUMMED else ()
        return max((p.spec.lead(p) for p in made), default=0)

    @property
    def count(self) -> int:
        """Strips."""
        return -(-(self.length + self.lead) // self.height)

    def span(self, number: int) -> Span:
        """What of the root a strip is."""
        return self.between(number * self.height, (number + 1) * self.height)

    def between(self, begin: int, end: int) -> Span:
        """The positions from `begin` to `end` that the root has, counted from where its first strip would be whole."""
        return Span(self.axis, max(begin - self.lead, 0), min(end - self.lead, self.length))


def quantum(cone: Cone) -> int:
    """Rows of which a strip must be a multiple: Winograd's tiles and Strassen's pairs of rows are whole."""
    return math.lcm(*(p.spec.granule(p) for p in cone.primitives))


@lru_cache(maxsize=1024)
def row(stages: tuple[Cone, ...], axis: int) -> int:
    """Positions of a row: one; where the root adds up along the axis, the fewest to which the stages can be narrowed,
    as of an image whose positions are numbered row by row."""
    if axis != SUMMED:
        return 1
    length = length_along(stages[-1], SUMMED)
    spans = (Span(SUMMED, 0, n) for n in range(1, length) if length % n == 0)
    return next((span.end for span in spans if _strip(stages, span, None)), length)


def chunks(cut: StripCut, threads: int, equal: bool = True) -> tuple[Chunk, ...] | None:
    """The strips, a chunk for each thread, or one of each band; None where a stage cannot be narrowed.

    A thread has the same part of the output as of what kernels around this one store, which may lie in its own cache.
    Where shares are to be `equal` and whole strips do not make them so, the last strip of each is lower than others;
    but not of sums, which are the same bits for any number of threads.
    """
    if cut.bands > 1:
        found = _in_bands(cut, range(cut.bands), lambda c: chunks(c, threads, equal))
        each = len(found) // cut.bands if found else 0
        return found and tuple(chunk for i in range(each) for chunk in found[i::each])
    whole, shares = _whole_strips(cut, threads), _equal_shares(cut, threads)
    uneven = equal and cut.axis != SUMMED and _longest(whole) > UNEVEN * _longest(shares)
    return (_chunks(cut, shares, threads > 1) if uneven else None) or _chunks(cut, whole, threads > 1)


Shares = Sequence[Sequence[Span]]
"""The strips of each thread."""


def _whole_strips(cut: StripCut, threads: int) -> Shares:
    spans = [cut.span(i) for i in range(cut.count)]
    count = min(threads, len(spans))
    edges = [i * len(spans) // count for i in range(count + 1)]
    return [spans[begin:end] for begin, end in pairwise(edges)]


def _equal_shares(cut: StripCut, threads: int) -> Shares:
    """The output in equal parts, of each of which the last strip may be lower than others."""
    whole = math.lcm(*map(quantum, cut.stages))
    units = -(-(cut.length + cut.lead) // whole)
    count = min(threads, units)
    edges = [i * units // count * whole for i in range(count + 1)]
    return [
        [cut.between(at, min(at + cut.height, end)) for at in range(begin, end, cut.height)]
        for begin, end in pairwise(edges)
    ]


def _longest(shares: Shares) -> int:
    """Positions of the thread that has most."""
    return max(sum(span.length for span in spans) for spans in shares)


def sample(cut: StripCut) -> tuple[Chunk, ...] | None:
    """A few of the strips, of every form that there is: at the edges and in the middle, first of a chunk and not."""
    if cut.bands > 1:
        return _in_bands(cut, sorted({0, 1, cut.bands - 1}), sample)
    firsts = sorted({0, max(cut.count // 2 - 1, 0), max(cut.count - 3, 0)})
    return _chunks(cut, [[cut.span(i) for i in range(first, min(first + 3, cut.count))] for first in firsts])


def _in_bands(
    cut: StripCut, numbers: Iterable[int], cut_up: Callable[[StripCut], tuple[Chunk, ...] | None]
) -> tuple[Chunk, ...] | None:
    """Some of the bands, `cut_up` into strips; None where a stage cannot be narrowed to one."""
    axis, found = cut.axis + 1, list[Chunk]()
    each = cut.stages[-1].root.shape[axis] // cut.bands
    for i in numbers:
        band = _strip(cut.stages, Span(axis, i * each, (i + 1) * each), None)
        some = cut_up(replace(cut, stages=tuple(p.cone for p in band), bands=1)) if band else None
        if band is None or some is None:
            return None
        found += [chunk.map(lambda strip, band=band: tuple(_of_band(p, band) for p in strip)) for chunk in some]
    return tuple(found)


def _of_band(piece: Piece, band: Strip) -> Piece:
    """The piece of a strip, with where the band lies."""
    whole = next(p for p in band if p.cone == piece.stage)
    buffers = {p.stage.root.name for p in band}
    reads = {t.name: read for t, read in zip(whole.leaves, whole.reads, strict=True) if t.name not in buffers}
    last = whole is band[-1]
    across = (*(reads.get(t.name) for t in piece.leaves), whole.made if last else None)
    return replace(piece, place=whole.place if last else None, across=across)


def _chunks(cut: StripCut, shares: Shares, helped: bool = False) -> tuple[Chunk, ...] | None:
    """A chunk a share; where they are `helped`, with turns that begin anew."""
    later = cut.stages[keeping(cut) :] if cut.step else ()
    found: list[Chunk] = []
    for spans in shares:
        turns = _turns(cut, later, spans)
        if turns is None:
            return None
        anew = _anew(cut, later, spans) if helped else ()
        alike = (
            a if _leaves_alike(turn, a, following) else ()
            for turn, a, following in zip(turns[1:], anew, (*turns[2:], ()), strict=False)
        )
        found.append(Chunk(turns, (turns[0], *alike)))
    return tuple(found)


def _leaves_alike(turn: Turn, anew: Turn, following: Turn) -> bool:
    """Whether the turn `following` may follow either: buffers that keep a halo begin with the same positions. Where two
    stages read one, a turn that has the later's halo from before holds less of it than one that makes all."""
    kept = {p.stage for strip in (*turn, *following) for p in strip if p.kept}
    begins = {p.stage: p.holds.begin for strip in turn for p in strip if p.stage in kept}
    return all(p.holds.begin == begins.get(p.stage, p.holds.begin) for strip in anew for p in strip)


def _anew(cut: StripCut, later: Sequence[Cone], spans: Sequence[Span]) -> tuple[Turn, ...]:
    """The turns behind the first of a thread that has run none before them; each is empty where there is no such."""
    return _sequence(cut.stages, len(spans) - 1, lambda i, _: (_turns(cut, later, spans[i + 1 : i + 2]) or ((),))[0])


def _turns(cut: StripCut, later: Sequence[Cone], spans: Sequence[Span]) -> tuple[Turn, ...] | None:
    """A turn a span, one behind another; with the `later` stages some positions at a time."""
    strips = _strips(cut.stages, spans)
    if not later:
        return tuple((strip,) for strip in strips) or None
    return _sequence(cut.stages, len(strips), lambda i, _: _in_steps(cut, later, strips[i])) or None


def keeping(cut: StripCut) -> int:
    """Stages up to the last whose halo strips keep."""
    strips = _strips(cut.stages, [cut.span(0), cut.span(1)])
    kept = {p.stage for p in strips[1] if p.kept} if strips else set[Cone]()
    return max((i for i, stage in enumerate(cut.stages, 1) if stage in kept), default=0)


def _in_steps(cut: StripCut, later: Sequence[Cone], strip: Strip) -> Turn | None:
    """The strip with the `later` stages some positions at a time; None where one cannot be narrowed to them."""
    found: list[Strip] = []
    span, earlier = strip[-1].made, tuple(p for p in strip if p.stage not in later)
    holds = {p.stage.root: p.holds for p in earlier}
    held = {t: span.begin for t, span in holds.items()}
    for at in range(span.begin, span.end, cut.step):
        some = _strip(later, Span(span.axis, at, min(at + cut.step, span.end)), None, {s.root for s in cut.stages})
        if some is None or not all(_reaches(p, holds) for p in some):
            return None
        found.append((*(earlier if at == span.begin else ()), *(_reading(p, held) for p in some)))
    return tuple(found)


def _reaches(piece: Piece, holds: Mapping[Tensor, Span]) -> bool:
    """Whether all that the piece reads of stages lies in what their buffers hold, in one piece."""
    pairs = ((t, read, holds[t]) for t, read in zip(piece.leaves, piece.reads, strict=True) if t in holds)
    return all(_lies_in(t, read, held) for t, read, held in pairs)


def _lies_in(t: Tensor, read: Read, held: Span) -> bool:
    if read is None:
        return held.length == t.shape[held.axis]
    inside = read.axis == held.axis and held.begin <= read.begin and read.end <= held.end
    return read == held or (inside and is_one_piece(t, read))


def _reading(piece: Piece, held: Mapping[Tensor, int]) -> Piece:
    """The piece, where stages' roots lie in buffers that begin with the positions `held`."""
    begins = piece.begins or (0,) * len(piece.leaves)
    return replace(piece, begins=tuple(held.get(t, b) for t, b in zip(piece.leaves, begins, strict=True)))


def _strips(stages: Sequence[Cone], spans: Sequence[Span]) -> Turn:
    """A strip a span, each of which keeps the halo of the one before; none where one cannot be narrowed."""

    def make(i: int, before: Turn | None) -> Turn | None:
        strip = _strip(stages, spans[i], before[0] if before else None)
        return (strip,) if strip else None

    return tuple(turn[0] for turn in _sequence(stages, len(spans), make))


def _sequence(stages: Sequence[Cone], count: int, make: Make) -> tuple[Turn, ...]:
    """`count` turns, one after another; none where one cannot be made. Tables of interpolation are all that makes them
    no translations of each other."""
    tables = any(p.spec.interpolates for stage in stages for p in stage.primitives)
    return tuple((each if tables else repeated)(count, make) or ())


def _strip(stages: Sequence[Cone], span: Span, before: Strip | None, buffers: Collection[Tensor] = ()) -> Strip | None:
    """From the last stage to the first: each must make what all later ones read. There are `buffers` of what other
    stages make, too."""
    holds: dict[Tensor, Read] = {stages[-1].root: span}
    roots = {*buffers, *(s.root for s in stages)}
    earlier = {piece.stage.root: piece for piece in (before or ())[:-1]}
    found: list[Piece] = []
    for stage in reversed(stages):
        wanted = holds[stage.root]
        if wanted is None and before:
            continue
        piece = _piece(stage, wanted, earlier.get(stage.root), roots) if wanted else _invariant(stage, roots)
        if not piece:
            return None
        for t, read in zip(piece.leaves, piece.reads, strict=True):
            if t in roots:
                holds[t] = _joined(holds[t], read) if t in holds else read
        found.append(_put(piece) if stage is stages[-1] else piece)
    if not all(_within(t, r, holds[t]) for p in found for t, r in zip(p.leaves, p.reads, strict=True) if t in roots):
        return None
    held = {p.stage.root: p.holds.begin for p in found[1:]}
    return tuple(_reading(p, held) for p in reversed(found))


def _put(piece: Piece) -> Piece:
    """A piece of the cone's root, with its place where that is no one piece of memory, or outgrows caches."""
    if piece.made.axis == SUMMED:
        return piece
    place = Place(piece.stage.root.shape, piece.made.axis, 0)
    return piece if place.outermost and not place.outgrows else replace(piece, place=place)


def _within(t: Tensor, read: Read, held: Read) -> bool:
    """Whether the span lies in one piece of what the buffer of a stage's root has."""
    return read == held or is_one_piece(t, read)


def _piece(stage: Cone, span: Span, before: Piece | None, roots: Collection[Tensor]) -> Piece | None:
    """The stage for `span`, without what `before` has of it where the rest can be computed alone."""
    inside = before and before.holds.begin <= span.begin < before.holds.end < span.end
    if before and inside and span.axis == outermost(stage.root.shape):
        rest = Span(span.axis, before.holds.end, span.end)
        piece = narrow(stage, span, rest, roots)
        if piece:
            return replace(piece, shift=span.begin - before.holds.begin)
    return narrow(stage, span, span, roots)


def _invariant(stage: Cone, roots: Collection[Tensor]) -> Piece | None:
    """The stage for all strips of a chunk, of which the first makes it; None where it multiplies, or reads what others
    make."""
    if stage.linear or any(t in roots for t in stage.leaves):
        return None
    span = Span(0, 0, stage.root.shape[0])
    return Piece(stage, stage, span, span, stage.leaves, (None,) * len(stage.leaves))


def _joined(known: Read, read: Read) -> Read:
    """What serves two readers; None where one of them wants everything."""
    if read is None or known is None:
        return read
    if known.axis != read.axis:
        return None
    return Span(read.axis, min(known.begin, read.begin), max(known.end, read.end))


def scratch(found: Sequence[Chunk], slides: int = 0) -> dict[str, int]:
    """Bytes that each stage's root but the last takes at most, by name, with room to slide for so many strips."""
    most: dict[str, int] = {}
    for piece in (p for chunk in found for strip in chunk.all for p in strip[:-1]):
        name = piece.stage.root.name
        size = piece.cone.root.nbytes // piece.made.length * (piece.holds.length + slides * piece.shift)
        most[name] = max(most.get(name, 0), size)
    return most
