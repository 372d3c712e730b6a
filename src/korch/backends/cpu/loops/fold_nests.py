"""The loop nests of folds: along memory into one accumulator an output, or across it into a strip of them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass

from korch.backends.cpu.c import Statements
from korch.backends.cpu.loops.binding import Stage
from korch.backends.cpu.loops.folds import Fold
from korch.backends.cpu.loops.pools import window_bounds
from korch.backends.cpu.loops.writer import Writer
from korch.backends.maps.index import Var
from korch.backends.maps.trace import Trace

STRIP = 256
"""Accumulators of a reduction that runs across the contiguous axis."""
LANES = {32: 64, 16: 16}
"""Sums side by side along it, and the numbers from which on. (Layer normalisation of 32, 64, 160, 256 and 1024 numbers:
8, 12, 26, 38 and 262 ns a row; 18, 25, 44, 56 and 286 as the compiler does it. For maxima compilers do better: softmax
of 49, 128 and 1024 numbers takes 95, 70 and 169 us their way and 102, 82 and 200 so.)"""


@dataclass(frozen=True)
class AccumulatorStrip:
    """Neighbouring outputs along the loop `v`, `length` at a time."""

    v: Var
    length: int

    @staticmethod
    def along(v: Var) -> AccumulatorStrip:
        return AccumulatorStrip(v, min(STRIP, v.extent))

    @property
    def whole(self) -> bool:
        """Whether it is all outputs of the loop."""
        return self.length == self.v.extent

    @property
    def bounds(self) -> tuple[str, str]:
        """The first output and the end, in C."""
        return (str(self.v.lo), str(self.v.hi)) if self.whole else (f"{self.v.name}0", f"{self.v.name}1")

    @property
    def at(self) -> str:
        """The C of an output's subscript."""
        return f"[{self.v.name} - {self.bounds[0]}]"

    def declare(self, text: Statements, ctype: str, name: str) -> None:
        """Declares an array of that many accumulators."""
        text.add(_array(ctype, name, self.length))

    def sweep(self, writer: Writer, body: Iterable[str]) -> None:
        """The vector loop over the outputs of the strip."""
        sweep(writer, self.v, *self.bounds, body)


Store = Callable[[Fold, str], str]
"""The statement that stores an accumulator of a fold."""


@dataclass(frozen=True)
class FoldNest:
    """One loop nest of `folds`. Each turn of it begins with the statements `lines`. `chunk`: the part of the outermost
    reduced loop, in C, where it is not whole."""

    writer: Writer
    lines: Sequence[str]
    folds: Sequence[Fold]
    store: Store
    parallel: bool
    chunk: tuple[str, str] | None = None

    @property
    def s(self) -> Stage:
        """The stage whose loops they are."""
        return self.folds[0].s

    @property
    def text(self) -> Statements:
        return self.writer.text

    def bounds(self, v: Var) -> tuple[str, str]:
        """The part of a reduced loop, in C."""
        return self.chunk if self.chunk and v == self.s.reds[0] else window_bounds(self.s, v)

    def loop(self, v: Var) -> AbstractContextManager[None]:
        """A reduced loop."""
        return self.writer.loop(v, *self.bounds(v))


# along memory


def write_rows(nest: FoldNest, along: Var | None) -> None:
    """Folds into one accumulator an output; `along` contiguous memory in vectors."""
    s, text, folds = nest.s, nest.text, nest.folds
    with outer_loops(nest.writer, s.loops, nest.parallel):
        text.add(*(f"{f.ctype} {f.acc} = {f.start};" for f in folds))
        with ExitStack() as loops:
            for v in s.reds:
                if v != along:
                    loops.enter_context(nest.loop(v))
            if along:
                _add_vectors(nest, along)
            else:
                text.add(*nest.lines, *(line for f in folds for line in f.steps(f.acc)))
        text.add(*(nest.store(f, f.acc) for f in folds))


def _add_vectors(nest: FoldNest, along: Var) -> None:
    """Folds along contiguous memory, as vectors."""
    if lanes := _lanes(nest.folds, along):
        _add_lanes(nest, along, lanes)
        return
    text, folds = nest.text, nest.folds
    opened = [f.part_opened() for f in folds]
    text.add(*(line for lines, _ in opened for line in lines))
    text.add(f"#pragma omp simd {' '.join(clause for _, clause in opened)}")
    with nest.loop(along):
        text.add(*nest.lines, *(line for f in folds for line in f.part_steps()))
    text.add(*(f.part_closed() for f in folds))


def _add_lanes(nest: FoldNest, along: Var, lanes: int) -> None:
    """So many sums side by side, added up in pairs. (Compilers add up the lanes of a reduction one after the other,
    which takes longer than all else of a short row.)"""
    v, (lo, hi), text, folds = along.name, nest.bounds(along), nest.text, nest.folds
    text.add(f"const int {v}1 = {lo} + ({hi} - ({lo})) / {lanes} * {lanes};")
    text.add(*(_array(f.ctype, f.part, lanes, " = {0}") for f in folds))
    folded = [line for f in folds for line in f.steps(f"{f.part}[{v} - {v}0]")]
    with text.block(f"for (int {v}0 = {lo}; {v}0 < {v}1; {v}0 += {lanes})"):
        sweep(nest.writer, along, f"{v}0", f"{v}0 + {lanes}", [*nest.lines, *folded])
    if nest.chunk == (lo, hi) or along.extent % lanes:
        folded = [line for f in folds for line in f.steps(f"{f.part}[{v} - {v}1]")]
        sweep(nest.writer, along, f"{v}1", hi, [*nest.lines, *folded])
    text.add(*(f.step(f.acc, f"korch_sum{lanes}({f.part})") for f in folds))


