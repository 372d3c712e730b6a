"""How threads share out the result of a Scatter: nobody else combines anything with what a thread owns.

Its axes are `outer` ones, the one that updates are scattered along, and `inner` ones. Every thread that owns positions
of an outer index looks at all indices there. A part of the inner axes, of whole cache lines, skips no update; with a
part of the positions, threads stay out of each other's pages. Processors that fetch a line's neighbours by themselves
need that (3000 rows of 64 added up, two threads of a Cascade Lake: 46 us by halves of the rows, 15 by positions).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from korch.backends.contract import Variant
from korch.backends.cpu.loops.emit import work
from korch.backends.cpu.loops.writer import SMALL
from korch.ir.cone import Cone
from korch.ir.primitive import Primitive

LINE = 64
"""Bytes that are read and stored at once."""
MANY = 4
"""Outer indices of each thread, so that what is left over is little."""
FEWER = 4
"""How many times fewer updates there are than positions where it is no work to skip some: what is done is to copy."""


@dataclass(frozen=True)
class Share:
    """Into how many parts the positions and the inner elements of every outer index are divided, for so many threads.

    A part of the inner elements is `width` of them, but for the last.
    """

    threads: int
    rows: int
    columns: int
    width: int

    @property
    def variant(self) -> Variant:
        return Variant("{}x{}", numbers=(self.rows, self.columns))


def scatter_of(cone: Cone) -> Primitive:
    """The one Scatter inside."""
    return next(p for p in cone.primitives if p.spec.scatters)


def extents(p: Primitive) -> tuple[int, int, int]:
    """Outer indices, updates of each along the axis, inner elements of each update."""
    axis: int = p.attr("axis")
    shape = p.inputs[2].shape
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])


def shares(cone: Cone, threads: int) -> tuple[Share, ...]:
    """The ways that are worth measuring, distinct ones."""
    return tuple({s.variant: s for s in _shares(scatter_of(cone), threads if work(cone) > SMALL else 1)}.values())


def _shares(p: Primitive, threads: int) -> Iterator[Share]:
    outer, updates, inner = extents(p)
    if outer % threads == 0 or outer >= MANY * threads:
        yield Share(threads, 1, 1, inner)
        return
    wanted = threads // math.gcd(outer, threads)
    lanes = LINE * p.output.size // p.output.nbytes
    columns = min(wanted, inner // lanes) if FEWER * updates >= p.attr("length") else 1
    width = -(-inner // columns // lanes) * lanes if columns > 1 else inner
    columns = -(-inner // width)
    most = p.attr("length")
    for rows, parts, each in ((-(-wanted // columns), columns, width), (1, columns, width), (wanted, 1, inner)):
        yield Share(min(threads, outer * min(rows, most) * parts), min(rows, most), parts, each)
