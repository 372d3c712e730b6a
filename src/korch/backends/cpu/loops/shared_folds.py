"""Few outputs of long folds: every thread folds a part, then the parts are folded in order."""

from __future__ import annotations

import math
from collections.abc import Sequence

from korch.backends.cpu.loops.binding import Stage
from korch.backends.cpu.loops.ctypes import C_TYPES
from korch.backends.cpu.loops.fold_nests import STRIP, FoldNest, write_columns, write_rows
from korch.backends.cpu.loops.folds import Fold
from korch.backends.cpu.loops.language import c_index
from korch.backends.cpu.loops.writer import SMALL, Writer
from korch.backends.maps.index import Var

FEW, CHUNKS = 8, 16
"""Outputs, or strips of them, below which threads share what one of them adds up, and in how many parts."""


def is_shared(s: Stage, along: Var | None) -> bool:
    """Whether a fold is in chunks. This does not depend on the number of threads, one included: the order in which
    numbers are added up is the same for all."""
    if not s.reds or s.maker.spec.is_pool:
        return False
    return _strips(s, along) < FEW and s.maker.inputs[0].size > SMALL and s.reds[0].extent >= 8


def write_shared(
    writer: Writer, lines: Sequence[str], folds: Sequence[Fold], along: Var | None, parallel: bool
) -> None:
    """A fixed number of chunks, so that the result does not depend on the number of threads. A stage may have several
    such nests, each for a part of its outputs."""
    s, text = folds[0].s, writer.text
    first = s.reds[0]
    chunks = min(CHUNKS, first.extent)
    bounds = (
        f"{first.lo} + (int)(chunk * INT64_C({first.extent}) / {chunks})",
        f"{first.lo} + (int)((chunk + 1) * INT64_C({first.extent}) / {chunks})",
    )
    with text.block():
        _declare_results(writer, folds, chunks)
        if parallel:
            text.add("#pragma omp for schedule(static)")
        with text.block(f"for (int chunk = 0; chunk < {chunks}; ++chunk)"):
            nest = FoldNest(writer, lines, folds, _store_in_chunk, parallel=False, chunk=bounds)
            if along or not s.loops:
                write_rows(nest, along)
            else:
                write_columns(nest)
        if parallel:
            text.add("#pragma omp single nowait" if s.root else "#pragma omp single")
        with writer.loops(s.loops), text.block():
            for f in folds:
                _sum_up(writer, f, chunks)


def _declare_results(writer: Writer, folds: Sequence[Fold], chunks: int) -> None:
    """Room for the results of the chunks."""
    for f in folds:
        name, room = _results(f), chunks * f.s.stored
        if writer.plan.hoisted:  # each thread adds up what is its own
            writer.text.add(f"{C_TYPES[f.s.tensor.dtype]} {name}[{room}];")
        else:
            writer.buffer(f.s, room, name)


def _store_in_chunk(f: Fold, acc: str) -> str:
    """The statement that stores an accumulator into the results of the chunk."""
    return f"{_results(f)}[chunk * {f.s.stored} + {c_index(f.s.in_turn(f.s.axes))}] = {acc};"


def _sum_up(writer: Writer, f: Fold, chunks: int) -> None:
    """The chunks' results, in order."""
    name, at = _results(f), c_index(f.s.in_turn(f.s.axes))
    step = f.step(f.acc, f"{name}[chunk * {f.s.stored} + {at}]")
    writer.text.add(
        f"{f.ctype} {f.acc} = {name}[{at}];",
        f"for (int chunk = 1; chunk < {chunks}; ++chunk) {step}",
        writer.store(f.s, f.end(f.acc)),
    )


def _results(f: Fold) -> str:
    """The array of the chunks' results."""
    return f"p{f.s.number}"


def _strips(s: Stage, along: Var | None) -> int:
    """Outputs of the whole tensor, or strips of them: how many of these a nest has depends on the number of threads."""
    if along:
        return s.tensor.size
    inner = math.prod(s.maker.inputs[0].shape[max(s.maker.attr("axes")) + 1 :])
    return s.tensor.size // inner * math.ceil(inner / STRIP)
