"""Cuts a cone into stages and binds their axes to loops.

A *stage* is a loop nest that stores one tensor: every reduction is one, and the root is the last. Where
all stages can run inside common outer loops (softmax inside the loop over rows) those loops are *hoisted*, and what the
stages pass on stays in cache; else the stages run one after another over whole tensors.
"""

from __future__ import annotations

import math
from dataclasses import replace

from korch.backends.cpu.loops.binding import (
    Config,
    Place,
    Schedule,
    Stage,
    bind,
    is_reduction,
    trace_body,
    tracer,
)
from korch.backends.maps.index import Div, Index, Lookup, Mod
from korch.backends.maps.trace import Requests
from korch.ir.cone import Cone
from korch.ir.ops.table import Category
from korch.ir.tensor import Tensor

FEWER = 16
"""How many times fewer statistics there are than places that read them."""
BLOCK = 64
"""Elements of the contiguous axis that a hoisted loop leaves to its stages (whole cache lines, several vectors)."""


def schedule(cone: Cone, threads: int, place: Place | None = None) -> Schedule:
    """Schedules `cone` for `threads` threads."""
    config = Config(kept=worth_keeping(cone), place=place)
    plan = settled(cone, config)
    if config.kept and not plan.hoisted:
        plan = settled(cone, Config(kept=statistics(cone), place=place))
    plan = _vector_lanes(plan)
    if plan.hoisted and math.prod(v.extent for v in plan.hoisted) < threads and _large(cone):
        plan = settled(cone, replace(plan.config, kept=statistics(cone)))
        names = frozenset(v.name for v in (*plan.stages[-1].loops, *plan.hoisted))
        plan = settled(cone, replace(plan.config, grounded=plan.config.grounded | names))
    return _merge(plan)


def _large(cone: Cone) -> bool:
    return max(t.size for t in (*cone.leaves, cone.root)) > 1 << 15


def worth_keeping(cone: Cone) -> frozenset[Tensor]:
    """Costly elementwise values that several primitives read, and statistics."""
    uses: dict[Tensor, int] = {}
    for p in cone.primitives:
        for t in set(p.inputs):
            uses[t] = uses.get(t, 0) + 1
    reducing = any(is_reduction(p) for p in cone.primitives)
    costly = [p.output for p in cone.primitives if reducing and p.spec.costly and p.output != cone.root]
    return frozenset(t for t in costly if uses.get(t, 0) > 1) | statistics(cone)


def statistics(cone: Cone) -> frozenset[Tensor]:
    """Values made of roots or quotients, one for each place along the last axis, which are read by many more places:
    inner loops would compute them again for each. (Norms of images whose channels lie last.)"""
    if not any(is_reduction(p) for p in cone.primitives):
        return frozenset()
    slow = set[Tensor]()
    for p in cone.primitives:
        if p.category is Category.ELEMENTWISE and (p.spec.costly or p.spec.divides or not slow.isdisjoint(p.inputs)):
            slow.add(p.output)
    read = ((t, p.output) for p in cone.primitives if p.category is Category.ELEMENTWISE for t in p.inputs)
    return frozenset(t for t, by in read if t in slow and t.shape[-1:] not in ((), (1,)) and FEWER * t.size <= by.size)


def settled(cone: Cone, config: Config) -> Schedule:
    """Repeats until no new split is asked for."""
    plan = bind(cone, config)
    for _ in range(24):
        new = {n: d for n, d in plan.requests.splits.items() if n not in dict(config.splits)}
        if not new:
            return plan
        config = replace(config, splits=config.splits + tuple(new.items()))
        plan = bind(cone, config)
    return plan


def _vector_lanes(plan: Schedule) -> Schedule:
    """Leaves a block of the contiguous axis to the stages, so that they have something to vectorise."""
    root = plan.stages[-1]
    if len(plan.stages) == 1 or not plan.hoisted or not root.tensor.rank:
        return plan
    last = [v for v in root.axes[-1].vars() if v in plan.hoisted]
    if not last:
        return plan
    innermost = min(last, key=lambda v: root.axes[-1].coefficient(v) or 0)
    by = max((d for d in range(16, BLOCK + 1) if innermost.extent % d == 0), default=0)
    config = plan.config
    if by and innermost.extent > BLOCK:
        config = replace(
            config, splits=(*config.splits, (innermost.name, by)), grounded=config.grounded | {innermost.name + "b"}
        )
    else:
        config = replace(config, grounded=config.grounded | {innermost.name})
    return settled(plan.cone, config)


def _merge(plan: Schedule) -> Schedule:
    """Joins adjacent loops that walk memory as one, so that inner loops get long."""
    for stage in plan.stages:
        runs = [("i", _runs(stage, reduced=False))]
        if stage.maker.spec.folds:
            runs.append(("r", _runs(stage, reduced=True)))
        for kind, axes in runs:
            plan = _merge_axes(plan, f"{kind}{stage.number}", axes)
    return plan


def _runs(stage: Stage, reduced: bool) -> list[int]:
    """The last run of adjacent axes that could become one loop (axes of length 1 between them do not matter)."""
    if reduced:
        shape, wanted = stage.maker.inputs[0].shape, set(stage.maker.attr("axes"))
    else:
        shape = stage.tensor.shape
        free = {v for v in stage.loops}
        wanted = {a for a, e in enumerate(stage.axes) if e.vars() and e.vars() <= free}
    run: list[int] = []
    for a in reversed(range(len(shape))):
        if shape[a] == 1:
            continue
        if a in wanted:
            run.insert(0, a)
        elif run:
            break
    return run


def _merge_axes(plan: Schedule, name: str, axes: list[int]) -> Schedule:
    """Tries the longest suffix of `axes` first, then any inner pair."""
    for first in range(len(axes) - 1):
        for last in range(len(axes) - 1, first, -1):
            config = replace(plan.config, merged=(*plan.config.merged, (name, axes[first], axes[last])))
            tried = bind(plan.cone, config)
            if _no_worse(plan, tried):
                return tried
    return plan


def _no_worse(before: Schedule, after: Schedule) -> bool:
    new = set(after.requests.splits) - set(dict(after.config.splits))
    same = tuple(v.name for v in before.hoisted) == tuple(v.name for v in after.hoisted)
    return not new and same and _divisions(after) <= _divisions(before) and _breaks(after) >= _breaks(before)


def _breaks(plan: Schedule) -> int:
    return sum(map(len, plan.requests.breaks.values()))


def _divisions(plan: Schedule) -> int:
    """Divisions, remainders and table look-ups left in the loops."""
    return sum(_count(e) for e in trace_all(plan))


def _count(e: Index) -> int:
    return sum(isinstance(a, Div | Mod | Lookup) for a in e.atoms())


def trace_all(plan: Schedule) -> list[Index]:
    """Every index that the stages' bodies use."""
    found: list[Index] = []
    for stage in plan.stages:
        trace = tracer(plan, stage, Requests())
        trace_body(trace, stage)
        found += trace.indices
        found += [i for _, idx in trace.reads for i in idx]
        found += [plan.destination(stage), *(stage.source if stage.maker.spec.is_pool else ())]
    return found
