"""The loop nests of a stage that reduces: along memory into one accumulator, or across it into a strip of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass

from korch.backends.cpu.loops.binding import ARGS, POOLS, Stage
from korch.backends.cpu.loops.ctypes import C_TYPES, extreme
from korch.backends.cpu.loops.language import c_index
from korch.backends.cpu.loops.nests import beside
from korch.backends.cpu.loops.writer import SMALL, Writer
from korch.backends.maps.index import Index, Lookup, Var
from korch.backends.maps.trace import Trace
from korch.ir.ops.reduce import spatial_axes, window_counts
from korch.ir.primitive import Primitive

STRIP = 256
"""Accumulators of a reduction that runs across the contiguous axis."""
FEW, CHUNKS = 8, 16
"""Outputs, or strips of them, below which threads share what one of them adds up, and in how many parts."""
LANES = {32: 64, 16: 16}
"""Sums side by side along it, and the numbers from which on. (Layer normalisation of 32, 64, 160, 256 and 1024 numbers:
8, 12, 26, 38 and 262 ns a row; 18, 25, 44, 56 and 286 as the compiler does it. For maxima compilers do better: softmax
of 49, 128 and 1024 numbers takes 95, 70 and 169 us their way and 102, 82 and 200 so.)"""


@dataclass(frozen=True)
class Fold:
    """What one stage folds into accumulators of its own: `values`, C names, in each turn of the innermost loop."""

    s: Stage
    values: list[str]
    suffix: str = ""

    @property
    def acc(self) -> str:
        return f"acc{self.suffix}"

    @property
    def part(self) -> str:
        return f"part{self.suffix}"

    @property
    def nan(self) -> str:
        """The name of the flag that a value was NaN."""
        return f"nan{self.suffix}"

    @property
    def op(self) -> str:
        return self.s.maker.op

    @property
    def floating(self) -> bool:
        return C_TYPES[self.s.tensor.dtype] in ("float", "double")

    @property
    def loses_nan(self) -> bool:
        """Whether the reduction of OpenMP by that name forgets NaN."""
        return self.floating and self.omp in ("max", "min")

    @property
    def start(self) -> str:
        match self.op:
            case "ReduceMax" | "MaxPool":
                return "-INFINITY" if self.floating else _extreme(self.s.tensor.dtype, low=True)
            case "ReduceMin":
                return "INFINITY" if self.floating else _extreme(self.s.tensor.dtype, low=False)
            case "ReduceProd":
                return "1"
            case _:
                return "0"

    @property
    def omp(self) -> str:
        return {"ReduceMax": "max", "MaxPool": "max", "ReduceMin": "min", "ReduceProd": "*"}.get(self.op, "+")

    def step(self, into: str, value: str) -> str:
        if self.omp in ("max", "min"):
            return f"{into} = {extreme(self.omp == 'max', self.floating, into, value)};"
        return f"{into} {self.omp}= {value};"

    def steps(self, into: str) -> list[str]:
        if self.loses_nan and len(self.values) > 1:
            return self._several(into)
        return [self.step(into, v) for v in self.values]

    def _several(self, into: str) -> list[str]:
        """Folds all values at once: one comparison tells of two whether either is NaN. (Windows of 3x3 in 64 planes of
        28x28: 56 us, and 145 where each step keeps NaN.)"""
        ctype, name = C_TYPES[self.s.tensor.dtype], f"most{self.suffix}_"
        all_of = [into, *self.values]
        pairs = [all_of[i : i + 2] for i in range(0, len(all_of), 2)]
        unordered = " | ".join(f"__builtin_isunordered({pair[0]}, {pair[-1]})" for pair in pairs)
        lines, most = list[str](), into
        for i, v in enumerate(self.values):
            lines.append(f"const {ctype} {name}{i} = {extreme(self.omp == 'max', False, most, v)};")
            most = f"{name}{i}"
        return [*lines, f"{into} = {unordered} ? NAN : {most};"]

    def part_steps(self) -> list[str]:
        """Folds into the part; a NaN, into a flag beside it. (The maximum of 1024 floats in the first-level cache takes
        81 ns where NaN is lost, 92 with a flag, 202 where each step keeps NaN.)"""
        if not self.loses_nan:
            return self.steps(self.part)
        folded = [f"{self.part} = {extreme(self.omp == 'max', False, self.part, v)};" for v in self.values]
        return [*folded, *(f"{self.nan} |= {v} != {v};" for v in self.values)]

    def part_opened(self) -> tuple[list[str], str]:
        """The declarations of the part and its flag, and their reductions as OpenMP names them."""
        ctype = C_TYPES[self.s.tensor.dtype]
        lines, clause = [f"{ctype} {self.part} = {self.start};"], f"reduction({self.omp}:{self.part})"
        if not self.loses_nan:
            return lines, clause
        flag = "int64_t" if ctype == "double" else "int32_t"  # as wide as the values: vectors have as many lanes
        return [*lines, f"{flag} {self.nan} = 0;"], f"{clause} reduction(|:{self.nan})"

    def part_closed(self) -> str:
        """Folds the part into the accumulator."""
        return self.step(self.acc, f"({self.nan} ? NAN : {self.part})" if self.loses_nan else self.part)

    def end(self, acc: str) -> str:
        p = self.s.maker
        if self.op == "ReduceMean":
            return f"{acc} / {math.prod(p.inputs[0].shape[a] for a in p.attr('axes'))}"
        if self.op == "AveragePool":
            return f"{acc} / {_window_size(self.s)}"
        return acc


Store = Callable[[Fold, str], str]
"""The statement that stores an accumulator of a fold."""


class Reduction:
    """The loops of one reducing stage, or of several that fold in the same loops."""

    def __init__(self, writer: Writer, group: tuple[Stage, ...], parallel: bool) -> None:
        self.writer = writer
        self.text = writer.text
        self.s = group[0]
        self.others = group[1:]
        self.parallel = parallel

    def emit(self) -> None:
        if self.s.maker.op in ARGS:
            self._arg()
            return
        for nest, plan in self.writer.nests(self.s):
            trace, values = self.writer.trace(nest, plan)
            folds = [Fold(nest, values), *self._beside(nest, trace)]
            along = _vector_reduction(nest, trace)
            if self._should_share(nest, along):
                self._partial(trace, folds, along)
            elif along or not nest.loops or _steers_window(nest, nest.loops[-1]):
                self._row(trace, folds, along, self._stored, parallel=self.parallel)
            else:
                self._columns(trace, folds, self._stored, parallel=self.parallel)

    def _beside(self, nest: Stage, trace: Trace) -> list[Fold]:
        """What the other stages fold at the same place; what they load is loaded once."""
        values = [trace.value(o.maker.inputs[0], nest.source) for o in self.others]
        return [Fold(beside(nest, o), [v], str(o.number)) for o, v in zip(self.others, values, strict=True)]

    def _stored(self, f: Fold, acc: str) -> str:
        return self.writer.store(f.s, f.end(acc))

    # loops

    def _red_loop(
        self, s: Stage, v: Var, simd: str = "", chunk: tuple[str, str] | None = None
    ) -> AbstractContextManager[None]:
        lo, hi = chunk or _window_bounds(s, v)
        if simd:
            self.text.add(simd)
        return self.writer.loop(v, lo, hi)

    def _row(
        self,
        trace: Trace,
        folds: list[Fold],
        along: Var | None,
        store: Store,
        parallel: bool,
        chunk: tuple[str, str] | None = None,
    ) -> None:
        """Folds along contiguous memory into one accumulator an output."""
        s = folds[0].s
        ctype = C_TYPES[s.tensor.dtype]
        with self._outer(s.loops, parallel):
            self.text.add(*(f"{ctype} {f.acc} = {f.start};" for f in folds))
            with ExitStack() as loops:
                for v in s.reds:
                    if v != along:
                        loops.enter_context(self._red_loop(s, v, chunk=chunk if v == s.reds[0] else None))
                if along:
                    self._along(trace, folds, along, chunk if along == s.reds[0] else None)
                else:
                    self.text.add(*trace.lines, *(line for f in folds for line in f.steps(f.acc)))
            self.text.add(*(store(f, f.acc) for f in folds))

    def _along(self, trace: Trace, folds: list[Fold], along: Var, chunk: tuple[str, str] | None) -> None:
        """Folds along contiguous memory, as vectors."""
        if lanes := _lanes(folds, along):
            self._in_lanes(trace, folds, along, lanes, chunk or (str(along.lo), str(along.hi)))
            return
        opened = [f.part_opened() for f in folds]
        self.text.add(*(line for lines, _ in opened for line in lines))
        with self._red_loop(folds[0].s, along, f"#pragma omp simd {' '.join(clause for _, clause in opened)}", chunk):
            self.text.add(*trace.lines, *(line for f in folds for line in f.part_steps()))
        self.text.add(*(f.part_closed() for f in folds))

    def _in_lanes(self, trace: Trace, folds: list[Fold], along: Var, lanes: int, part: tuple[str, str]) -> None:
        """So many sums side by side, added up in pairs. (Compilers add up the lanes of a reduction one after the other,
        which takes longer than all else of a short row.)"""
        v, (lo, hi) = along.name, part
        self.text.add(f"const int {v}1 = {lo} + ({hi} - ({lo})) / {lanes} * {lanes};")
        self._accumulators([f.part for f in folds], folds, lanes, " = {0}")
        folded = [line for f in folds for line in f.steps(f"{f.part}[{v} - {v}0]")]
        with self.text.block(f"for (int {v}0 = {lo}; {v}0 < {v}1; {v}0 += {lanes})"):
            self._sweep(along, f"{v}0", f"{v}0 + {lanes}", [*trace.lines, *folded])
        if not lo.isdigit() or along.extent % lanes:
            folded = [line for f in folds for line in f.steps(f"{f.part}[{v} - {v}1]")]
            self._sweep(along, f"{v}1", hi, [*trace.lines, *folded])
        self.text.add(*(f.step(f.acc, f"korch_sum{lanes}({f.part})") for f in folds))

    def _columns(
        self, trace: Trace, folds: list[Fold], store: Store, parallel: bool, chunk: tuple[str, str] | None = None
    ) -> None:
        """Folds across memory: a strip of accumulators along the contiguous axis."""
        s = folds[0].s
        along = s.loops[-1]
        strip = min(STRIP, along.extent)
        single = strip == along.extent
        blocked = (
            len(s.reds) > 1 and all(f.omp in ("+", "*") for f in folds) and all(v.extent >= 8 for v in s.reds[-2:])
        )
        lo, hi = (str(along.lo), str(along.hi)) if single else (f"{along.name}0", f"{along.name}1")
        at = f"[{along.name} - {lo}]"
        with self._outer(s.loops[:-1], parallel, strips=None if single else along):
            self._accumulators([f.acc for f in folds], folds, strip)
            self._sweep(along, lo, hi, [f"{f.acc}{at} = {f.start};" for f in folds])
            with ExitStack() as loops:
                for i, v in enumerate(s.reds[:-1]):
                    loops.enter_context(self._red_loop(s, v, chunk=chunk if i == 0 else None))
                if blocked:
                    self._accumulators([f.part for f in folds], folds, strip)
                    self._sweep(along, lo, hi, [f"{f.part}{at} = {f.start};" for f in folds])
                folded = [line for f in folds for line in f.steps((f.part if blocked else f.acc) + at)]
                if s.reds:
                    with self._red_loop(s, s.reds[-1], chunk=chunk if len(s.reds) == 1 else None):
                        self._sweep(along, lo, hi, [*trace.lines, *folded])
                else:
                    self._sweep(along, lo, hi, [*trace.lines, *folded])
                if blocked:
                    self._sweep(along, lo, hi, [f.step(f.acc + at, f.part + at) for f in folds])
            self._sweep(along, lo, hi, [store(f, f.acc + at) for f in folds])

    def _accumulators(self, names: list[str], folds: list[Fold], strip: int, start: str = "") -> None:
        ctype = C_TYPES[folds[0].s.tensor.dtype]
        self.text.add(*(f"{ctype} {name}[{strip}] __attribute__((aligned(64))){start};" for name in names))

    def _sweep(self, v: Var, lo: str, hi: str, body: list[str]) -> None:
        self.text.add("#pragma omp simd")
        with self.writer.loop(v, lo, hi):
            self.text.add(*body)

    @contextmanager
    def _outer(self, loops: tuple[Var, ...], parallel: bool, strips: Var | None = None) -> Iterator[None]:
        """The loops over outputs, shared out to the threads where `parallel`; a block where there are none."""
        depth = len(loops) + (strips is not None)
        if parallel and depth:
            self.text.add(f"#pragma omp for schedule(static) nowait collapse({depth})")
        elif parallel:
            self.text.add("#pragma omp single nowait")
        with ExitStack() as blocks:
            blocks.enter_context(self.writer.loops(loops))
            if strips is not None:
                n = strips.name
                head = f"for (int {n}0 = {strips.lo}; {n}0 < {strips.hi}; {n}0 += {STRIP})"
                blocks.enter_context(self.text.block(head))
                self.text.add(f"const int {n}1 = KORCH_MIN({n}0 + {STRIP}, {strips.hi});")
            if not depth:
                blocks.enter_context(self.text.block())
            yield

    # few outputs, long folds: every thread folds a part, then the parts are folded in order

    def _should_share(self, s: Stage, along: Var | None) -> bool:
        """Whatever the number of threads, one included: the order in which numbers are added up is the same for all."""
        if not s.reds or s.maker.op in POOLS:
            return False
        return _strips(s, along) < FEW and s.maker.inputs[0].size > SMALL and s.reds[0].extent >= 8

    def _partial(self, trace: Trace, folds: list[Fold], along: Var | None) -> None:
        """A fixed number of chunks, so that the result does not depend on the number of threads. A stage may have
        several such nests, each for a part of its outputs."""
        s = folds[0].s
        first = s.reds[0]
        chunks = min(CHUNKS, first.extent)
        bounds = (
            f"{first.lo} + (int)(chunk * INT64_C({first.extent}) / {chunks})",
            f"{first.lo} + (int)((chunk + 1) * INT64_C({first.extent}) / {chunks})",
        )
        with self.text.block():
            self._rooms(folds, chunks)
            if self.parallel:
                self.text.add("#pragma omp for schedule(static)")
            with self.text.block(f"for (int chunk = 0; chunk < {chunks}; ++chunk)"):
                if along or not s.loops:
                    self._row(trace, folds, along, _stored_part, parallel=False, chunk=bounds)
                else:
                    self._columns(trace, folds, _stored_part, parallel=False, chunk=bounds)
            if self.parallel:
                self.text.add("#pragma omp single nowait" if s.root else "#pragma omp single")
            with self.writer.loops(s.loops), self.text.block():
                for f in folds:
                    self._sum_up(f, chunks)

    def _rooms(self, folds: list[Fold], chunks: int) -> None:
        """Room for the results of the chunks."""
        for f in folds:
            name, room = f"p{f.s.number}", chunks * f.s.stored
            if self.writer.plan.hoisted:  # each thread adds up what is its own
                self.text.add(f"{C_TYPES[f.s.tensor.dtype]} {name}[{room}];")
            else:
                self.writer.buffer(f.s, room, name)

    def _sum_up(self, f: Fold, chunks: int) -> None:
        """The chunks' results, in order."""
        name, at = f"p{f.s.number}", c_index(f.s.in_turn(f.s.axes))
        step = f.step(f.acc, f"{name}[chunk * {f.s.stored} + {at}]")
        self.text.add(
            f"{C_TYPES[f.s.tensor.dtype]} {f.acc} = {name}[{at}];",
            f"for (int chunk = 1; chunk < {chunks}; ++chunk) {step}",
            self.writer.store(f.s, f.end(f.acc)),
        )

    # the place of an extreme

    def _arg(self) -> None:
        """Index of the extreme, the first or the last of equals; NaN is more extreme than any number."""
        s, p = self.s, self.s.maker
        trace, (value,) = self.writer.trace(s, self.writer.plan)
        if s.reds and s.loops and _vector_reduction(s, trace) is None:
            self._arg_columns(trace, value)
            return
        with self._outer(s.loops, self.parallel):
            self.text.add(f"{C_TYPES[p.inputs[0].dtype]} best = 0;", "int64_t at = 0, seen = 0;")
            with self.writer.loops(s.reds):
                self.text.add(*trace.lines)
                better = _better(p, value, "best")
                self.text.add(f"if (!seen || ({better})) {{ best = {value}; at = seen; }}", "++seen;")
            self.text.add(self.writer.store(s, "at"))

    def _arg_columns(self, trace: Trace, value: str) -> None:
        """The same across memory, for a strip of outputs. (150 classes of
        256x256 places on Zen 3 with two threads: 64 -> 10 ms; 21 of 512x512: 36 -> 6.)"""
        s, along = self.s, self.s.loops[-1]
        strip = min(STRIP, along.extent)
        strips = None if strip == along.extent else along
        lo, hi = (f"{along.name}0", f"{along.name}1") if strips else (str(along.lo), str(along.hi))
        best, place = (f"{name}[{along.name} - {lo}]" for name in ("best", "places"))
        with self._outer(s.loops[:-1], self.parallel, strips):
            self.text.add(
                f"{C_TYPES[s.maker.inputs[0].dtype]} best[{strip}] __attribute__((aligned(64)));",
                f"int32_t places[{strip}] __attribute__((aligned(64)));",
                "int32_t seen = 0;",
            )
            with self.writer.loops(s.reds):
                with self.text.block("if (!seen)"):
                    self._sweep(along, lo, hi, [*trace.lines, f"{best} = {value};", f"{place} = 0;"])
                with self.text.block("else"):
                    compared = [
                        f"const int better = {_better(s.maker, value, best)};",
                        f"{best} = better ? {value} : {best};",
                        f"{place} = better ? seen : {place};",
                    ]
                    self._sweep(along, lo, hi, [*trace.lines, *compared])
                self.text.add("++seen;")
            self._sweep(along, lo, hi, [self.writer.store(s, place)])


