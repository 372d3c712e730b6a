"""Constants as tiles read them: group by group of columns, each step by step."""

from __future__ import annotations

import math

from korch.backends.cpu.c import Function, Statements, Table
from korch.backends.cpu.c.tree import init_function
from korch.backends.cpu.loops import tile
from korch.backends.cpu.loops.binding import Schedule, Stage, tracer
from korch.backends.cpu.loops.block import ProductBlock, without
from korch.backends.cpu.loops.language import c_index
from korch.backends.cpu.packed import FREE_PACKED, packed
from korch.backends.maps.index import Index, Var, flat
from korch.backends.maps.trace import Requests


def packed_at(s: Stage, block: ProductBlock) -> str:
    """Where the columns of a block begin, behind the room of all blocks before it."""
    batch = flat(s.second[:-2], s.maker.inputs[1].shape[:-2]) if s.maker.spec.is_product else Index()
    each, room = (sum(width for *_, width in some) for some in (_packed(s, block), _room(0, block)))
    first = without(s.axes[-1], block.columns)
    assert all(k % block.width == 0 for k in (first.const, *(k for _, k in first.terms)))
    before = Index(first.const // block.width, tuple((atom, k // block.width) for atom, k in first.terms))
    return f"{block.step.extent} * ({c_index(before * room + batch * each)})"


def _packed(s: Stage, block: ProductBlock) -> list[tuple[int, int, int]]:
    """(first column, columns, their room) of each group of a matrix."""
    return [group for at in range(0, s.tensor.shape[-1], block.width) for group in _room(at, block)]


def _room(at: int, block: ProductBlock) -> list[tuple[int, int, int]]:
    """The same for the block whose columns begin at `at`."""
    return [(at + g.first, g.columns, g.width) for g in tile.groups(block.width)]


def packing(plan: Schedule, s: Stage, block: ProductBlock) -> dict[str, Function]:
    """The functions of the state: the second operand group by group, each group step by step."""
    w, columns, steps, found = s.maker.inputs[1], s.tensor.shape[-1], block.step, _packed(s, block)
    batch = [Var(f"i{a}", 0, n) for a, n in enumerate(w.shape[:-2])] if s.maker.spec.is_product else []
    n, at = Index.of(Var("n", 0, columns)), Index.of(steps)
    second = (*map(Index.of, batch), at, n) if s.maker.spec.is_product else (n, at, *[Index()] * (w.rank - 2))
    trace = tracer(plan, s, Requests())
    value = trace.value(w, second)
    each = sum(width for *_, width in found) * steps.extent
    size = 4 * each * math.prod(v.extent for v in batch)
    text = Statements()
    for i, t in enumerate(plan.cone.leaves):
        if t.const and t.value is None:
            text.add(f"const float *in{i} = in[{i}]; (void)in{i};")
    text.add(
        f"float *to = *state = korch_aligned({size});",
        "if (!to) return 1;",
        Table("int", "groups", tuple(f"{{{a}, {b}, {c}}}" for a, b, c in found), "[][3]"),
    )
    loops = (*batch, Var("g", 0, len(found)), steps)
    heads = (f"for (int {v.name} = 0; {v.name} < {v.extent}; ++{v.name})" for v in loops)
    with text.nest((*heads, "for (int j = 0; j < groups[g][2]; ++j)")):
        text.add(f"const int n = KORCH_MIN(groups[g][0] + j, {columns - 1});", *trace.lines)
        text.add(f"*to++ = j < groups[g][1] ? {value} : 0.0f;")
    text.add(packed(size))
    return {"init": init_function(text.body), "free": FREE_PACKED}
