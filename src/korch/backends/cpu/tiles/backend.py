"""The `tiles` backend: cones of several linear primitives, strip by strip (docs/tiles.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from math import inf
from pathlib import Path

import korch.backends.cpu
from korch.backends.contract import Backend, Kernel, Refusal, StageVariant, Variant
from korch.backends.cpu.loops.backend import BACKEND as LOOPS
from korch.backends.cpu.loops.bounds import checks
from korch.backends.cpu.loops.caches import L2, SCRATCH
from korch.backends.cpu.onednn.backend import BACKEND as ONEDNN
from korch.backends.cpu.onednn.convolution import DEPTHWISE_FORM
from korch.backends.cpu.tiles.access import length_along, ways_across
from korch.backends.cpu.tiles.emit import Parts, emit
from korch.backends.cpu.tiles.piece import Piece, Turn
from korch.backends.cpu.tiles.stages import costly, stages, taker
from korch.backends.cpu.tiles.strips import Chunk, StripCut, chunks, keeping, quantum, row, sample, scratch
from korch.backends.footprint import footprint
from korch.backends.libraries import backend_digest
from korch.ir.cone import Cone
from korch.ir.macs import total
from korch.ir.ops.spans import SUMMED
from korch.ir.primitive import Primitive
from korch.machine import Machine

STAGES: tuple[Backend, ...] = (ONEDNN, LOOPS)
BUDGETS = (L2 // 4, L2)
"""Bytes of scratch a thread that are worth trying. The lower ones where strips have nothing in common: attention takes
4.15 ms with 0.3 MB, 4.45 with 2.2. Up to `SCRATCH` where they share a halo, which short strips move, compute or read
more often (5x5 depthwise, groups of 16, keys by values of 128 x 128 x 192: 5.6 ms in rows, 5.0 in four), or where less
will not do."""
BANDS = {4: 64, 2: 32}
"""Bands instead of longer strips, by how many positions each must have: so many times as high strips move that much
less of the halo. (MBConv of 1024 x 1024 x 16: 20.1 -> 16.3 ms, of 512 x 512 x 24 17.4 -> 15.5, of 128 x 128 x 96 9.7 ->
9.35, with four bands 9.5.)"""
STEP = 2
"""Positions for which what follows the last halo runs at a time. (MBConv of 128 x 128 x 96: 9.25 -> 8.6 ms, of 256 x
256 x 48 10.7 -> 10.0, of 1024 x 1024 x 16 16.1 -> 15.5; what ends in a concat with the expanded, 6.7 -> 6.15.)"""
SLIDES = 4
"""Strips for which a buffer slides through memory before its halo moves, worth a try where that moves as much as a
strip makes. (5x5 by 2 of 1024 x 1024 x 64, strips of one row: 33.8 -> 30.8 ms with 512 KB of second-level cache, 5x5 of
512 x 512 x 96 27.9 -> 26.7. With more of it 13.9 -> 15.2 was seen, for 384 channels: what stays where it is leaves the
cache.)"""
WEIGHTS = 4 * L2
"""Bytes of constants, which strip after strip reads again: more would be no better than their own kernels."""
GENERATED, DEPTHWISE = (LOOPS.name, ""), (ONEDNN.name, DEPTHWISE_FORM)
FORMS = ((GENERATED,), (DEPTHWISE, GENERATED))
"""Preferences where several kernels could be a stage: a backend and the form of its variant, the first one preferred.
The second is worth a try for depthwise convolutions that move by more than one position."""

Stages = tuple[Cone, ...]
Wishes = tuple[tuple[str, str], ...]


class Tiles:
    """Several linear primitives whose intermediates stay in a cache; each strip runs on one thread."""

    name = "tiles"
    fallback = False

    @property
    def version(self) -> str:
        return " ".join(
            (ONEDNN.version, *(backend_digest(Path(korch.backends.cpu.__path__[0]) / b.name) for b in STAGES))
        )

    def refuses(self, cone: Cone) -> Refusal | None:
        if len(cone.linear) < 2:
            return Refusal(f"has {len(cone.linear)} linear primitives; tiles take two and more")
        if checks(cone):
            return Refusal("has indices to check")
        if sum(t.nbytes for t in cone.leaves if t.const) > WEIGHTS:
            return Refusal("has more weights than are worth reading for every strip")
        if not any(_can_be_cut(cone, staged) for staged in _staged(cone)):
            return Refusal("its stages cannot be narrowed to strips that fit a cache")
        return None

    def bound(self, cone: Cone, machine: Machine) -> float:
        """Arithmetic at peak, or leaves and root moved once at the best bandwidth."""
        moved, _ = footprint(cone)
        return machine.roofline(2 * total(cone.linear), moved)

    def build(self, cone: Cone, threads: int) -> tuple[Kernel, ...]:
        """One kernel a height of the strips, form of the stages and way to keep a halo."""
        forms = FORMS if any(_strided(p) for p in cone.linear) else FORMS[:1]
        found = [(cut, _shared_out(cut, threads)) for cut in _cuts(cone)]
        kernels = [
            _kernel(cone, cut, some, form, threads, slides)
            for cut, some in found
            if some
            for form in forms
            for slides in _slides(some)
        ]
        return tuple({k.body: k for k in kernels}.values())


BACKEND = Tiles()


def _strided(p: Primitive) -> bool:
    return p.spec.is_convolution and p.attr("group") > 1 and max(p.attr("strides")) > 1


@lru_cache(maxsize=1024)
def _staged(cone: Cone) -> tuple[Stages, ...]:
    """The stages, costly functions as separate stages or not."""
    ways = [stages(cone, STAGES, separate) for separate in ((False, True) if costly(cone) else (False,))]
    return tuple(staged for staged in ways if staged and len(staged) > 1)


def _can_be_cut(cone: Cone, staged: Stages) -> bool:
    """Whether strips of some height will do, the lowest first."""
    return any(
        _size(StripCut(staged, axis, height)) <= SCRATCH
        for axis in ways_across(cone)
        for height in _heights(cone, staged, axis)
    )


def _heights(cone: Cone, staged: Stages, axis: int) -> list[int]:
    """Of strips of which there are two and more."""
    rows, least = length_along(cone, axis), quantum(cone) * row(staged, axis)
    return [least << k for k in range(rows.bit_length()) if 2 * (least << k) <= rows]


@lru_cache(maxsize=1024)
def _cuts(cone: Cone) -> tuple[StripCut, ...]:
    """Along the first axis that will do, in strips as high as is worth trying."""
    return tuple(cut for staged in _staged(cone) for cut in _best(cone, staged))


def _best(cone: Cone, staged: Stages) -> list[StripCut]:
    return next(filter(None, (_highest(cone, staged, axis) for axis in ways_across(cone))), list[StripCut]())


def _highest(cone: Cone, staged: Stages, axis: int) -> list[StripCut]:
    """The highest strips for each budget; where they share a halo, in bands or steps if these will do."""
    heights = _heights(cone, staged, axis)
    sizes: dict[StripCut, float] = {}
    budgets, kept = BUDGETS, False
    while heights and min(sizes.values(), default=inf) > budgets[0]:
        cut = StripCut(staged, axis, heights.pop())
        if found := _narrowed(cut):
            sizes[cut] = sum(scratch(found).values())
            kept = any(piece.kept for piece in _all(found))
            budgets = (L2, SCRATCH) if kept or _reads_again(found) else BUDGETS
    best = [next((cut for cut, size in sizes.items() if size <= budget), None) for budget in budgets]
    if kept:
        banded = _banded(staged, axis, [cut.height for cut in sizes])
        better = next(_stepped([banded] if banded else sizes), banded)
        best = [better] if better else best
    least = next((cut for cut, size in sizes.items() if size <= SCRATCH), None)
    return [cut for cut in dict.fromkeys(best if any(best) else [least]) if cut]


def _reads_again(found: Sequence[Chunk]) -> bool:
    """Whether a strip reads of a leaf what the one before has read of it: windows."""
    pairs = [(a, b) for chunk in found for before, strip in pairwise(chunk.strips) for a, b in zip(before, strip)]
    reads = [(x, y) for a, b in pairs if a.leaves == b.leaves for x, y in zip(a.reads, b.reads, strict=True)]
    return any(x and y and x.begin < y.begin < x.end for x, y in reads)


def _banded(staged: Stages, axis: int, heights: Sequence[int]) -> StripCut | None:
    """The highest strips of bands that a core's cache holds, of all `heights` from the lowest one on, the last."""
    root, found = staged[-1].root, list[StripCut]()
    across = root.shape[axis + 1] if axis != SUMMED and axis + 2 < root.rank else 0
    bands = next((n for n, wide in BANDS.items() if across % n == 0 and across >= n * wide), 0)
    for height in reversed(heights if bands else ()):
        cut = StripCut(staged, axis, height, bands)
        if _size(cut) > L2:
            break
        found.append(cut)
    return found[-1] if found else None