def _better(p: Primitive, value: str, best: str) -> str:
    """Whether a value takes the place of the best one so far, in C."""
    sign, last = ">" if p.op == "ArgMax" else "<", bool(p.attr("select_last_index"))
    if not p.inputs[0].is_float:
        return f"{value} {sign}{'=' * last} {best}"
    if last:
        return f"({value} {sign}= {best}) | ({value} != {value})"
    other = "<" if sign == ">" else ">"
    return f"!({value} {other}= {best}) & ({best} == {best})"


def _stored_part(f: Fold, acc: str) -> str:
    """Into the results of the chunk."""
    return f"p{f.s.number}[chunk * {f.s.stored} + {c_index(f.s.in_turn(f.s.axes))}] = {acc};"


def _window_size(s: Stage) -> str:
    """How many elements an average is of: a number, or looked up by position."""
    p = s.maker
    if p.attr("count_include_pad"):
        return str(math.prod(p.attr("kernel_shape")))
    spatial = spatial_axes(s.tensor.rank, p.attr("channels_last"))
    factors: list[str] = []
    for a, counts in zip(spatial, window_counts(p), strict=True):
        table = tuple(int(c) for c in counts)
        same = len(set(table)) == 1
        factors.append(str(table[0]) if same else c_index(Index.of(Lookup(table, s.axes[a]))))
    return f"({' * '.join(factors)})"


