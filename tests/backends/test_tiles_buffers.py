"""Buffers of strips: what a turn leaves in them is where the next one looks, whoever ran it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, zip_longest

import pytest

import korch.backends.cpu.tiles.backend as tiles
from korch.backends.cpu.tiles.access import ways_across
from korch.backends.cpu.tiles.emit import Parts, Slide, _each
from korch.backends.cpu.tiles.piece import Piece, Turn
from korch.backends.cpu.tiles.strips import Chunk, StripCut, chunks, row
from korch.ir import Cone
from korch.ir.ops.spans import SUMMED

from .measured import MANY_THREADS
from .test_tiles import CONES, cone_of, conv, enlarged, image, mbconv, relu, two_convolutions

Contents = dict[str, dict[int, int]]
"""Of each buffer the position of its tensor that lies in each of its places."""


def two_halos(height: int) -> Cone:
    x = image(1, height, 6, 8)
    return cone_of(conv(relu(conv(relu(conv(x, 8)), 8, 3, group=8)), 8, 5, group=8))


def around_a_resize(times: int) -> Cone:
    y = enlarged(relu(conv(image(1, 17, 16, 16), 16, 3, group=16)), 1, times)
    return cone_of(conv(y, 16, 3, group=16))


HALOS = [
    two_halos(8),
    two_halos(20),
    around_a_resize(2),
    around_a_resize(4),
    two_convolutions((1, 40, 9, 9), 2),
    mbconv((1, 33, 29, 8), 24, 9, 5, 2),
]


@pytest.mark.parametrize("threads", MANY_THREADS)
@pytest.mark.parametrize("slides", [0, 3])
def test_the_next_turn_finds_its_halo(threads: int, slides: int):
    for cone in (*HALOS, *CONES):
        for cut in cuts_of(cone):
            if found := chunks(cut, threads):
                assert followed(Parts(cone, found, {}, threads, slides)) > 0


def cuts_of(cone: Cone) -> Iterator[StripCut]:
    """Those that are tried, and low ones."""
    yield from tiles._cuts(cone)
    staged = tiles._staged(cone)
    for axis in ways_across(cone)[:1]:
        if staged and axis != SUMMED:
            each = row(staged[0], axis)
            yield from (StripCut(staged[0], axis, height * each) for height in (1, 2, 3))


def followed(parts: Parts) -> int:
    """Runs each turn after the one before it and after the same begun anew; how many were run."""
    begins, count = iter(parts.begins_at), 0
    for chunk in parts.chunks:
        before: list[Contents] = [{}]
        for turn, anew in both(chunk, parts.threads):
            slides = [list(islice(begins, len(some))) for some in (turn, anew)]
            after = [ran(parts, turn, slides[0], contents) for contents in before]
            before = [*after, ran(parts, anew, slides[1], {})] if anew else after
            count += len(before)
    return count


def both(chunk: Chunk, threads: int) -> Iterator[tuple[Turn, Turn]]:
    return zip_longest(chunk.turns, chunk.anew if threads > 1 else (), fillvalue=())


def ran(parts: Parts, turn: Turn, slides: Sequence[Mapping[str, Slide]], before: Contents) -> Contents:
    """What lies in the buffers then; each piece must find what it reads and what is kept."""
    contents = {name: dict(places) for name, places in before.items()}
    for strip, begins in zip(turn, slides, strict=True):
        at = {name: slide.begin for name, slide in begins.items()}
        for piece in strip:
            read(parts, piece, contents, at)
            if piece is not strip[-1]:
                write(parts, piece, contents.setdefault(piece.stage.root.name, {}), begins)
    return contents


def read(parts: Parts, piece: Piece, contents: Contents, at: Mapping[str, int]) -> None:
    for t, span, begin in zip(piece.leaves, piece.reads, piece.begins, strict=True):
        if t.name in parts.sizes and span is not None:
            first, places = at.get(t.name, 0) // _each(t, span.axis) - begin, contents.get(t.name, {})
            found = [places.get(first + i) for i in range(span.begin, span.end)]
            assert found == list(range(span.begin, span.end)), f"{piece.stage.root.name} reads {t.name}"


def write(parts: Parts, piece: Piece, places: dict[int, int], begins: Mapping[str, Slide]) -> None:
    name, each, holds = piece.stage.root.name, _each(piece.stage.root, piece.made.axis), piece.holds
    slide = begins.get(name, Slide(0))
    begin, moved = slide.begin // each, slide.moved // each
    if piece.kept and moved:
        places.update({begin + i: places[moved + i] for i in range(piece.kept)})
    kept = [places.get(begin + i) for i in range(piece.kept)]
    assert kept == list(range(holds.begin, piece.made.begin)), f"{name} keeps"
    assert slide.begin + holds.length * each <= parts.sizes[name], f"{name} does not fit"
    places.update({begin + i - holds.begin: i for i in range(piece.made.begin, piece.made.end)})