def _stepped(cuts: Iterable[StripCut]) -> Iterator[StripCut]:
    """Those of the cuts that a core's cache holds with the later stages in steps, where there is much to hold."""
    for cut in cuts:
        finer = replace(cut, step=max(quantum(cut.stages[-1]), STEP) * row(cut.stages, cut.axis))
        several = cut.height > finer.step and len(cut.stages) - keeping(cut) > 1
        if several and _size(cut) > BUDGETS[0] and _size(finer) <= L2:
            yield finer


def _size(cut: StripCut) -> float:
    """Bytes of scratch a thread; infinitely many where a stage cannot be narrowed."""
    found = _narrowed(cut)
    return sum(scratch(found).values()) if found else inf


def _narrowed(cut: StripCut) -> tuple[Chunk, ...] | None:
    """A few of the strips; None where a stage cannot be narrowed, or nobody takes it then."""
    found = sample(cut)
    return found if found and all(map(_taken, _pieces(found).values())) else None


def _shared_out(cut: StripCut, threads: int) -> tuple[Chunk, ...] | None:
    """The strips of all threads, in equal shares if somebody takes the lower strips that make them so."""
    equal = chunks(cut, threads)
    return equal if equal and all(map(_taken, _pieces(equal).values())) else chunks(cut, threads, equal=False)