def _strips(s: Stage, along: Var | None) -> int:
    """Outputs of the whole tensor, or strips of them: how many of these a nest has depends on the number of threads."""
    if along:
        return s.tensor.size
    inner = math.prod(s.maker.inputs[0].shape[max(s.maker.attr("axes")) + 1 :])
    return s.tensor.size // inner * math.ceil(inner / STRIP)


def _vector_reduction(s: Stage, trace: Trace) -> Var | None:
    """The variable to fold along as vectors; None where the contiguous loop is one of the outputs."""
    if not s.reds or s.maker.op in POOLS:
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


def _lanes(folds: list[Fold], along: Var) -> int:
    """Sums side by side for a row of floats; 0 where there are too few elements, or nothing is summed."""
    sums = all(f.omp == "+" and f.s.tensor.dtype == "float32" for f in folds)
    return next((n for n, least in LANES.items() if along.extent >= least), 0) if sums else 0


def _contiguity(k: int | None) -> int:
    return 0 if k == 0 else 1 if k == 1 else -1


def _steers_window(s: Stage, v: Var) -> bool:
    """Whether the bounds of a looped window depend on `v`, which then cannot be the innermost loop."""
    if s.maker.op not in POOLS:
        return False
    return any(v in e.vars() and e.vars() & set(s.reds) for e in s.source)


def _window_bounds(s: Stage, v: Var) -> tuple[str, str]:
    """The part of a window that lies inside the tensor: 0 <= o * stride + k * dilation - pad < n."""
    p = s.maker
    if p.op not in POOLS or not v.name.startswith("k"):
        return str(v.lo), str(v.hi)
    i = int(v.name.split("_")[1])
    axis = spatial_axes(s.tensor.rank, p.attr("channels_last"))[i]
    n, d = p.inputs[0].shape[axis], p.attr("dilations")[i]
    at = s.source[axis] - Index.of(v) * d
    lo, hi = at.range()
    low = "0" if lo >= 0 else f"KORCH_MAX(0, ({c_index(at * -1)} + {d - 1}) / {d})"
    high = str(v.hi) if hi + (v.hi - 1) * d < n else f"KORCH_MIN({v.hi}, ({n - 1 + d} - ({c_index(at)})) / {d})"
    return low, high


def _extreme(dtype: str, low: bool) -> str:
    if dtype == "bool":
        return "0" if low else "1"
    bits = "".join(c for c in dtype if c.isdigit())
    if dtype.startswith("u"):
        return "0" if low else f"UINT{bits}_MAX"
    return f"INT{bits}_{'MIN' if low else 'MAX'}"
