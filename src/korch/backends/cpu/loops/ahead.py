"""What is asked for before its turn: the processor foresees no addresses beyond a page, and few streams of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from korch.backends.cpu.loops.binding import Stage
from korch.backends.cpu.loops.language import c_index
from korch.backends.cpu.loops.writer import FAR, LINE, Writer
from korch.backends.maps.index import Index, Var
from korch.backends.maps.trace import Load

AHEAD, SPREAD, SHORT = 64, 256, 128
"""Short runs that lie apart are asked for so many runs before their turn. From so many floats from run to run on, up to
so many floats of a run. (16 of 576 channels: 2.6 ms without, 2.2 with 32 runs, 1.95 with 64 and with 128.)"""
TOGETHER, FURTHER = 16, 192
"""Runs that one turn of shared loops may read, and by how many runs they are asked for before their turn. (Rows of 12
times 16 of 48 channels, divided by sums: 2.3 ms without, 0.64 with 48 runs, 0.6 with 192.)"""


def in_a_map(writer: Writer, loops: tuple[Var, ...], loads: Iterable[Load]) -> Iterator[str]:
    """Prefetches of what a stage's loops read, one a turn of the last loop but one."""
    if len(loops) < 2:
        return
    outer, inner = loops[-2:]
    if outer.extent < AHEAD:
        return
    for load in dict.fromkeys(loads):
        step = 0 if load.at.fetched else load.at.coefficient(outer) or 0
        if step >= max(SPREAD, 2 * inner.extent) and (run := _run(writer, load, [inner])):
            yield from _lines(writer, load, load.at + AHEAD * step, run)


def in_shared_loops(writer: Writer) -> list[str]:
    """Prefetches of what the stages read in one turn of the loops that they share."""
    plan, found = writer.plan, list[str]()
    for _, load in _loads(writer):
        own = sorted(load.at.vars().difference(plan.hoisted), key=lambda v: v.name)
        run = _run(writer, load, own) if load.at.affine else None
        if run and (to := _later(load.at, plan.hoisted, math.prod(v.extent for v in own), run.extent)):
            found += _lines(writer, load, to, run, [v for v in own if v != run])
    return list(dict.fromkeys(found))


def in_next_piece(writer: Writer) -> list[tuple[str, int, int]]:
    """Of what is stored for some steps of a product at a time, where the next piece's runs begin, in C, the lines of a
    run, and the floats from run to run."""
    plan, found = writer.plan, list[tuple[str, int, int]]()
    for s, load in _loads(writer) if plan.pieces else ():
        steps = [v for v in s.loops if load.at.coefficient(v)]
        run = _run(writer, load, steps[-1:]) if load.at.affine else None
        walked = [load.at.coefficient(v) or 0 for v in steps[:-1]]
        if run and walked and walked[:-1] == [v.extent * k for v, k in zip(steps[1:-1], walked[1:], strict=True)]:
            at = _put(load.at + (load.at.coefficient(plan.pieces[0]) or 0), {v: v.lo for v in steps})
            found.append((f"{_array(writer, load)} + {c_index(at)}", -(-run.extent // LINE), walked[-1]))
    return found


@dataclass(frozen=True)
class Spread:
    """Lines that lie one behind the other from `begin` on, in C: `each` of them asked for in one turn."""

    begin: str
    each: int

    def in_turn(self, number: str) -> tuple[str, str]:
        """C that asks for the share of a turn."""
        size = self.each * LINE
        return (
            f"const float *const next = {self.begin} + {number} * {size};",
            f"for (int l = 0; l < {size}; l += {LINE}) __builtin_prefetch(next + l, 0, 2);",
        )


def spread(begin: str, floats: int, turns: int) -> Spread:
    """So many floats in equal shares."""
    return Spread(begin, -(-floats // (LINE * turns)))


def lie_between(writer: Writer) -> bool:
    """Whether pieces of operands lie between those of other turns: then all turns take one before any takes the next,
    each thread its own ones, and what is read together lies together. (12 heads of 16384 x 16: 1.39 -> 1.02 ms.)"""
    found = [load.at for _, load in _loads(writer)] if writer.plan.pieces and writer.plan.independent else []
    return bool(found) and all(_lies_between(at, writer.plan.independent[-1], writer.plan.pieces[0]) for at in found)


def _lies_between(at: Index, turn: Var, piece: Var) -> bool:
    return 0 < (at.coefficient(turn) or 0) < (at.coefficient(piece) or 0)


def _loads(writer: Writer) -> list[tuple[Stage, Load]]:
    """What the stages but products read."""
    nests = [nest for s in writer.plan.stages if not s.multiplies for nest in writer.nests(s)]
    return [(s, load) for s, plan in nests for load in dict.fromkeys(writer.trace(s, plan)[0].loads)]


def _later(at: Index, loops: tuple[Var, ...], each: int, run: int) -> Index | None:
    """Where runs of `run` floats are read `FURTHER` runs after `at`, or as many as half of the innermost loop whose
    turns lie apart has; `each`: floats of a turn of the innermost loop. None where there is no such loop."""
    for v in reversed(loops):
        step = at.coefficient(v) or 0
        if step >= max(SPREAD, 2 * each):
            return at + min(math.ceil(FURTHER * run / each), v.extent // 2) * step
        each *= v.extent if step else 1
    return None


def _run(writer: Writer, load: Load, own: Collection[Var]) -> Var | None:
    """The variable of `own` along which a leaf that may be far away is read in short runs; None where there is no such,
    or the runs are many."""
    run = next((v for v in own if load.at.coefficient(v) == 1), None)
    far = load.tensor in writer.plan.cone.leaves and load.tensor.nbytes >= FAR
    if not far or run is None or run.extent > SHORT:
        return None
    return run if math.prod(v.extent for v in own if v != run) <= TOGETHER else None


def _lines(writer: Writer, load: Load, at: Index, run: Var, others: Sequence[Var] = ()) -> Iterator[str]:
    """One prefetch for each line of the runs."""
    array = _array(writer, load)
    for places in product(*(range(v.lo, v.hi) for v in others)):
        first = _put(at, {run: run.lo, **dict(zip(others, places, strict=True))})
        for line in range(0, run.extent, LINE):
            yield f"__builtin_prefetch({array} + {c_index(first + line)}, 0, 2);"


def _array(writer: Writer, load: Load) -> str:
    return f"in{writer.plan.cone.leaves.index(load.tensor)}"


def _put(at: Index, places: Mapping[Var, int]) -> Index:
    """`at` with some variables at given places."""
    return at + sum((Index.of(v) * -k + k * place for v, place in places.items() if (k := at.coefficient(v))), Index())
