"""The loop nests of a stage that reduces, or of several that fold in the same loops."""

from __future__ import annotations

from collections.abc import Sequence

from korch.backends.cpu.loops.binding import Stage
from korch.backends.cpu.loops.extreme_places import write_extreme_places
from korch.backends.cpu.loops.fold_nests import FoldNest, vectorised_along, write_columns, write_rows
from korch.backends.cpu.loops.folds import Fold
from korch.backends.cpu.loops.nests import beside
from korch.backends.cpu.loops.pools import steers_window
from korch.backends.cpu.loops.shared_folds import is_shared, write_shared
from korch.backends.cpu.loops.writer import Writer
from korch.backends.maps.trace import Trace


def write_reduction(writer: Writer, group: tuple[Stage, ...], parallel: bool) -> None:
    """Writes the nests of `group`, shared among the threads where `parallel`."""
    s, *others = group
    if s.maker.spec.ranks:
        write_extreme_places(writer, s, parallel)
        return
    for stage, plan in writer.nests(s):
        trace, values = writer.trace(stage, plan)
        folds = [Fold(stage, values), *_beside(others, stage, trace)]
        along = vectorised_along(stage, trace)
        nest = FoldNest(writer, trace.lines, folds, lambda f, acc: writer.store(f.s, f.end(acc)), parallel)
        if is_shared(stage, along):
            write_shared(writer, trace.lines, folds, along, parallel)
        elif along or not stage.loops or steers_window(stage, stage.loops[-1]):
            write_rows(nest, along)
        else:
            write_columns(nest)


def _beside(others: Sequence[Stage], stage: Stage, trace: Trace) -> list[Fold]:
    """The folds of other stages at the same place; what they load is loaded once."""
    values = [trace.value(o.maker.inputs[0], stage.source) for o in others]
    return [Fold(beside(stage, o), [v], str(o.number)) for o, v in zip(others, values, strict=True)]
