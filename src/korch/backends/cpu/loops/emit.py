"""Writes a schedule as C: one function, its loop nests in the order of the stages, made to be read."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise, product

from korch.backends.cpu.loops.ctypes import C_TYPES
from korch.backends.cpu.loops.index import Index, Lookup, Var
from korch.backends.cpu.loops.schedule import ARGS, POOLS, Schedule, Stage, schedule, trace_body, tracer, within
from korch.backends.cpu.loops.trace import Requests, Trace, c_index, table_definition
from korch.ir.cone import Cone
from korch.ir.ops.elementwise import COSTLY
from korch.ir.ops.reduce import window_counts

SMALL = 1 << 14
"""Work (element operations) below which starting threads costs more than it saves."""
TILE = 16
STRIP = 256
"""Accumulators of a reduction that runs across the contiguous axis."""
ON_STACK = 8192
MOST_NESTS = 64


@dataclass
class Text:
    """C lines with indentation."""

    lines: list[str] = field(default_factory=list)
    depth: int = 1

    def add(self, *lines: str) -> None:
        self.lines += ["  " * self.depth + line for line in lines]

    def open(self, line: str) -> None:
        self.add(line + " {")
        self.depth += 1

    def close(self, count: int = 1) -> None:
        for _ in range(count):
            self.depth -= 1
            self.add("}")


@dataclass(frozen=True)
class Code:
    """Source of one kernel and the bytes of workspace it wants."""

    source: str
    workspace: int


def generate(cone: Cone, threads: int) -> Code:
    """C for `cone`, run by `threads` threads."""
    plan = schedule(cone, threads)
    return _Emitter(plan, threads).kernel()


class _Emitter:
    def __init__(self, plan: Schedule, threads: int) -> None:
        self.plan = plan
        self.cone = plan.cone
        self.threads = threads if _work(plan.cone) > SMALL else 1
        self.text = Text()
        self.workspace = 0
        self.shared = not plan.hoisted

    # the function

    def kernel(self) -> Code:
        self._body()
        head = ["// " + line for line in str(self.cone).splitlines()]
        body = "\n".join(self.text.lines)
        names = dict.fromkeys(_table_names(body))
        tables = [table_definition(n) for n in names]
        params = "void *state, const void *const *in, void *out_, void *workspace"
        lines = [*head, *tables, f"static void KERNEL_run({params}) {{", "  (void)state; (void)workspace;",
                 *self._pointers(), body, "}"]  # fmt: skip
        return Code("\n".join(lines) + "\n", self.workspace)

    def _pointers(self) -> Iterator[str]:
        for i, t in enumerate(self.cone.leaves):
            if t.value is None:
                yield f"  const {C_TYPES[t.dtype]} *restrict in{i} = in[{i}];"
        yield f"  {C_TYPES[self.cone.root.dtype]} *restrict out = out_;"

    def _body(self) -> None:
        stages = self.plan.stages
        if self.shared:
            for s in stages[:-1]:
                self._shared_buffer(s, s.stored)
        if self.threads > 1:
            self.text.open(f"#pragma omp parallel num_threads({self.threads})\n" + "  " * self.text.depth)
        if self.shared:
            for s in stages:
                self._stage(s, parallel=True)
        else:
            self._hoisted(stages)
        if self.threads > 1:
            self.text.close()

    def _shared_buffer(self, s: Stage, elements: int, name: str = "") -> None:
        ctype = C_TYPES[s.tensor.dtype]
        size = elements * _width(s)
        name = name or f"b{s.number}"
        self.text.add(f"{ctype} *restrict {name} = ({ctype} *)((char *)workspace + {self.workspace});")
        self.workspace += (size + 63) // 64 * 64

    def _hoisted(self, stages: tuple[Stage, ...]) -> None:
        """All stages inside the loops they share; what they store stays with the thread."""
        big = [s for s in stages[:-1] if s.stored * _width(s) > ON_STACK]
        each = sum((s.stored * _width(s) + 63) // 64 * 64 for s in big)
        if big:
            where = f"omp_get_thread_num() * {each}" if self.threads > 1 else "0"
            self.text.add(f"char *const own = (char *)workspace + {where};")
            self.workspace = each * self.threads
        if self.threads > 1:
            self.text.add(f"#pragma omp for schedule(static) collapse({len(self.plan.hoisted)})")
        for v in self.plan.hoisted:
            self._for(v)
        offset = 0
        for s in stages[:-1]:
            ctype = C_TYPES[s.tensor.dtype]
            if s in big:
                self.text.add(f"{ctype} *restrict b{s.number} = ({ctype} *)(own + {offset});")
                offset += (s.stored * _width(s) + 63) // 64 * 64
            else:
                self.text.add(f"{ctype} b{s.number}[{s.stored}] __attribute__((aligned(64)));")
        for s in stages:
            self._stage(s, parallel=False)
        self.text.close(len(self.plan.hoisted))

    def _for(self, v: Var, lo: str = "", hi: str = "") -> None:
        self.text.open(f"for (int {v.name} = {lo or v.lo}; {v.name} < {hi or v.hi}; ++{v.name})")

    # stages

    def _stage(self, s: Stage, parallel: bool) -> None:
        self.text.add(f"// {s.maker}")
        parallel = parallel and self.threads > 1
        if s.reduces:
            _Reduction(self, s, parallel).emit()
        else:
            self._map(s, parallel)
        if parallel and not s.root:
            self.text.add("#pragma omp barrier")

    def store(self, s: Stage, at: Index, value: str) -> str:
        return f"{'out' if s.root else f'b{s.number}'}[{c_index(at)}] = {value};"

    def target(self, s: Stage) -> Index:
        """Where the stage stores its element."""
        from korch.backends.cpu.loops.index import flat

        return flat(s.axes, s.tensor.shape) if s.root else s.position(s.axes)

    def nests(self, s: Stage) -> Iterator[tuple[Stage, Schedule]]:
        """The stage once for each combination of ranges between which its loops must break."""
        breaks = {n: b for n, b in self._breaks(s).items() if any(v.name == n for v in s.loops)}
        while math.prod(len(b) + 1 for b in breaks.values()) > MOST_NESTS:
            del breaks[max(breaks, key=lambda n: len(breaks[n]))]
        if not breaks:
            yield s, self.plan
            return
        spans = [[(n, r) for r in _spans(next(v for v in s.loops if v.name == n), b)] for n, b in breaks.items()]
        for combination in product(*spans):
            plan = within(self.plan, s.number, dict(combination))
            yield plan.stages[s.number], plan

    def _breaks(self, s: Stage) -> dict[str, set[int]]:
        requests = Requests()
        trace_body(tracer(self.plan, s, requests), s)
        return requests.breaks

    def trace(self, s: Stage, plan: Schedule) -> tuple[Trace, list[str]]:
        trace = tracer(plan, s, Requests())
        return trace, trace_body(trace, s)

    def _map(self, s: Stage, parallel: bool) -> None:
        for nest, plan in self.nests(s):
            trace, values = self.trace(nest, plan)
            body = [*trace.lines, self.store(nest, self.target(nest), values[0])]
            across = _transposed(nest, trace)
            if across:
                self._tiled(nest, across, body, parallel)
            else:
                self._plain(nest.loops, body, parallel, _vectorises(trace, nest.loops))

    def _plain(self, loops: tuple[Var, ...], body: list[str], parallel: bool, simd: bool = True) -> None:
        if not loops:
            self._once(body, parallel)
            return
        outer = _collapse(loops, self.threads) if parallel else 0
        for i, v in enumerate(loops):
            last = i == len(loops) - 1
            if i == 0 and outer:
                vector = " simd" if simd and outer == len(loops) else ""
                self.text.add(f"#pragma omp for{vector} schedule(static) nowait collapse({outer})")
            elif last and simd and outer < len(loops):
                self.text.add("#pragma omp simd")
            self._for(v)
        self.text.add(*body)
        self.text.close(len(loops))

    def _once(self, body: list[str], parallel: bool) -> None:
        self.text.open("#pragma omp single nowait\n" + "  " * self.text.depth if parallel else "")
        self.text.add(*body)
        self.text.close()

    def _tiled(self, s: Stage, across: Var, body: list[str], parallel: bool) -> None:
        """Writes along the last loop, reads along `across`: small tiles keep both in cache."""
        along = s.loops[-1]
        others = [v for v in s.loops if v not in (across, along)]
        if parallel:
            self.text.add(f"#pragma omp for schedule(static) nowait collapse({len(others) + 2})")
        for v in others:
            self._for(v)
        for v in (along, across):
            self.text.open(f"for (int {v.name}0 = {v.lo}; {v.name}0 < {v.hi}; {v.name}0 += {TILE})")
        self._for(across, f"{across.name}0", f"KORCH_MIN({across.name}0 + {TILE}, {across.hi})")
        self.text.add("#pragma omp simd")
        self._for(along, f"{along.name}0", f"KORCH_MIN({along.name}0 + {TILE}, {along.hi})")
        self.text.add(*body)
        self.text.close(len(others) + 4)


class _Reduction:
    """The loops of one reducing stage."""

    def __init__(self, emitter: _Emitter, s: Stage, parallel: bool) -> None:
        self.e = emitter
        self.text = emitter.text
        self.s = s
        self.parallel = parallel
        self.op = s.maker.op

    def emit(self) -> None:
        if self.op in ARGS:
            self._arg()
            return
        for nest, plan in self.e.nests(self.s):
            trace, values = self.e.trace(nest, plan)
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
        zero = C_TYPES[self.s.tensor.dtype] in ("float", "double")
        match self.op:
            case "ReduceMax" | "MaxPool":
                return "-INFINITY" if zero else _extreme(self.s.tensor.dtype, low=True)
            case "ReduceMin":
                return "INFINITY" if zero else _extreme(self.s.tensor.dtype, low=False)
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
        from korch.ir.ops.reduce import spatial_axes

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
        self.e._for(v, lo, hi)

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
        self.text.add(store.format("acc") if store else self.e.store(s, self.e.target(s), self._end("acc", s)))
        self._close_outer(s.loops, parallel)

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
        end = store.format(acc) if store else self.e.store(s, self.e.target(s), self._end(acc, s))
        self._sweep(along, lo, hi, [end])
        self._close_outer(s.loops[:-1], parallel, strips=None if single else along)

    def _sweep(self, v: Var, lo: str, hi: str, body: list[str]) -> None:
        self.text.add("#pragma omp simd")
        self.e._for(v, lo, hi)
        self.text.add(*body)
        self.text.close()

    def _open_outer(self, loops: tuple[Var, ...], parallel: bool, strips: Var | None = None) -> None:
        depth = len(loops) + (strips is not None)
        if parallel and depth:
            self.text.add(f"#pragma omp for schedule(static) nowait collapse({depth})")
        elif parallel:
            self.text.add("#pragma omp single nowait")
        for v in loops:
            self.e._for(v)
        if strips is not None:
            n = strips.name
            self.text.open(f"for (int {n}0 = {strips.lo}; {n}0 < {strips.hi}; {n}0 += {STRIP})")
            self.text.add(f"const int {n}1 = KORCH_MIN({n}0 + {STRIP}, {strips.hi});")
        if not depth:
            self.text.open("")

    def _close_outer(self, loops: tuple[Var, ...], parallel: bool, strips: Var | None = None) -> None:
        self.text.close(max(len(loops) + (strips is not None), 1))

    # few outputs, long folds: every thread folds a part, then the parts are folded in order

    def _should_share(self, s: Stage, along: Var | None) -> bool:
        if not self.parallel or not s.reds or self.op in POOLS:
            return False
        outputs = s.loops if along else s.loops[:-1]
        width = math.prod(v.extent for v in outputs)
        strips = 1 if along or not s.loops else math.ceil(s.loops[-1].extent / STRIP)
        longest = math.prod(v.extent for v in s.reds)
        return width * strips < 2 * self.e.threads and longest * s.stored > SMALL and s.reds[0].extent >= 8

    def _partial(self, s: Stage, trace: Trace, values: list[str], along: Var | None) -> None:
        """A fixed number of chunks, so that the result does not depend on the number of threads."""
        first = s.reds[0]
        chunks = min(16, first.extent)
        name, ctype = f"p{s.number}", C_TYPES[s.tensor.dtype]
        self._declare_partial(s, name, chunks)
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
        self.text.add(f"{'out' if s.root else f'b{s.number}'}[o] = {self._end('acc', s)};")
        self.text.close()

    def _declare_partial(self, s: Stage, name: str, chunks: int) -> None:
        ctype = C_TYPES[s.tensor.dtype]
        self.text.add(f"{ctype} *restrict {name} = ({ctype} *)((char *)workspace + {self.e.workspace});")
        self.e.workspace += (chunks * s.stored * _width(s) + 63) // 64 * 64

    def _arg(self) -> None:
        """Index of the extreme, the first or the last of equals."""
        s = self.s
        trace, values = self.e.trace(s, self.e.plan)
        p = s.maker
        better = {("ArgMax", 0): ">", ("ArgMax", 1): ">=", ("ArgMin", 0): "<", ("ArgMin", 1): "<="}
        sign = better[(self.op, int(bool(p.attr("select_last_index"))))]
        source = C_TYPES[p.inputs[0].dtype]
        self._open_outer(s.loops, self.parallel)
        self.text.add(f"{source} best = 0;", "int64_t at = 0, seen = 0;")
        for v in s.reds:
            self.e._for(v)
        self.text.add(*trace.lines)
        self.text.add(f"if (!seen || {values[0]} {sign} best) {{ best = {values[0]}; at = seen; }}", "++seen;")
        self.text.close(len(s.reds))
        self.text.add(self.e.store(s, self.e.target(s), "at"))
        self._close_outer(s.loops, self.parallel)


# Questions about stages --------------------------------------------------------------------------------------------


def _work(cone: Cone) -> float:
    """Element operations, roughly: what decides whether threads pay."""
    total = 0.0
    for p in cone.primitives:
        cost = 8.0 if p.op in COSTLY else 1.0
        size = max([p.output.size, *(t.size for t in p.inputs if not t.const)])
        if p.op in POOLS:
            size = p.output.size * math.prod(p.attr("kernel_shape"))
        total += cost * size
    return total


def _width(s: Stage) -> int:
    return s.tensor.nbytes // max(s.tensor.size, 1) or 1


def _spans(v: Var, breaks: set[int]) -> list[tuple[int, int]]:
    edges = [v.lo, *sorted(breaks), v.hi]
    return list(pairwise(edges))


def _collapse(loops: tuple[Var, ...], threads: int) -> int:
    """How many outer loops to share among the threads: enough iterations, the innermost left whole if possible."""
    count = 1
    for depth, v in enumerate(loops[:-1], 1):
        count *= v.extent
        if count >= 16 * threads:
            return depth
    return len(loops) - 1 if count >= 2 * threads else len(loops)


def _transposed(s: Stage, trace: Trace) -> Var | None:
    """The loop along which the reads are contiguous, where that is not the loop along which the writes are."""
    if len(s.loops) < 2 or s.loops[-1].extent < 4:
        return None
    along = s.loops[-1]
    for load in trace.loads:
        k = load.at.coefficient(along)
        if k is not None and abs(k) > 1:
            for v in s.loops[:-1]:
                if load.at.coefficient(v) == 1 and v.extent >= 4:
                    return v
    return None


def _vectorises(trace: Trace, loops: tuple[Var, ...]) -> bool:
    return bool(loops) and loops[-1].extent > 1


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


def _steers_window(s: Stage, v: Var) -> bool:
    """Whether the bounds of a looped window depend on `v`, which then cannot be the innermost loop."""
    if s.maker.op not in POOLS:
        return False
    return any(v in e.vars() and e.vars() & set(s.reds) for e in s.source)


def _contiguity(k: int | None) -> int:
    return 0 if k == 0 else 1 if k == 1 else -1


def _window_bounds(s: Stage, v: Var) -> tuple[str, str]:
    """The part of a window that lies inside the tensor: 0 <= o * stride + k * dilation - pad < n."""
    p = s.maker
    if p.op not in POOLS or not v.name.startswith("k"):
        return str(v.lo), str(v.hi)
    from korch.ir.ops.reduce import spatial_axes

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


def _table_names(text: str) -> list[str]:
    import re

    return re.findall(r"KERNEL_table_[0-9a-f]{10}", text)
