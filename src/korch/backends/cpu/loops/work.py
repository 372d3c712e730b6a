"""What the generated loops compute at least: stages are stored, all else is computed again by whoever reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from korch.backends.cpu.loops.binding import stands_alone
from korch.backends.cpu.loops.ctypes import together
from korch.backends.cpu.loops.nests import joined
from korch.backends.cpu.loops.schedule import worth_keeping
from korch.ir.cone import Cone
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor


def operations(cone: Cone, computed: Mapping[Primitive, float]) -> dict[str, float]:
    """Element operations by operator, and loads under the name "". `computed`: how often each primitive is at least.

    Within a loop nest a value is computed once for each element that it has, as compilers hoist what does not vary.
    """
    made = cone.makers
    stages = {p.output for p in cone.primitives if stands_alone(p)} | worth_keeping(cone) | {cone.root}
    alike = joined(cone)
    alone = stages.difference(p.output for group in alike for p in group)
    counts: dict[str, float] = {}
    for group in (*alike, *((made[t],) for t in alone)):
        times = min(computed[p] for p in group)
        for op, elements in (*((p.op, times) for p in group), *_nest(group, made, stages, computed)):
            counts[op] = counts.get(op, 0.0) + min(times, elements)
    return _paired(cone, made, counts)


def _paired(cone: Cone, made: Mapping[Tensor, Primitive], counts: dict[str, float]) -> dict[str, float]:
    """Where functions are computed as one, that costs a quotient at least."""
    for p in cone.primitives:
        fused = together(p, made.get, made.get)
        if fused and fused.divides:
            times = min(p.output.size, *(counts.get(q.op, 0.0) for q in fused.members))
            for q in fused.members:
                counts[q.op] = counts.get(q.op, 0.0) - times
            counts["Reciprocal"] = counts.get("Reciprocal", 0.0) + times
    return counts


def _nest(
    group: Sequence[Primitive],
    made: Mapping[Tensor, Primitive],
    stages: set[Tensor],
    computed: Mapping[Primitive, float],
) -> Iterator[tuple[str, float]]:
    """What the loop nest of `group` computes and loads on the way to it, and how many elements of each at least."""
    seen: set[Tensor] = set()
    stack = [t for p in group for t in p.inputs]
    while stack:
        t = stack.pop()
        if t in seen or t.value is not None:
            continue
        seen.add(t)
        if t not in made or t in stages:
            yield "", t.size
            continue
        if made[t].category is not Category.LAYOUT:
            yield made[t].op, min(t.size, computed[made[t]])
        stack += made[t].inputs
