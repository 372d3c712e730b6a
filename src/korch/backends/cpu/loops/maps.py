"""The loop nests of a stage that maps: every element of its tensor computed by itself."""

from __future__ import annotations

from korch.backends.cpu.loops.binding import Stage
from korch.backends.cpu.loops.writer import Writer
from korch.backends.maps.index import Var
from korch.backends.maps.trace import Trace

TILE = 16


def write_map(writer: Writer, s: Stage, parallel: bool) -> None:
    """Writes the nests of `s`, shared among the threads where `parallel`."""
    for nest, plan in writer.nests(s):
        trace, values = writer.trace(nest, plan)
        body = [*trace.lines, writer.store(nest, values[0])]
        across = _transposed(nest, trace)
        if across:
            _tiled(writer, nest, across, body, parallel)
        elif nest.loops:
            _plain(writer, nest.loops, body, parallel)
        else:
            _once(writer, body, parallel)


def _plain(writer: Writer, loops: tuple[Var, ...], body: list[str], parallel: bool) -> None:
    simd = loops[-1].extent > 1
    outer = _collapse(loops, writer.threads) if parallel else 0
    for i, v in enumerate(loops):
        last = i == len(loops) - 1
        if i == 0 and outer:
            vector = " simd" if simd and outer == len(loops) else ""
            writer.text.add(f"#pragma omp for{vector} schedule(static) nowait collapse({outer})")
        elif last and simd and outer < len(loops):
            writer.text.add("#pragma omp simd")
        writer.loop(v)
    writer.text.add(*body)
    writer.text.close(len(loops))


def _once(writer: Writer, body: list[str], parallel: bool) -> None:
    writer.text.open("#pragma omp single nowait\n" + "  " * writer.text.depth if parallel else "")
    writer.text.add(*body)
    writer.text.close()


def _tiled(writer: Writer, s: Stage, across: Var, body: list[str], parallel: bool) -> None:
    """Writes along the last loop, reads along `across`: small tiles keep both in cache."""
    along, text = s.loops[-1], writer.text
    others = [v for v in s.loops if v not in (across, along)]
    if parallel:
        text.add(f"#pragma omp for schedule(static) nowait collapse({len(others) + 2})")
    for v in others:
        writer.loop(v)
    for v in (along, across):
        text.open(f"for (int {v.name}0 = {v.lo}; {v.name}0 < {v.hi}; {v.name}0 += {TILE})")
    writer.loop(across, f"{across.name}0", f"KORCH_MIN({across.name}0 + {TILE}, {across.hi})")
    text.add("#pragma omp simd")
    writer.loop(along, f"{along.name}0", f"KORCH_MIN({along.name}0 + {TILE}, {along.hi})")
    text.add(*body)
    text.close(len(others) + 4)


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