# across memory


def write_columns(nest: FoldNest) -> None:
    """Folds into a strip of accumulators along the contiguous axis."""
    s, writer, strip = nest.s, nest.writer, AccumulatorStrip.along(nest.s.loops[-1])
    with outer_loops(writer, s.loops[:-1], nest.parallel, strip):
        for f in nest.folds:
            strip.declare(nest.text, f.ctype, f.acc)
        strip.sweep(writer, [f"{f.acc}{strip.at} = {f.start};" for f in nest.folds])
        with ExitStack() as loops:
            for v in s.reds[:-1]:
                loops.enter_context(nest.loop(v))
            if _needs_parts(nest):
                for f in nest.folds:
                    strip.declare(nest.text, f.ctype, f.part)
                strip.sweep(writer, [f"{f.part}{strip.at} = {f.start};" for f in nest.folds])
                _fold_strip(nest, strip, [f.part for f in nest.folds])
                strip.sweep(writer, [f.step(f.acc + strip.at, f.part + strip.at) for f in nest.folds])
            else:
                _fold_strip(nest, strip, [f.acc for f in nest.folds])
        strip.sweep(writer, [nest.store(f, f.acc + strip.at) for f in nest.folds])


def _needs_parts(nest: FoldNest) -> bool:
    """Whether the innermost reduced loop has partial accumulators: sums of sums err less than one long sum."""
    reds = nest.s.reds
    return len(reds) > 1 and all(f.omp in ("+", "*") for f in nest.folds) and all(v.extent >= 8 for v in reds[-2:])


def _fold_strip(nest: FoldNest, strip: AccumulatorStrip, into: Sequence[str]) -> None:
    """The innermost reduced loop, which folds into the arrays of those names."""
    folded = [line for f, name in zip(nest.folds, into, strict=True) for line in f.steps(name + strip.at)]
    with ExitStack() as loop:
        if nest.s.reds:
            loop.enter_context(nest.loop(nest.s.reds[-1]))
        strip.sweep(nest.writer, [*nest.lines, *folded])


# around both


@contextmanager
def outer_loops(
    writer: Writer, loops: tuple[Var, ...], parallel: bool, strip: AccumulatorStrip | None = None
) -> Generator[None]:
    """The loops over outputs and their strips, shared out to the threads where `parallel`; a block where there are
    none."""
    text, strips = writer.text, strip if strip and not strip.whole else None
    depth = len(loops) + (strips is not None)
    if parallel and depth:
        text.add(f"#pragma omp for schedule(static) nowait collapse({depth})")
    elif parallel:
        text.add("#pragma omp single nowait")
    with ExitStack() as blocks:
        blocks.enter_context(writer.loops(loops))
        if strips is not None:
            v, n = strips.v, strips.v.name
            blocks.enter_context(text.block(f"for (int {n}0 = {v.lo}; {n}0 < {v.hi}; {n}0 += {STRIP})"))
            text.add(f"const int {n}1 = KORCH_MIN({n}0 + {STRIP}, {v.hi});")
        if not depth:
            blocks.enter_context(text.block())
        yield


def sweep(writer: Writer, v: Var, lo: str, hi: str, body: Iterable[str]) -> None:
    """The vector loop over `v` from `lo` to `hi`."""
    writer.text.add("#pragma omp simd")
    with writer.loop(v, lo, hi):
        writer.text.add(*body)


def _array(ctype: str, name: str, length: int, start: str = "") -> str:
    return f"{ctype} {name}[{length}] __attribute__((aligned(64))){start};"


def vectorised_along(s: Stage, trace: Trace) -> Var | None:
    """The variable to fold along as vectors; None where the contiguous loop is one of the outputs."""
    if not s.reds or s.maker.spec.is_pool:
        return None
    if not s.loops:
        return s.reds[-1]
    scores = {
        v: sum(_contiguity(load.at.coefficient(v)) * load.tensor.size for load in trace.loads)
        for v in (s.reds[-1], s.loops[-1])
    }
    if s.loops[-1].extent < 8 and s.reds[-1].extent >= 8:
        return s.reds[-1]
    return s.reds[-1] if scores[s.reds[-1]] > scores[s.loops[-1]] else None


def _lanes(folds: Sequence[Fold], along: Var) -> int:
    """Sums side by side for a row of floats; 0 where there are too few elements, or nothing is summed."""
    sums = all(f.omp == "+" and f.s.tensor.dtype == "float32" for f in folds)
    return next((n for n, least in LANES.items() if along.extent >= least), 0) if sums else 0


def _contiguity(k: int | None) -> int:
    return 0 if k == 0 else 1 if k == 1 else -1
