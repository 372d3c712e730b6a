"""A stage narrowed to what one strip needs of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from korch.backends.cpu.loops.binding import Place
from korch.backends.cpu.tiles.access import part
from korch.ir.cone import Cone
from korch.ir.ops.spans import Part, Read, Span, narrowed, outermost
from korch.ir.primitive import Primitive, freeze
from korch.ir.tensor import Tensor


@dataclass(frozen=True)
class Piece:
    """A stage for one strip: the narrowed `cone`, and what it reads of its `leaves`.

    Its buffer holds the span `holds` of the stage's root. Of that the cone computes `made`; what comes before is kept
    from the strip before, in whose buffer it begins at position `shift`. `place`: where a part of the cone's root lies
    that is no one piece of memory, or of a tensor that outgrows caches. `across`: of a strip of a band, where that lies
    in each of the leaves and in the root, which buffers hold as far as the band needs them. `begins`: with which
    positions the buffers of the leaves begin.
    """

    cone: Cone
    stage: Cone
    holds: Span
    made: Span
    leaves: tuple[Tensor, ...]
    reads: tuple[Read, ...]
    shift: int = 0
    place: Place | None = None
    across: tuple[Read, ...] = ()
    begins: tuple[int, ...] = ()

    @cached_property
    def key(self) -> str:
        """Pieces with one key are computed by the same code."""
        return f"{self.cone.signature} {self.place or ''}".strip()

    @cached_property
    def kernel(self) -> str:
        """Pieces with one of these have one kernel: the code, prepared for some constants. Two convolutions of a chain
        may be alike but for their weights."""
        return " ".join((self.key, *(t.name for t in self.leaves if t.const)))

    @property
    def whole(self) -> bool:
        """Whether what is made is one piece of memory."""
        return self.place is None or self.place.outermost

    @property
    def kept(self) -> int:
        """Positions that are kept."""
        return self.made.begin - self.holds.begin


Strip = tuple[Piece, ...]
"""One piece a stage. Where some stages run for less than a strip at a time, those pieces are strips of their own, which
read what the strip before them left."""
Turn = tuple[Strip, ...]
"""What a thread runs without a break: a strip, and such strips behind it as read what it left."""


def narrow(stage: Cone, holds: Span, made: Span, roots: Collection[Tensor] = ()) -> Piece | None:
    """The stage for the span `made` of its root; None where a primitive in it would need more of something than
    another, or a span of a constant, which kernels pack as a whole. `roots` lie in buffers of their own."""
    reads: dict[Tensor, Read] = {stage.root: made}
    parts: dict[Primitive, Part] = {}
    for p in reversed(stage.primitives):
        found = _part(p, reads[p.output])
        if found is None:
            return None
        parts[p] = found
        for t, read in zip(p.inputs, found.reads, strict=True):
            if reads.setdefault(t, read) != read:
                return None
    if any(t.const and reads[t] for t in stage.leaves):
        return None
    small = {t: _small(t, reads[t]) for t in stage.leaves}
    order = {s: t for t, s in small.items()}
    views = [_seen(t, s) for t, s in small.items() if s != t and t not in roots and not is_one_piece(t, reads[t])]
    narrower = [q for p in stage.primitives for q in [_restricted(p, parts[p], reads[p.output], small)]]
    if not all(narrower):
        return None
    cone = Cone.of((*views, *(q for q in narrower if q)))
    leaves = tuple(order.get(s, s) for s in cone.leaves)
    return Piece(cone, stage, holds, made, leaves, tuple(reads[t] for t in leaves))


def is_one_piece(t: Tensor, read: Read) -> bool:
    """Whether what is read lies together in memory."""
    return read is None or read.axis == outermost(t.shape)


def _seen(t: Tensor, small: Tensor) -> Primitive:
    """The first positions of `t`, which a span of an inner axis is for a kernel that is told where it begins."""
    rank = t.rank
    attrs = {"starts": (0,) * rank, "steps": (1,) * rank, "lengths": small.shape}
    return Primitive("Slice", (t,), small, freeze(attrs))


def _part(p: Primitive, span: Read) -> Part | None:
    if span is None:
        return Part((None,) * len(p.inputs), dict(p.attrs))
    return part(p, span)


def _small(t: Tensor, read: Read) -> Tensor:
    return t if read is None else Tensor(t.name, t.dtype, narrowed(t.shape, read), t.const, t.value)


def _restricted(p: Primitive, found: Part, span: Read, small: dict[Tensor, Tensor]) -> Primitive | None:
    """`p` over the narrowed inputs; None where its operator does not come to the shape that is wanted."""
    inputs = tuple(small[t] for t in p.inputs)
    try:
        dtype, shape = p.spec.infer(inputs, found.attrs)
    except ValueError:
        return None
    if shape != narrowed(p.output.shape, span):
        return None
    small[p.output] = Tensor(p.output.name, dtype, shape)
    return Primitive(p.op, inputs, small[p.output], freeze(found.attrs), p.error, p.origin, p.rule)
