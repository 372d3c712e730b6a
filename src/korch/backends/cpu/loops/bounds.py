"""Indices that the data bring are checked before a kernel runs: one outside of its axis is an error of the run.

The loops clamp every position, so that none reads outside of a tensor; here the run learns that one was wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from korch.backends.cpu.loops.spell import C
from korch.backends.cpu.loops.writer import SMALL, Writer
from korch.backends.maps.index import Index, Var
from korch.backends.maps.trace import Requests, Trace
from korch.ir.cone import Cone
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor

COMPUTED = frozenset({Category.REDUCE, Category.LINEAR})


def write_checks(writer: Writer) -> None:
    """A loop over the indices of each Take."""
    for number, (indices, n) in enumerate(_checked(writer.plan.cone)):
        _write_check(writer, indices, n, number)


def checks(cone: Cone) -> bool:
    """Whether there is anything to check: who does that opens the parallel regions of the kernel itself."""
    return bool(_checked(cone))


def objection(cone: Cone) -> str:
    """Why the indices of `cone` cannot be checked; empty if they can."""
    makers = cone.makers
    for indices, _ in _checked(cone):
        for p in _below(indices, makers):
            if p.category in COMPUTED:
                return f"{indices.name}: indices that {p.op} computes in the same kernel"
    return ""


def _checked(cone: Cone) -> dict[tuple[Tensor, int], None]:
    """The tensors of indices, each with the length of an axis that it indexes."""
    takes = (p for p in cone.primitives if p.op == "Take")
    return dict.fromkeys((p.inputs[1], p.inputs[0].shape[p.attr("axis")]) for p in takes)


def _below(t: Tensor, makers: dict[Tensor, Primitive]) -> Iterator[Primitive]:
    """The primitives of the cone that compute `t`."""
    stack, seen = [t], set[Tensor]()
    while stack:
        t = stack.pop()
        if t in makers and t not in seen:
            seen.add(t)
            yield makers[t]
            stack += makers[t].inputs


def _write_check(writer: Writer, t: Tensor, n: int, number: int) -> None:
    cone, text = writer.plan.cone, writer.text
    arrays = {leaf: f"in{i}" for i, leaf in enumerate(cone.leaves)}
    trace = Trace(cone.makers, arrays, {}, Requests(), C())
    loops = [Var(f"n{number}_{a}", 0, length) for a, length in enumerate(t.shape)]
    value = trace.value(t, tuple(map(Index.of, loops)))
    text.open(f"// every index in {t} lies in -{n}..{n - 1}\n" + "  " * text.depth)
    text.add("int wrong = 0;")
    if loops and writer.threads > 1 and math.prod(t.shape) > SMALL:
        text.add(f"#pragma omp parallel for num_threads({writer.team}) reduction(|:wrong)")
    for v in loops:
        writer.loop(v)
    text.add(*trace.lines, f"wrong |= {value} < -{n} || {value} >= {n};")
    text.close(len(loops))
    text.add("if (wrong) korch_out_of_range = 1;")
    text.close()
