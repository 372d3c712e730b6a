"""The loop nests of a stage that maps: every element of its tensor computed by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from korch.backends.cpu.loops import ahead
from korch.backends.cpu.loops.binding import Schedule, Stage
from korch.backends.cpu.loops.interleave import Interleaved, interleaved
from korch.backends.cpu.loops.language import C, c_index
from korch.backends.cpu.loops.wide import Wide, in_vectors
from korch.backends.cpu.loops.writer import LINE, Writer, target
from korch.backends.maps.index import Index, Var
from korch.backends.maps.trace import Trace
from korch.ir.tensor import Tensor

TILE = 16
"""Sides of the squares in which is written along one loop what is read along another; `korch_turn` knows it, too."""
PAGE = 1024
"""Floats."""
LEAST = 4
"""Turns of a loop that is worth vectors."""
PIECE = 256
"""Floats on their way past the caches."""


class _Turning(C):
    """Reads what lies along `across` from squares that have been turned."""

    def __init__(self, across: Var, along: Var) -> None:
        self.across, self.along = across, along
        self.turned: dict[tuple[str, Index], str] = {}

    def load(self, t: Tensor, array: str, at: Index) -> str:
        if t.dtype != "float32" or not at.affine or not _crosses(at, self.across, self.along):
            return super().load(t, array, at)
        name = self.turned.setdefault((array, at), f"turned{len(self.turned)}")
        across, along = self.across.name, self.along.name
        return f"{name}[({across} - {across}0) * {TILE} + {along} - {along}0]"


@dataclass(frozen=True)
class _Nest:
    """Loops and what one turn does; `across` is the loop along which it reads what it writes along the last; `ahead`
    asks for what later turns read."""

    stage: Stage
    plan: Schedule
    body: list[str]
    across: Var | None
    ahead: tuple[str, ...] = ()
    streamed: tuple[str, str] | None = None
    """The value, and the place of the first one of the last loop, where they go past the caches."""
    turned: Mapping[tuple[str, Index], str] = field(default_factory=dict[tuple[str, Index], str])
    """Where it reads along `across`, by array and position: the names of squares that lie as it is written."""
    step: int = 1
    """Turns of the last loop that are one of its body, which is in vectors then."""

    @property
    def outer(self) -> tuple[Var, ...]:
        return self.stage.loops[:-1]

    def shares_loops_with(self, other: _Nest) -> bool:
        """Whether both may stand in the same outer loops; without such a loop there is nothing to share."""
        return bool(self.outer) and (self.across, self.outer) == (other.across, other.outer)


def write_map(writer: Writer, s: Stage, parallel: bool) -> None:
    """Writes the nests of `s`, shared among the threads where `parallel`."""
    for nests in _alike(_nests(writer, s)):
        first = nests[0]
        if whole := interleaved(writer, [(nest.stage, nest.plan) for nest in nests]):
            _interleaved(writer, whole, parallel)
        elif first.across:
            for nest in nests:
                _tiled(writer, nest, first.across, parallel)
        elif first.stage.loops:
            _plain(writer, nests, parallel)
        else:
            _once(writer, first.body, parallel)


def _alike(nests: Iterable[_Nest]) -> list[list[_Nest]]:
    """Consecutive nests that share outer loops, together."""
    found: list[list[_Nest]] = []
    for nest in nests:
        if found and nest.shares_loops_with(found[-1][0]):
            found[-1].append(nest)
        else:
            found.append([nest])
    return found


def _nests(writer: Writer, s: Stage) -> Iterator[_Nest]:
    for stage, plan in writer.nests(s):
        trace, values = writer.trace(stage, plan)
        across, asked = _transposed(stage, trace), tuple(ahead.in_a_map(writer, stage.loops, trace.loads))
        turned: dict[tuple[str, Index], str] = {}
        if across and _is_far(plan.destination(stage), stage, across):
            trace, values = writer.trace(stage, plan, turning := _Turning(across, stage.loops[-1]))
            turned = turning.turned
        if not across and (wide := _in_vectors(writer, stage, plan)):
            writer.streamed |= plan.streams(stage)
            place = f"{target(stage)} + {c_index(plan.destination(stage))}"
            yield _Nest(stage, plan, wide.stored(place, plan.streams(stage)), None, asked, step=wide.lanes)
        elif _streams(plan, stage):
            writer.streamed = True
            to = plan.destination(stage) + Index.of(stage.loops[-1]) * -1
            streamed = values[0], f"{target(stage)} + {c_index(to)}"
            yield _Nest(stage, plan, trace.lines, across, asked, streamed, turned)
        else:
            body = [*trace.lines, writer.store(stage, values[0])]
            yield _Nest(stage, plan, body, across, asked, turned=turned)


def _in_vectors(writer: Writer, s: Stage, plan: Schedule) -> Wide | None:
    """The body for a vector along the last loop, where what it makes lies together."""
    if not s.loops or plan.destination(s).coefficient(s.loops[-1]) != 1:
        return None

    def traced(language: C) -> tuple[Trace, str]:
        trace, values = writer.trace(s, plan, language)
        return trace, values[0]

    return in_vectors(s.loops[-1], s.loops[-1].hi - s.loops[-1].lo, traced)


def _streams(plan: Schedule, s: Stage) -> bool:
    """Whether each turn of all loops but the last stores whole lines past the caches."""
    if not plan.streams(s) or not s.loops:
        return False
    at, v = plan.destination(s), s.loops[-1]
    lines = all(n % LINE == 0 for n in (v.lo, v.extent, at.const, *(k for atom, k in at.terms if atom != v)))
    return lines and at.coefficient(v) == 1


def _plain(writer: Writer, nests: Sequence[_Nest], parallel: bool) -> None:
    """Nests that differ in their last loop run side by side inside the others: what is written lies in a row."""
    loops, inner, text = nests[0].outer, [n.stage.loops[-1] for n in nests], writer.text
    shared = _collapse((*loops, inner[0]), writer.threads) if parallel else 0
    if len(nests) > 1:
        shared = min(shared, len(loops))
    vector = [v.extent >= LEAST for v in inner]
    if shared:
        simd = " simd" if vector[0] and shared > len(loops) and not nests[0].streamed and nests[0].step == 1 else ""
        text.add(f"#pragma omp for{simd} schedule(static) nowait collapse({shared})")
    with writer.loops(loops):
        for nest, v, wide in zip(nests, inner, vector, strict=True):
            if shared <= len(loops):
                text.add(*nest.ahead)
            if nest.streamed:
                _streamed(writer, v, nest.body, *nest.streamed)
                continue
            if wide and shared <= len(loops) and nest.step == 1:
                text.add("#pragma omp simd")
            with writer.loop(v, step=nest.step):
                text.add(*nest.body)


def _interleaved(writer: Writer, whole: Interleaved, parallel: bool) -> None:
    """Vectors along the last loop of `whole`."""
    if parallel:
        shared = _collapse((*whole.loops, whole.loops[-1]), writer.threads)
        writer.text.add(f"#pragma omp for schedule(static) nowait collapse({min(shared, len(whole.loops))})")
    with writer.loops(whole.loops[:-1]), writer.loop(whole.loops[-1], step=whole.lanes):
        writer.text.add(*whole.body())


def _streamed(writer: Writer, v: Var, body: list[str], value: str, to: str) -> None:
    """The loop over `v` in pieces."""
    length = max(n for n in range(LINE, PIECE + 1, LINE) if v.extent % n == 0)
    with writer.text.block(f"for (int {v.name}0 = {v.lo}; {v.name}0 < {v.hi}; {v.name}0 += {length})"):
        _piece(writer, v, length, body, value, to)


def _piece(writer: Writer, v: Var, length: int, body: list[str], value: str, to: str) -> None:
    """So many turns of the loop over `v`. What they make is in the first-level cache before it is stored."""
    text, first = writer.text, f"{v.name}0"
    text.add(f"float piece[{length}] __attribute__((aligned(64)));", "#pragma omp simd")
    with writer.loop(v, first, f"{first} + {length}"):
        text.add(*body, f"piece[{v.name} - {first}] = {value};")
    text.add(f"korch_stream({to} + {first}, piece, {length});")


def _once(writer: Writer, body: list[str], parallel: bool) -> None:
    if parallel:
        writer.text.add("#pragma omp single nowait")
    with writer.text.block():
        writer.text.add(*body)


def _tiled(writer: Writer, nest: _Nest, across: Var, parallel: bool) -> None:
    """Writes along the last loop, reads along `across`: squares keep both in cache, and turn in registers."""
    (*_, along), text = nest.stage.loops, writer.text
    others = [v for v in nest.outer if v != across]
    if parallel:
        text.add(f"#pragma omp for schedule(static) nowait collapse({len(others) + 2})")
    squares = (f"for (int {v.name}0 = {v.lo}; {v.name}0 < {v.hi}; {v.name}0 += {TILE})" for v in (along, across))
    with writer.loops(others), text.nest(squares):
        text.add(*_turned(nest, across))
        with writer.loop(across, f"{across.name}0", f"KORCH_MIN({across.name}0 + {TILE}, {across.hi})"):
            if nest.streamed:
                _piece(writer, along, TILE, nest.body, *nest.streamed)
                return
            end = f"{along.name}0 + {TILE}"
            text.add("#pragma omp simd")
            hi = end if along.extent % TILE == 0 else f"KORCH_MIN({end}, {along.hi})"
            with writer.loop(along, f"{along.name}0", hi):
                text.add(*nest.body)


def _turned(nest: _Nest, across: Var) -> Iterator[str]:
    """The squares of a nest that are turned, before they are read."""
    along = nest.stage.loops[-1]
    for (array, at), name in nest.turned.items():
        corner = at
        for v in (along, across):
            corner = corner + (Index.of(replace(v, name=f"{v.name}0")) - Index.of(v)) * (at.coefficient(v) or 0)
        yield f"float {name}[{TILE * TILE}] __attribute__((aligned(64)));"
        rows = f"KORCH_MIN({across.hi} - {across.name}0, {TILE})"
        yield f"korch_turn({name}, {array} + {c_index(corner)}, {at.coefficient(along)}, {rows});"


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
    crossing = (v for load in trace.loads for v in s.loops[:-1] if v.extent >= 4 and _crosses(load.at, v, along))
    return next(crossing, None)


def _is_far(to: Index, s: Stage, across: Var) -> bool:
    """Whether squares are written whole, their rows pages apart.

    To turn those in registers takes half the time or less (208 x 208 x 16 to 16 x 208 x 208: 0.07 for 0.37 ms in cache,
    0.21 for 0.42 from memory). Others take as long either way, and up to 10% longer where what is read comes from
    memory.
    """
    return s.loops[-1].extent % TILE == 0 and (to.coefficient(across) or 0) >= PAGE


def _crosses(at: Index, across: Var, along: Var) -> bool:
    """Whether elements lie side by side along `across`, and apart along `along`."""
    return at.coefficient(across) == 1 and abs(at.coefficient(along) or 0) > 1
