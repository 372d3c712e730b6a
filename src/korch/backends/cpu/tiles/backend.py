"""The `tiles` backend: cones of several linear primitives, strip by strip (DESIGN.md, "Backends")."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from math import inf
from pathlib import Path

import korch.backends.cpu
from korch.backends.contract import Backend, Declined, Kernel
from korch.backends.cpu.loops.backend import BACKEND as LOOPS
from korch.backends.cpu.onednn.backend import BACKEND as ONEDNN
from korch.backends.cpu.tiles.access import outermost
from korch.backends.cpu.tiles.emit import Parts, emit
from korch.backends.cpu.tiles.stages import costly, stages, taker
from korch.backends.cpu.tiles.strips import Chunk, chunks, quantum, sample, scratch
from korch.backends.footprint import footprint
from korch.backends.libraries import code_digest
from korch.ir.cone import Cone
from korch.ir.macs import total
from korch.ir.primitive import Primitive
from korch.machine import Machine

STAGES: tuple[Backend, ...] = (ONEDNN, LOOPS)
_ASKED = "SC_LEVEL2_CACHE_SIZE"
L2 = max(os.sysconf(_ASKED) if _ASKED in os.sysconf_names else 0, 0) or 1 << 20
"""Bytes of a core's second-level cache, as far as the system tells."""
BUDGETS = (L2, 4 * L2)
"""Bytes of scratch a thread that are worth trying: the second-level cache, and a share of the third."""
WEIGHTS = 4 * L2
"""Bytes of constants, which strip after strip reads again: more would be no better than their own kernels."""
FORMS = (("loops",), ("jit_dw", "loops"))
"""What is asked for where several kernels could be a stage: parts of their names, the dearest wish first. The second is
worth a try for depthwise convolutions that move by more than one position."""

Stages = tuple[Cone, ...]


class Tiles:
    """Several linear primitives whose intermediates stay in a cache; each strip runs on one thread."""

    name = "tiles"
    fallback = False

    @property
    def version(self) -> str:
        return " ".join((ONEDNN.version, *(code_digest(Path(korch.backends.cpu.__path__[0]) / b.name) for b in STAGES)))

    def declines(self, cone: Cone) -> Declined | None:
        if len(cone.linear) < 2:
            return Declined(f"has {len(cone.linear)} linear primitives; tiles take two and more")
        if cone.exports:
            return Declined("tiles store one tensor")
        if sum(t.nbytes for t in cone.leaves if t.const) > WEIGHTS:
            return Declined("has more weights than are worth reading for every strip")
        if not _cut(cone):
            return Declined("its stages cannot be narrowed to strips that fit a cache")
        return None

    def bound(self, cone: Cone, machine: Machine) -> float:
        """Arithmetic at peak, or leaves and root moved once at the best bandwidth."""
        moved, _ = footprint(cone)
        return machine.roofline(2 * total(cone.linear), moved)

    def build(self, cone: Cone, threads: int) -> tuple[Kernel, ...]:
        """One kernel a height of the strips and form of the stages."""
        cut = [chunks(cone, staged, height, threads) for staged, height in _cut(cone)]
        forms = FORMS if any(_strided(p) for p in cone.linear) else FORMS[:1]
        kernels = [_kernel(cone, found, form, threads) for found in cut if found for form in forms]
        return tuple({k.source: k for k in kernels}.values())


BACKEND = Tiles()


def _strided(p: Primitive) -> bool:
    return p.op == "Conv" and p.attr("group") > 1 and max(p.attr("strides")) > 1


@lru_cache(maxsize=1024)
def _cut(cone: Cone) -> tuple[tuple[Stages, int], ...]:
    """The stages, costly functions apart or not, and the heights of strips that are worth trying."""
    ways = [stages(cone, STAGES, apart) for apart in ((False, True) if costly(cone) else (False,))]
    return tuple((staged, h) for staged in ways if staged and len(staged) > 1 for h in _heights(cone, staged))


def _heights(cone: Cone, staged: Stages) -> list[int]:
    """The largest for each budget."""
    rows = cone.root.shape[outermost(cone.root.shape)]
    heights = [quantum(cone) << k for k in range(rows.bit_length()) if 2 * (quantum(cone) << k) <= rows]
    sizes: dict[int, float] = {}
    while heights and min(sizes.values(), default=inf) > min(BUDGETS):
        h = heights.pop()
        sizes[h] = _size(cone, staged, h)
    best = [max((h for h, size in sizes.items() if size <= budget), default=0) for budget in BUDGETS]
    return [h for h in dict.fromkeys(best) if h]


def _size(cone: Cone, staged: Stages, height: int) -> float:
    """Bytes of a thread's scratch; infinite where a stage cannot be narrowed, or nobody takes it then."""
    found = sample(cone, staged, height)
    if found is None or not all(_taken(signature, c) for signature, c in _stages(found).items()):
        return inf
    return sum(scratch(found).values())


_TAKEN: dict[str, bool] = {}


def _taken(signature: str, cone: Cone) -> bool:
    """Whether some backend builds the narrowed stage: the same ones turn up in strip after strip, chain after chain."""
    if signature not in _TAKEN:
        _TAKEN[signature] = taker(cone, STAGES) is not None
    return _TAKEN[signature]


def _stages(found: Sequence[Chunk]) -> dict[str, Cone]:
    """The distinct narrowed stages by signature."""
    return {piece.cone.signature: piece.cone for chunk in found for strip in chunk for piece in strip}


def _kernel(cone: Cone, found: tuple[Chunk, ...], form: Sequence[str], threads: int) -> Kernel:
    kernels = {signature: _stage(c, form) for signature, c in _stages(found).items()}
    code = emit(Parts(cone, found, kernels, threads))
    first, used = found[0][0], kernels.values()
    names = [f"{k.backend} {k.variant}".strip() for k in (kernels[piece.cone.signature] for piece in first)]
    variant = f"{first[-1].made.length} rows: {', '.join(names)}"
    return Kernel(cone, Tiles.name, code.source, code.workspace, variant,
                  headers=tuple(dict.fromkeys(h for k in used for h in k.headers)),
                  libraries=tuple(dict.fromkeys(n for k in used for n in k.libraries)))  # fmt: skip


def _stage(cone: Cone, form: Sequence[str]) -> Kernel:
    """The kernel of a narrowed stage on one thread: one of that form, or the first."""
    kernels = [k for b in STAGES if b.declines(cone) is None for k in b.build(cone, 1)]
    return next((k for wish in form for k in kernels if wish in f"{k.backend} {k.variant}"), kernels[0])
