"""The loop nests of a stage that reduces: along memory into one accumulator, or across it into a strip of them."""

from __future__ import annotations

import math

from korch.backends.cpu.loops.ctypes import C_TYPES
from korch.backends.cpu.loops.index import Index, Lookup, Var
from korch.backends.cpu.loops.schedule import ARGS, POOLS, Stage
from korch.backends.cpu.loops.trace import Trace, c_index
from korch.backends.cpu.loops.writer import SMALL, Writer, target
from korch.ir.ops.reduce import spatial_axes, window_counts

STRIP = 256
"""Accumulators of a reduction that runs across the contiguous axis."""


class Reduction:
    """The loops of one reducing stage."""

    def __init__(self, writer: Writer, s: Stage, parallel: bool) -> None:
        self.writer = writer
        self.text = writer.text
        self.s = s
        self.parallel = parallel
        self.op = s.maker.op

    def emit(self) -> None:
        if self.op in ARGS:
            self._arg()
            return
        for nest, plan in self.writer.nests(self.s):
            trace, values = self.writer.trace(nest, plan)
            along = _vector_reduction(nest, trace)
            if self._should_share(nest, along):
                self._partial(nest, trace, values, along)
            elif along or not nest.loops or _steers_window(nest, nest.loops[-1]):
                self._row(nest, trace, values, along, parallel=self.parallel)
            else:
                self._columns(nest, trace, values, parallel=self.parallel)

    # what is folded, and how it ends

    @property
    def _start(self) -> str:
        floating = C_TYPES[self.s.tensor.dtype] in ("float", "double")
        match self.op:
            case "ReduceMax" | "MaxPool":
                return "-INFINITY" if floating else _extreme(self.s.tensor.dtype, low=True)
            case "ReduceMin":
                return "INFINITY" if floating else _extreme(self.s.tensor.dtype, low=False)
            case "ReduceProd":
                return "1"
            case _:
                return "0"

    def _fold(self, into: str, value: str) -> str:
        match self.op:
            case "ReduceMax" | "MaxPool":
                return f"{into} = KORCH_MAX({into}, {value});"
            case "ReduceMin":
                return f"{into} = KORCH_MIN({into}, {value});"
            case "ReduceProd":
                return f"{into} *= {value};"
            case _:
                return f"{into} += {value};"

    @property
    def _omp(self) -> str:
        return {"ReduceMax": "max", "MaxPool": "max", "ReduceMin": "min", "ReduceProd": "*"}.get(self.op, "+")

    def _end(self, acc: str, s: Stage) -> str:
        p = s.maker
        if self.op == "ReduceMean":
            return f"{acc} / {math.prod(p.inputs[0].shape[a] for a in p.attr('axes'))}"
        if self.op == "AveragePool":
            return f"{acc} / {self._window_size(s)}"
        return acc

    def _window_size(self, s: Stage) -> str:
        p = s.maker
        if p.attr("count_include_pad"):
            return str(math.prod(p.attr("kernel_shape")))
        spatial = spatial_axes(s.tensor.rank, p.attr("channels_last"))
        factors = []
        for a, counts in zip(spatial, window_counts(p), strict=True):
            table = tuple(int(c) for c in counts)
            same = len(set(table)) == 1
            factors.append(str(table[0]) if same else c_index(Index.of(Lookup(table, s.axes[a]))))
        return f"({' * '.join(factors)})"

    # loops

    def _red_loop(self, s: Stage, v: Var, simd: str = "", chunk: tuple[str, str] | None = None) -> None:
        lo, hi = chunk or _window_bounds(s, v)
        if simd:
            self.text.add(simd)
        self.writer.loop(v, lo, hi)

    def _inner(self, s: Stage, trace: Trace, values: list[str], acc: str) -> None:
        self.text.add(*trace.lines)
        for v in values:
            self.text.add(self._fold(acc, v))

    def _row(self, s: Stage, trace: Trace, values: list[str], along: Var | None, parallel: bool,
             store: str | None = None, chunk: tuple[str, str] | None = None) -> None:  # fmt: skip
        """Folds along contiguous memory into one accumulator an output."""
        ctype = C_TYPES[s.tensor.dtype]
        self._open_outer(s.loops, parallel)
        self.text.add(f"{ctype} acc = {self._start};")
        outer = [v for v in s.reds if v != along]
        for v in outer:
            self._red_loop(s, v, chunk=chunk if v == s.reds[0] else None)
        if along:
            self.text.add(f"{ctype} part = {self._start};")
            bounds = chunk if along == s.reds[0] else None
            self._red_loop(s, along, f"#pragma omp simd reduction({self._omp}:part)", bounds)
            self._inner(s, trace, values, "part")
            self.text.close()
            self.text.add(self._fold("acc", "part"))
        else:
            self._inner(s, trace, values, "acc")
        self.text.close(len(outer))
        self.text.add(store.format("acc") if store else self.writer.store(s, self._end("acc", s)))
        self._close_outer(s.loops)

    def _columns(self, s: Stage, trace: Trace, values: list[str], parallel: bool,
                 store: str | None = None, chunk: tuple[str, str] | None = None) -> None:  # fmt: skip
        """Folds across memory: a strip of accumulators along the contiguous axis."""
        ctype, along = C_TYPES[s.tensor.dtype], s.loops[-1]
        strip = min(STRIP, along.extent)
        single = strip == along.extent
        self._open_outer(s.loops[:-1], parallel, strips=None if single else along)
        lo, hi = (str(along.lo), str(along.hi)) if single else (f"{along.name}0", f"{along.name}1")
        acc, part = f"acc[{along.name} - {lo}]", f"part[{along.name} - {lo}]"
        blocked = len(s.reds) > 1 and self._omp in ("+", "*") and all(v.extent >= 8 for v in s.reds[-2:])
        self.text.add(f"{ctype} acc[{strip}] __attribute__((aligned(64)));")
        self._sweep(along, lo, hi, [f"{acc} = {self._start};"])
        for i, v in enumerate(s.reds[:-1]):
            self._red_loop(s, v, chunk=chunk if i == 0 else None)
        if blocked:
            self.text.add(f"{ctype} part[{strip}] __attribute__((aligned(64)));")
            self._sweep(along, lo, hi, [f"{part} = {self._start};"])
        if s.reds:
            self._red_loop(s, s.reds[-1], chunk=chunk if len(s.reds) == 1 else None)
        folded = [self._fold(part if blocked else acc, v) for v in values]
        self._sweep(along, lo, hi, [*trace.lines, *folded])
        if s.reds:
            self.text.close()
        if blocked:
            self._sweep(along, lo, hi, [self._fold(acc, part)])
        self.text.close(max(len(s.reds) - 1, 0))
        end = store.format(acc) if store else self.writer.store(s, self._end(acc, s))
        self._sweep(along, lo, hi, [end])
        self._close_outer(s.loops[:-1], strips=None if single else along)

    def _sweep(self, v: Var, lo: str, hi: str, body: list[str]) -> None:
        self.text.add("#pragma omp simd")
        self.writer.loop(v, lo, hi)
        self.text.add(*body)
        self.text.close()

    def _open_outer(self, loops: tuple[Var, ...], parallel: bool, strips: Var | None = None) -> None:
        depth = len(loops) + (strips is not None)
        if parallel and depth:
            self.text.add(f"#pragma omp for schedule(static) nowait collapse({depth})")
        elif parallel:
            self.text.add("#pragma omp single nowait")
        for v in loops:
            self.writer.loop(v)
        if strips is not None:
            n = strips.name
            self.text.open(f"for (int {n}0 = {strips.lo}; {n}0 < {strips.hi}; {n}0 += {STRIP})")
            self.text.add(f"const int {n}1 = KORCH_MIN({n}0 + {STRIP}, {strips.hi});")
        if not depth:
            self.text.open("")

    def _close_outer(self, loops: tuple[Var, ...], strips: Var | None = None) -> None:
        self.text.close(max(len(loops) + (strips is not None), 1))

    # few outputs, long folds: every thread folds a part, then the parts are folded in order

    def _should_share(self, s: Stage, along: Var | None) -> bool:
        if not self.parallel or not s.reds or self.op in POOLS:
            return False
        outputs = s.loops if along else s.loops[:-1]
        width = math.prod(v.extent for v in outputs)
        strips = 1 if along or not s.loops else math.ceil(s.loops[-1].extent / STRIP)
        longest = math.prod(v.extent for v in s.reds)
        return width * strips < 2 * self.writer.threads and longest * s.stored > SMALL and s.reds[0].extent >= 8

    def _partial(self, s: Stage, trace: Trace, values: list[str], along: Var | None) -> None:
        """A fixed number of chunks, so that the result does not depend on the number of threads."""
        first = s.reds[0]
        chunks = min(16, first.extent)
        name, ctype = f"p{s.number}", C_TYPES[s.tensor.dtype]
        self.writer.buffer(s, chunks * s.stored, name)
        self.text.add("#pragma omp for schedule(static)")
        self.text.open(f"for (int chunk = 0; chunk < {chunks}; ++chunk)")
        bounds = (
            f"{first.lo} + chunk * {first.extent} / {chunks}",
            f"{first.lo} + (chunk + 1) * {first.extent} / {chunks}",
        )
        store = f"{name}[chunk * {s.stored} + {c_index(s.position(s.axes))}] = {{}};"
        if along or not s.loops:
            self._row(s, trace, values, along, parallel=False, store=store, chunk=bounds)
        else:
            self._columns(s, trace, values, parallel=False, store=store, chunk=bounds)
        self.text.close()
        self.text.add("#pragma omp single nowait" if s.root else "#pragma omp single")
        self.text.open(f"for (int o = 0; o < {s.stored}; ++o)")
        self.text.add(f"{ctype} acc = {name}[o];")
        self.text.add(
            f"for (int chunk = 1; chunk < {chunks}; ++chunk) " + self._fold("acc", f"{name}[chunk * {s.stored} + o]")
        )
        self.text.add(f"{target(s)}[o] = {self._end('acc', s)};")
        self.text.close()

    def _arg(self) -> None:
        """Index of the extreme, the first or the last of equals."""
        s = self.s
        trace, values = self.writer.trace(s, self.writer.plan)
        p = s.maker
        better = {("ArgMax", 0): ">", ("ArgMax", 1): ">=", ("ArgMin", 0): "<", ("ArgMin", 1): "<="}
        sign = better[(self.op, int(bool(p.attr("select_last_index"))))]
        source = C_TYPES[p.inputs[0].dtype]
        self._open_outer(s.loops, self.parallel)
        self.text.add(f"{source} best = 0;", "int64_t at = 0, seen = 0;")
        for v in s.reds:
            self.writer.loop(v)
        self.text.add(*trace.lines)
        self.text.add(f"if (!seen || {values[0]} {sign} best) {{ best = {values[0]}; at = seen; }}", "++seen;")
        self.text.close(len(s.reds))
        self.text.add(self.writer.store(s, "at"))
        self._close_outer(s.loops)


def _vector_reduction(s: Stage, trace: Trace) -> Var | None:
    """The variable to fold along as vectors; None where the contiguous loop is one of the outputs."""
    if not s.reds or s.maker.op in POOLS:
        return None
    if not s.loops:
        return s.reds[-1]
    scores = {v: sum(_contiguity(load.at.coefficient(v)) * load.tensor.size for load in trace.loads)
              for v in (s.reds[-1], s.loops[-1])}  # fmt: skip
    if s.loops[-1].extent < 8 and s.reds[-1].extent >= 8:
        return s.reds[-1]
    return s.reds[-1] if scores[s.reds[-1]] > scores[s.loops[-1]] else None


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
