"""The writer of one kernel's loop nests: its statements, its workspace, loops, loads and stores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import pairwise, product

from korch.backends.cpu.c import Function, Statements
from korch.backends.cpu.loops.binding import Schedule, Stage, trace_body, tracer, within
from korch.backends.cpu.loops.ctypes import C_TYPES
from korch.backends.cpu.loops.language import C, c_index
from korch.backends.maps.index import Var
from korch.backends.maps.trace import Requests, Trace

SMALL = 1 << 14
"""Work (element operations) below which starting threads costs more than it saves."""
MOST_NESTS = 64
FAR, LINE = 1 << 18, 16
"""Bytes of a tensor from which on what is read of it may be asked for ahead; floats of a cache line."""


@dataclass
class Writer:
    """Writes the kernel of `plan` for `threads` threads; `workspace` is the bytes that it has asked for so far,
    `functions` what it calls, by name."""

    plan: Schedule
    threads: int
    text: Statements = field(default_factory=Statements)
    workspace: int = 0
    functions: dict[str, Function] = field(default_factory=dict[str, Function])
    streamed: bool = False
    """Whether something of it is stored past the caches."""

    def loop(self, v: Var, lo: str = "", hi: str = "", step: int = 1) -> AbstractContextManager[None]:
        """The loop over `v`, or over a part of its range, in steps, for what is added within."""
        return self.text.block(loop_head(v, lo, hi, step))

    def loops(self, loops: Iterable[Var]) -> AbstractContextManager[None]:
        """Loops within each other, outermost first."""
        return self.text.nest(map(loop_head, loops))

    def buffer(self, s: Stage, elements: int, name: str) -> None:
        """Declares room in the workspace for so many elements of what the stage makes."""
        ctype = C_TYPES[s.tensor.dtype]
        self.text.add(f"{ctype} *restrict {name} = ({ctype} *)((char *)workspace + {self.workspace});")
        self.workspace += aligned(elements * width(s))

    def store(self, s: Stage, value: str) -> str:
        """The statement that stores the stage's element at the loops' position."""
        return f"{target(s)}[{c_index(self.plan.destination(s))}] = {value};"

    def nests(self, s: Stage) -> Iterator[tuple[Stage, Schedule]]:
        """The stage once for each combination of ranges between which its loops must break."""
        breaks = {n: b for n, b in self.breaks(s).items() if any(v.name == n for v in s.loops)}
        while math.prod(len(b) + 1 for b in breaks.values()) > MOST_NESTS:
            del breaks[max(breaks, key=lambda n: len(breaks[n]))]
        if not breaks:
            yield s, self.plan
            return
        spans = [[(n, r) for r in _spans(next(v for v in s.loops if v.name == n), b)] for n, b in breaks.items()]
        for combination in product(*spans):
            plan = within(self.plan, s.number, dict(combination))
            yield plan.stages[s.number], plan

    def breaks(self, s: Stage) -> dict[str, set[int]]:
        """Where the loops of the stage had better break, by name."""
        requests = Requests()
        trace_body(tracer(self.plan, s, requests), s)
        return requests.breaks

    def trace(self, s: Stage, plan: Schedule, language: C | None = None) -> tuple[Trace, list[str]]:
        """The statements of the stage's body, and the names of the values that it stores or folds."""
        trace = tracer(plan, s, Requests(), language)
        return trace, trace_body(trace, s)


def loop_head(v: Var, lo: str = "", hi: str = "", step: int = 1) -> str:
    """The head of the loop over `v`, or over a part of its range, in steps."""
    forth = f"{v.name} += {step}" if step > 1 else f"++{v.name}"
    return f"for (int {v.name} = {lo or v.lo}; {v.name} < {hi or v.hi}; {forth})"


def target(s: Stage) -> str:
    """The C name of what the stage stores to."""
    return "out" if s.root else f"b{s.number}"


def width(s: Stage) -> int:
    """Bytes of an element that the stage makes."""
    return s.tensor.nbytes // max(s.tensor.size, 1) or 1


def aligned(size: int) -> int:
    """`size` bytes in whole cache lines."""
    return (size + 63) // 64 * 64


def _spans(v: Var, breaks: set[int]) -> list[tuple[int, int]]:
    edges = [v.lo, *sorted(breaks), v.hi]
    return list(pairwise(edges))
