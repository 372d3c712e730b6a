"""Strips that differ from each other only in where they lie: of most, no more than that has to be found out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from korch.backends.cpu.tiles.piece import Piece, Turn
from korch.ir.ops.spans import Read

FIRST, LAST = 4, 2
"""Turns at either end that are made in any case: the first lies at an edge, so the second keeps something else than
what comes behind it; the last may be lower than others."""

Make = Callable[[int, Turn | None], Turn | None]
"""(number, the turn before) -> the turn, which moves by so much from one to the next as long as no edge is near."""


def repeated(count: int, make: Make) -> list[Turn] | None:
    """`count` turns; None where one of them cannot be made.

    What a turn reads is affine in its place, cut off at the edges. So where a step leads from one of the first turns
    to the next, and as many of them to the last but one, it leads from each to the next in between.
    """
    found = each(min(count, FIRST), make)
    if found and len(found) == FIRST:
        found += _between(count, make, found)
    return found and each(count, make, found)


def each(count: int, make: Make, known: Sequence[Turn] = ()) -> list[Turn] | None:
    """The same, each of those behind the `known` ones made."""
    found = list(known)
    while len(found) < count:
        turn = make(len(found), found[-1] if found else None)
        if turn is None:
            return None
        found.append(turn)
    return found


def _between(count: int, make: Make, found: list[Turn]) -> list[Turn]:
    """The turns up to the last but one, by translation; none where they are not that."""
    before, turn = found[-2:]
    here, more = list(_positions(turn)), count - FIRST - LAST
    step = [b - a for a, b in zip(_positions(before), here, strict=False)]
    if more < 1 or len(step) != len(here) or _moved(before, iter(here)) != turn:
        return []
    between = [_moved(turn, (at + k * by for at, by in zip(here, step, strict=True))) for k in range(1, more + 2)]
    return between if make(count - LAST, between[-2]) == between[-1] else []


def _positions(turn: Turn) -> Iterator[int]:
    """All that says where the turn lies."""
    for piece in (p for strip in turn for p in strip):
        for read in _spans(piece):
            yield from (read.begin, read.end) if read else ()
        yield from piece.begins


def _spans(piece: Piece) -> tuple[Read, ...]:
    return (piece.holds, piece.made, *piece.reads)


def _moved(turn: Turn, positions: Iterator[int]) -> Turn:
    """The turn where it lies at other positions."""
    return tuple(tuple(_piece(piece, positions) for piece in strip) for strip in turn)


def _piece(piece: Piece, positions: Iterator[int]) -> Piece:
    spans = [r and replace(r, begin=next(positions), end=next(positions)) for r in _spans(piece)]
    holds, made, reads = spans[0], spans[1], tuple(spans[2:])
    assert holds and made
    return replace(piece, holds=holds, made=made, reads=reads, begins=tuple(next(positions) for _ in piece.begins))
