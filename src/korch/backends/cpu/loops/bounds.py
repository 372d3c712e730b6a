"""Indices that the data bring are checked before a kernel runs: one outside of its axis is an error of the run.

The loops clamp every position, so that none reads outside of a tensor; here the run learns that one was wrong.
"""

from __future__ import annotations

from collections.abc import Iterator

from korch.backends.cpu.c import Comment, Statements
from korch.backends.cpu.loops.language import C
from korch.backends.maps.index import Index, Var
from korch.backends.maps.trace import Requests, Trace
from korch.ir.cone import Cone
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor, type_text

COMPUTED = frozenset({Category.REDUCE, Category.LINEAR})


def write_checks(text: Statements, cone: Cone, threads: int) -> None:
    """A loop over the indices of each Take, shared out by a team of so many; who finds one outside of its axis says
    so."""
    for number, (t, n) in enumerate(_taken(cone)):
        kind = type_text(t.dtype, t.shape)
        text.add(Comment.of("every index in ", t, f": {kind} lies in -{n}..{n - 1}"))
        with text.block():
            text.add("int wrong = 0;")
            if t.rank and threads > 1:
                text.add(f"#pragma omp for schedule(static) nowait collapse({t.rank})")
            _write_loops(text, cone, t, n, number)
            text.add("if (wrong) korch_out_of_range = 1;")


def checks(cone: Cone) -> bool:
    """Whether there is anything to check."""
    return bool(_taken(cone))


def refusal(cone: Cone) -> str:
    """Why the indices of `cone` cannot be checked; empty if they can."""
    makers = cone.makers
    for indices, _ in _taken(cone):
        for p in _below(indices, makers):
            if p.category in COMPUTED:
                return f"{indices.name}: indices that {p.op} computes in the same kernel"
    return ""


def _taken(cone: Cone) -> dict[tuple[Tensor, int], None]:
    """The tensors of indices, each with the length of an axis that it indexes."""
    takes = (p for p in cone.primitives if p.spec.takes)
    return dict.fromkeys((p.inputs[1], p.inputs[0].shape[int(p.attr("axis"))]) for p in takes)


def _below(t: Tensor, makers: dict[Tensor, Primitive]) -> Iterator[Primitive]:
    """The primitives of the cone that compute `t`."""
    stack, seen = [t], set[Tensor]()
    while stack:
        t = stack.pop()
        if t in makers and t not in seen:
            seen.add(t)
            yield makers[t]
            stack += makers[t].inputs


def _write_loops(text: Statements, cone: Cone, t: Tensor, n: int, number: int) -> None:
    """Sets `wrong` where an index in `t`, the `number`th tensor of them, is outside of an axis of length n."""
    arrays = {leaf: f"in{i}" for i, leaf in enumerate(cone.leaves)}
    trace = Trace(cone.makers, arrays, {}, Requests(), C())
    loops = [Var(f"n{number}_{a}", 0, length) for a, length in enumerate(t.shape)]
    value = trace.value(t, tuple(map(Index.of, loops)))
    with text.nest(f"for (int {v.name} = 0; {v.name} < {v.hi}; ++{v.name})" for v in loops):
        text.add(*trace.lines, f"wrong |= {value} < -{n} || {value} >= {n};")
