"""Nested loops whose turns the threads of a team share out, and help each other with (`korch_rt.h`)."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from korch.backends.cpu.c import Statements, Table

LONG = 1 << 23
"""Work of a kernel from which on threads help each other: to look for what others have left takes them half a
microsecond at the end of each loop."""
TRANSFORM = 8
"""Work for an element of what Winograd's and Strassen's transforms make, which takes as long to move."""
FEW, ENOUGH = 8, 64
"""Turns a thread, below which there is nothing to help with, and beyond which inner loops stay whole: finding one's
place takes time. `MOST` fit into a share."""
MOST = 1 << 24


@dataclass(frozen=True)
class Loop:
    """`count` turns of a variable, which begins with `low` and grows by `step`."""

    name: str
    count: int
    step: int = 1
    low: int = 0

    @property
    def head(self) -> str:
        end = self.low + self.count * self.step
        return f"for (int {self.name} = {self.low}; {self.name} < {end}; {self.name} += {self.step})"


def helped(turns: float, threads: int, work: float) -> bool:
    """Whether threads help each other with the turns of loops."""
    return threads > 1 and work >= LONG and turns >= FEW * threads


@contextmanager
def shared_out(text: Statements, loops: Sequence[Loop], threads: int, work: float) -> Generator[None]:
    """The loops, outermost first, for a team, or for one thread. `work`: of the whole kernel, in element operations."""
    shared = _shared(loops, threads) if helped(math.prod(loop.count for loop in loops), threads, work) else 0
    with ExitStack() as blocks:
        if shared:
            blocks.enter_context(_turns(text, loops[:shared], threads))
        elif threads > 1:
            text.add(f"#pragma omp for schedule(static) nowait collapse({len(loops)})")
        blocks.enter_context(text.nest(loop.head for loop in loops[shared:]))
        yield


def _shared(loops: Sequence[Loop], threads: int) -> int:
    """How many of the outer loops are shared out as one."""
    counts = [math.prod(loop.count for loop in loops[:i]) for i in range(1, len(loops) + 1)]
    enough = next((i for i, n in enumerate(counts, 1) if n >= ENOUGH * threads), len(counts))
    return max(i for i in range(enough + 1) if not i or counts[i - 1] < MOST)


@contextmanager
def _turns(text: Statements, loops: Sequence[Loop], threads: int) -> Generator[None]:
    """A loop over the turns of all loops, which threads take from each other."""
    count = math.prod(loop.count for loop in loops)
    low, higher = divmod(count, threads)
    begins = [i * low + min(i, higher) for i in range(threads + 1)]
    text.add(
        Table.of("int", "begins", begins),
        f"korch_turns turns = korch_share_out(omp_get_thread_num(), {threads}, begins, NULL);",
    )
    text.steals = True
    with text.block("for (int turn; (turn = korch_take(&turns)) >= 0;)"):
        inner = count
        for loop in loops:
            outermost, inner = inner == count, inner // loop.count if loop.count else 0
            at = "turn" if inner == 1 else f"turn / {inner}"
            at = at if outermost else f"{at} % {loop.count}"
            at = at if loop.step == 1 else f"{at} * {loop.step}"
            text.add(f"const int {loop.name} = {f'{loop.low} + ' if loop.low else ''}{at};")
        yield