_TAKEN: dict[str, bool] = {}


def _taken(piece: Piece) -> bool:
    """Whether some backend builds the narrowed stage: the same ones turn up in strip after strip, chain after chain."""
    if piece.key not in _TAKEN:
        _TAKEN[piece.key] = _placed(piece) or (piece.whole and taker(piece.cone, STAGES) is not None)
    return _TAKEN[piece.key]


def _placed(piece: Piece) -> bool:
    """Whether the loops put the piece at a place of its own."""
    return piece.place is not None and LOOPS.places(piece.cone, piece.place)


def _pieces(found: Sequence[Chunk]) -> dict[str, Piece]:
    """One of the pieces for every kernel."""
    return {piece.kernel: piece for piece in _all(found)}


def _all(found: Sequence[Chunk]) -> Iterator[Piece]:
    """The pieces of chunks that nobody helps with."""
    return (piece for chunk in found for strip in chunk.strips for piece in strip)


def _slides(found: Sequence[Chunk]) -> tuple[int, ...]:
    """For how many strips buffers may slide: none, or some where strips that a core's cache holds move that much."""
    moves = any(piece.kept >= piece.made.length for piece in _all(found) if piece.kept)
    return (0, SLIDES) if moves and sum(scratch(found).values()) <= L2 else (0,)


def _kernel(cone: Cone, cut: StripCut, found: tuple[Chunk, ...], form: Wishes, threads: int, slides: int) -> Kernel:
    kernels = {key: _stage(piece, form) for key, piece in _pieces(found).items()}
    code = emit(Parts(cone, tuple(_restartable(kernels, chunk) for chunk in found), kernels, threads, slides))
    first = found[0].strips[0]
    return Kernel(cone, Tiles.name, _variant(cut, [kernels[piece.kernel] for piece in first], slides > 0), code)


def _variant(cut: StripCut, stage_kernels: Iterable[Kernel], slides: bool) -> Variant:
    each = row(cut.stages, cut.axis)
    sizes = {"{} rows": cut.height // each, "of {} bands": cut.bands if cut.bands > 1 else 0, "by {}": cut.step // each}
    given = {words: n for words, n in sizes.items() if n}
    form = " ".join([*given, *["sliding"] * slides])
    stages = tuple(StageVariant(k.variant, k.backend) for k in stage_kernels)
    return Variant(form, numbers=tuple(given.values()), stages=stages)


def _restartable(kernels: Mapping[str, Kernel], chunk: Chunk) -> Chunk:
    """The chunk, whose turns are begun anew only where that needs no more kernels than these and changes no bit: a
    library may add up in another order for another number of rows."""
    generated = {key for key, k in kernels.items() if k.backend == LOOPS.name}

    def kept(turn: Turn, anew: Turn) -> Turn:
        usual = {p.kernel for strip in turn for p in strip}
        return anew if all(p.kernel in usual | generated for strip in anew for p in strip) else ()

    return replace(chunk, anew=tuple(map(kept, chunk.turns, chunk.anew)))


_STAGES = dict[tuple[str, Wishes], Kernel]()
MOST_STAGES = 1024
"""Kernels of stages that are remembered: the same turn up in strips of several heights and in chains that share a
link, two of three times."""


def _stage(piece: Piece, form: Wishes) -> Kernel:
    """The kernel of a narrowed stage on one thread: one of that form, or the first."""
    key = piece.key, form
    if key not in _STAGES:
        if len(_STAGES) == MOST_STAGES:
            _STAGES.clear()
        _STAGES[key] = _stage_kernel(piece, form)
    return _STAGES[key]


def _stage_kernel(piece: Piece, form: Wishes) -> Kernel:
    placed = LOOPS.placed(piece.cone, piece.place) if piece.place and _placed(piece) else None
    if placed and (form == FORMS[0] or not piece.whole):
        return placed
    kernels = [k for b in STAGES if b.refuses(piece.cone) is None for k in b.build(piece.cone, 1)]
    wishes = form[:1] if placed else form
    wished = (k for wish in wishes for k in kernels if wish == (k.backend, k.variant.form))
    return next(wished, placed or kernels[0])
