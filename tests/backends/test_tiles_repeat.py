"""Strips found by translation are those that narrowing every one gives."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.marks import slow_but_every

import korch.backends.cpu.tiles.strips as strips
from korch.backends.cpu.tiles.access import ways_across
from korch.backends.cpu.tiles.backend import STAGES
from korch.backends.cpu.tiles.piece import Turn
from korch.backends.cpu.tiles.repeat import FIRST, LAST, Make, each, repeated
from korch.backends.cpu.tiles.stages import stages
from korch.backends.cpu.tiles.strips import StripCut, chunks, quantum, row
from korch.ir import Cone
from korch.ir.ops.spans import Span

from .measured import THREADS
from .test_tiles import CONES, mbconv

Spans = Sequence[Span]


def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strips, "repeated", each)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("cone", slow_but_every(4, CONES), ids=lambda c: str(c.root.shape))
def test_the_same_turns(cone: Cone, threads: int, monkeypatch: pytest.MonkeyPatch):
    staged = stages(cone, STAGES)
    assert staged
    height = quantum(cone)
    cuts = [
        StripCut(staged, axis, k * height * row(staged, axis), bands, step * row(staged, axis))
        for axis in ways_across(cone)
        for k in (1, 2)
        for bands in (1, 3)
        for step in (0, height)
        if bands == 1 or (0 <= axis < cone.root.rank - 2 and cone.root.shape[axis + 1] % bands == 0)
    ]
    quick = [chunks(cut, threads) for cut in cuts]
    one_by_one(monkeypatch)
    assert quick == [chunks(cut, threads) for cut in cuts] and any(quick)


def made(spans: Spans, staged: tuple[Cone, ...], monkeypatch: pytest.MonkeyPatch) -> tuple[Turn, int]:
    """The strips of `spans`, and how many of them were narrowed."""
    narrowed: list[int] = []

    def counted(count: int, make: Make) -> list[Turn] | None:
        return repeated(count, lambda i, before: narrowed.append(i) or make(i, before))

    monkeypatch.setattr(strips, "repeated", counted)
    found = strips._strips(staged, spans)
    one_by_one(monkeypatch)
    assert found == strips._strips(staged, spans)
    return found, len(narrowed)


def spans_of(heights: Sequence[int]) -> Spans:
    begins = [sum(heights[:i]) for i in range(len(heights))]
    return [Span(1, b, b + h) for b, h in zip(begins, heights, strict=True)]


@pytest.mark.parametrize(
    ("heights", "narrowed"),
    [
        ((4,) * 16, FIRST + LAST),
        ((4,) * 15 + (3,), FIRST + LAST),
        ((4,) * 6, 6),
        ((4,) * 7, FIRST + LAST),
        ((4, 4, 4, 4, 8, 4, 4, 4, 4), 9 + 1),  # the last but one shows that what is between is no translation
        ((4, 4, 8, 4, 4, 4, 4, 4, 4), 9),
    ],
)
def test_only_what_cannot_be_told_is_narrowed(heights: tuple[int, ...], narrowed: int, monkeypatch: pytest.MonkeyPatch):
    staged = stages(mbconv((1, sum(heights), 16, 8), 24, 8, 3, 1), STAGES)
    assert staged
    found, count = made(spans_of(heights), staged, monkeypatch)
    assert (len(found), count) == (len(heights), narrowed)
