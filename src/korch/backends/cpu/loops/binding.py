"""Binds the axes of stages to loops, and traces what one turn of a stage's loops computes.

A *stage* is a loop nest that stores one tensor: every reduction and every product is one, and the root is the last.
Loops that all stages can run inside are *hoisted*.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from korch.backends.cpu.loops.caches import outgrows
from korch.backends.cpu.loops.language import C, c_index
from korch.backends.maps.index import Clamp, Index, Var, flat, unflat
from korch.backends.maps.trace import Indices, Requests, Trace, broadcast
from korch.ir.cone import Cone
from korch.ir.ops.reduce import spatial_axes
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor


@dataclass(frozen=True)
class Place:
    """Where a root lies in a larger tensor of that shape: from `start` on along `axis`. The larger one begins `offset`
    elements behind where the kernel stores to."""

    shape: tuple[int, ...]
    axis: int
    start: int
    offset: int = 0

    @property
    def outermost(self) -> bool:
        """Whether the root is one piece of memory there."""
        return math.prod(self.shape[: self.axis]) == 1

    @property
    def begins(self) -> bool:
        """Whether the root is the beginning of the tensor."""
        return self.outermost and not self.start and not self.offset

    @property
    def outgrows(self) -> bool:
        """Whether the tensor is stored past the caches."""
        return outgrows(self.shape)

    def at(self, idx: Indices) -> Index:
        return flat(tuple(i + self.start if a == self.axis else i for a, i in enumerate(idx)), self.shape) + self.offset


@dataclass(frozen=True)
class Config:
    """Decisions so far; scheduling starts from none and adds what tracing asks for. `fused`: what follows a product is
    computed where its sums are, and the product's stage stores the root. `place`: where the root lies, if it is a part
    of something. `piece`: steps of the product that makes the root for which its operands are stored at a time, or 0
    for all. `divided`: each thread has a part of the product's rows, or of the columns of few rows, as even as can
    be."""

    splits: tuple[tuple[str, int], ...] = ()
    merged: tuple[tuple[str, int, int], ...] = ()
    grounded: frozenset[str] = frozenset()
    fused: bool = False
    kept: frozenset[Tensor] = frozenset()
    place: Place | None = None
    piece: int = 0
    divided: bool = False


@dataclass
class Stage:
    """One loop nest. `axes` are the indices of `tensor`; an axis stores `extent` positions from `base` on.

    An axis whose extent is 1 runs in the hoisted loops alone; one with base 0 and its whole length, in the stage's.
    A product reads its rows at `source` and its columns at `second`. `ranges`: to what its loops were restricted, by
    name; of one turn no loop is left.
    """

    number: int
    tensor: Tensor
    maker: Primitive
    root: bool
    axes: Indices = ()
    base: Indices = ()
    extent: tuple[int, ...] = ()
    loops: tuple[Var, ...] = ()
    reds: tuple[Var, ...] = ()
    source: Indices = ()
    second: Indices = ()
    reads: list[Indices] = field(default_factory=list[Indices])
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])

    @property
    def reduces(self) -> bool:
        return is_reduction(self.maker)

    @property
    def multiplies(self) -> bool:
        return is_product(self.maker)

    @property
    def stored(self) -> int:
        """How many elements the stage stores for one turn of the hoisted loops."""
        return math.prod(self.extent)

    def in_turn(self, idx: Indices) -> Index:
        """Where the tensor's element `idx` lies among what one turn of the hoisted loops stores."""
        return flat(tuple(i - b for i, b in zip(idx, self.base, strict=True)), self.extent)


@dataclass(frozen=True)
class Schedule:
    """The stages in order, the loops they share, and what tracing asked for."""

    cone: Cone
    stages: tuple[Stage, ...]
    hoisted: tuple[Var, ...]
    requests: Requests
    config: Config
    pieces: tuple[Var, ...] = ()
    """Of the shared loops, the innermost one where it walks along the steps of the product that makes the root: its
    turns add to the same sums."""

    @property
    def independent(self) -> tuple[Var, ...]:
        """The shared loops whose turns have nothing to do with each other."""
        return self.hoisted[: len(self.hoisted) - len(self.pieces)]

    def destination(self, s: Stage) -> Index:
        """Where in its array the stage stores the element at its loops' position."""
        if not s.root:
            return s.in_turn(s.axes)
        return self.config.place.at(s.axes) if self.config.place else flat(s.axes, s.tensor.shape)

    def streams(self, s: Stage) -> bool:
        """Whether what the stage stores goes past the caches."""
        whole = self.config.place.shape if self.config.place else s.tensor.shape
        return s.root and s.tensor.dtype == "float32" and outgrows(whole)


def is_reduction(p: Primitive) -> bool:
    """Whether `p` folds what it reads."""
    return p.category is Category.REDUCE and not p.spec.scatters


def is_product(p: Primitive) -> bool:
    """Whether `p` is a matrix product, or a convolution taken as one."""
    return p.spec.contracts


def stands_alone(p: Primitive) -> bool:
    """Whether `p` has a stage of its own."""
    return is_reduction(p) or is_product(p)


def bind(cone: Cone, config: Config) -> Schedule:
    """Binds every stage's axes to loop variables and finds which loops all stages can share."""
    stages = _stages(cone, config)
    root = stages[-1]
    scope = _Scope(config, {})
    _own_axes(root, scope, {})
    shares = len(stages) > 1 or root.multiplies
    pieces = root.reds[:-1] if root.multiplies else ()
    hoisted = {v for v in (*root.loops, *pieces) if v.name not in config.grounded} if shares else set[Var]()
    while True:
        requests = Requests()
        kept = _bind_inner(cone, stages, scope, hoisted, requests)
        if kept == hoisted or len(stages) == 1:
            break
        hoisted = kept
    shared = tuple(v for v in root.loops if v in hoisted)
    pieces = tuple(v for v in pieces if v in hoisted)
    root.loops, root.reds = (tuple(v for v in some if v not in hoisted) for some in (root.loops, root.reds))
    return Schedule(cone, tuple(stages), (*shared, *pieces), requests, config, pieces)


def within(plan: Schedule, number: int, ranges: dict[str, tuple[int, int]]) -> Schedule:
    """`plan` with the loops of one stage restricted further, to `ranges`; what the stages store stays where it is."""
    old = plan.stages[number]
    ranges = old.ranges | ranges
    stage = replace(old, ranges=ranges)
    fixed = {} if old.root else dict(enumerate(zip(old.base, old.extent, strict=True)))
    _own_axes(stage, _Scope(plan.config, ranges), fixed)
    stage.loops = tuple(v for v in stage.loops if v not in plan.hoisted)
    return replace(plan, stages=(*plan.stages[:number], stage, *plan.stages[number + 1 :]))


def _stages(cone: Cone, config: Config) -> list[Stage]:
    stored = {*config.kept, cone.root}
    chosen = [p for p in cone.primitives if stands_alone(p) or p.output in stored]
    if config.fused:
        *before, product, _ = chosen
        return [
            *(Stage(k, p.output, p, False) for k, p in enumerate(before)),
            Stage(len(before), cone.root, product, True),
        ]
    return [Stage(k, p.output, p, p.output == cone.root) for k, p in enumerate(chosen)]


@dataclass
class _Scope:
    """Makes loop variables: split and restricted as decided."""

    config: Config
    ranges: dict[str, tuple[int, int]]

    def axis(self, name: str, extent: int) -> tuple[Index, tuple[Var, ...]]:
        by = dict(self.config.splits).get(name)
        if by and extent % by == 0 and 1 < by < extent:
            outer, vo = self.axis(name + "a", extent // by)
            inner, vi = self.axis(name + "b", by)
            return outer * by + inner, vo + vi
        lo, hi = self.ranges.get(name, (0, extent))
        if extent == 1:
            return Index(), ()
        if hi - lo == 1:
            return Index(lo), ()
        v = Var(name, lo, hi)
        return Index.of(v), (v,)

    def axes(self, stem: str, shape: Sequence[int], wanted: Sequence[int]) -> tuple[dict[int, Index], tuple[Var, ...]]:
        """Indices and loops for the axes `wanted` of `shape`, merged groups as one loop."""
        result: dict[int, Index] = {}
        loops: tuple[Var, ...] = ()
        groups = {first: last for s, first, last in self.config.merged if s == stem}
        done = -1
        for a in wanted:
            if a <= done:
                continue
            last = groups.get(a, a)
            done = last
            part = tuple(shape[a : last + 1])
            name = f"{stem}_{a}" + (f"m{last}" if last > a else "")
            e, new = self.axis(name, math.prod(part))
            result.update(zip(range(a, last + 1), unflat(e, part), strict=True))
            loops += new
        return result, loops


Fixed = dict[int, tuple[Index, int]]
"""Axis -> (base, extent): the part of an axis that the hoisted loops leave to a stage."""


def _own_axes(stage: Stage, scope: _Scope, fixed: Fixed) -> None:
    """Gives the stage its own loops for what the hoisted loops leave, and for what it reduces over."""
    shape = stage.tensor.shape
    base = tuple(fixed[a][0] if a in fixed else Index() for a in range(len(shape)))
    stage.base, stage.extent = base, tuple(fixed[a][1] if a in fixed else n for a, n in enumerate(shape))
    own, stage.loops = scope.axes(f"i{stage.number}", stage.extent, range(len(shape)))
    stage.axes = tuple(b + own[a] for a, b in enumerate(base))
    if stage.multiplies:
        stage.source, stage.second, stage.reds = _multiplied(stage, scope)
    else:
        stage.source, stage.reds = _reduced(stage, scope) if stage.reduces else (stage.axes, ())


def _multiplied(stage: Stage, scope: _Scope) -> tuple[Indices, Indices, tuple[Var, ...]]:
    """The indices of both operands, and the variables that run along what they are multiplied over."""
    p, (*rows, column) = stage.maker, stage.axes
    x, w = p.inputs
    inner, steps = _steps(f"k{stage.number}", w.shape[1] if p.spec.is_convolution else x.shape[-1], scope.config.piece)
    if p.spec.is_convolution:
        places = (i * stride for i, stride in zip(rows[1:], p.attr("strides"), strict=True))
        group = column // (w.shape[0] // p.attr("group"))
        return (rows[0], *places, group * w.shape[1] + inner), (column, inner, *[Index()] * (w.rank - 2)), steps
    *batch, row = rows
    return (*broadcast((*batch, row), x, 1), inner), (*broadcast((*batch, inner), w, 1), column), steps


def _steps(name: str, count: int, piece: int) -> tuple[Index, tuple[Var, ...]]:
    """The steps of a product, with `piece` as pieces and the steps of one."""
    if not piece:
        k = Var(name, 0, count)
        return Index.of(k), (k,)
    outer, inner = Var(f"{name}a", 0, count // piece), Var(f"{name}b", 0, piece)
    return Index.of(outer) * piece + Index.of(inner), (outer, inner)


def _reduced(stage: Stage, scope: _Scope) -> tuple[Indices, tuple[Var, ...]]:
    """The indices of the reduction's input, and the variables it runs over."""
    p, x = stage.maker, stage.maker.inputs[0]
    if p.spec.is_pool:
        return _windowed(stage, scope)
    axes = p.attr("axes") if not p.spec.ranks else (p.attr("axis"),)
    inner, reds = scope.axes(f"r{stage.number}", x.shape, sorted(axes))
    outer = iter(stage.axes)
    source: list[Index] = []
    for a in range(x.rank):
        if a in axes:  # runs that are one loop may reach around an axis of length 1 that stays
            source.append(inner[a])
            if p.attr("keepdims"):
                next(outer)
        else:
            source.append(next(outer))
    return tuple(source), reds


def unrolled_axis(stage: Stage) -> int | None:
    """Which spatial axis of a pooling is its innermost loop: that window is unrolled instead of looped."""
    last = stage.tensor.rank - 1
    spatial = spatial_axes(stage.tensor.rank, stage.maker.attr("channels_last"))
    return spatial.index(last) if last in spatial and stage.extent[last] > 1 else None


def _windowed(stage: Stage, scope: _Scope) -> tuple[Indices, tuple[Var, ...]]:
    p = stage.maker
    spatial = spatial_axes(stage.tensor.rank, p.attr("channels_last"))
    source, reds = list(stage.axes), list[Var]()
    for i, a in enumerate(spatial):
        at = stage.axes[a] * p.attr("strides")[i] - p.attr("pads")[i]
        k = p.attr("kernel_shape")[i]
        if i != unrolled_axis(stage) and k > 1:
            v = Var(f"k{stage.number}_{i}", 0, k)
            reds.append(v)
            at = at + Index.of(v) * p.attr("dilations")[i]
        source[a] = at
    return tuple(source), tuple(reds)


def _bind_inner(cone: Cone, stages: list[Stage], scope: _Scope, hoisted: set[Var], requests: Requests) -> set[Var]:
    """Binds the stages behind the root, last first; returns the variables that all of them can share."""
    for s in stages:
        s.reads = []
    by_tensor = {s.tensor: s for s in stages}
    shared = set(hoisted)
    for stage in reversed(stages):
        if not stage.root:
            fixed = _fixed_axes(stage, hoisted)
            _own_axes(stage, scope, fixed)
            shared &= {v for base, _ in fixed.values() for v in base.vars()}
            shared -= {
                v for a in range(stage.tensor.rank) if a not in fixed for idx in stage.reads for v in idx[a].vars()
            }
        plan = Schedule(cone, tuple(stages), tuple(hoisted), requests, scope.config)
        trace = tracer(plan, stage, requests)
        trace_body(trace, stage)
        for t, idx in trace.reads:
            by_tensor[t].reads.append(idx)
    return shared


def _fixed_axes(stage: Stage, hoisted: set[Var]) -> Fixed:
    """The axes that every reader asks for at one place of the hoisted loops: a position, or an aligned block. Not where
    blocks reach beyond the tensor, as those of padded windows do."""
    fixed: Fixed = {}
    for a in range(stage.tensor.rank):
        positions = {idx[a] for idx in stage.reads}
        if len(positions) == 1:
            part = _aligned(e := positions.pop(), hoisted)
            lowest, highest = e.range()
            if part and lowest >= 0 and highest < stage.tensor.shape[a]:
                fixed[a] = part
    return fixed


def _aligned(e: Index, hoisted: set[Var]) -> tuple[Index, int] | None:
    """(base, extent) with base in hoisted variables and e - base covering [0, extent); None if there is no such."""
    outer = tuple((a, k) for a, k in e.terms if Index.of(a).vars() <= hoisted)
    inner = Index(0, tuple(term for term in e.terms if term not in outer))
    lo, hi = inner.range()
    if not outer or lo != 0 or any(k % (hi + 1) for _, k in outer) or e.fetched:
        return None
    return Index(e.const, outer), hi + 1


def tracer(plan: Schedule, stage: Stage, requests: Requests, language: C | None = None) -> Trace:
    """A trace for the stage's body: leaves by array name, earlier stages from where they are stored."""
    cone = plan.cone
    arrays = {t: f"in{i}" for i, t in enumerate(cone.leaves)}
    earlier = {s.tensor: s for s in plan.stages if s.number < stage.number}

    def read(t: Tensor, idx: Indices) -> tuple[str, Index]:
        s = earlier[t]
        return f"b{s.number}", s.in_turn(idx) if s.base else Index()  # not bound yet while binding

    makers = cone.makers
    return Trace(makers, arrays, {t: read for t in earlier}, requests, language or C())


def trace_body(trace: Trace, stage: Stage) -> list[str]:
    """Traces one iteration; returns the C names of the values it gives (one, or one a tap of an unrolled window)."""
    if stage.multiplies:
        return [trace.value(t, at) for t, at in zip(stage.maker.inputs, (stage.source, stage.second), strict=True)]
    if not stage.reduces:
        return [trace.through(stage.maker, stage.axes)]
    x = stage.maker.inputs[0]
    if not stage.maker.spec.is_pool or unrolled_axis(stage) is None:
        return [trace.value(x, stage.source)]
    return _unrolled(trace, stage)


def _unrolled(trace: Trace, stage: Stage) -> list[str]:
    """The values under the window along the innermost axis; where that leaves the tensor, the neutral value."""
    p, x = stage.maker, stage.maker.inputs[0]
    i = unrolled_axis(stage)
    assert i is not None
    axis = stage.tensor.rank - 1
    fill = "-INFINITY" if p.spec.picks else "0"
    values: list[str] = []
    for k in range(p.attr("kernel_shape")[i]):
        e = stage.source[axis] + k * p.attr("dilations")[i]
        lo, hi = e.range()
        n = x.shape[axis]
        if hi < 0 or lo >= n:
            continue
        trace.requests.break_at(e, 0)
        trace.requests.break_at(e, n)
        safe = lo >= 0 and hi < n
        at = e if safe else Index.of(Clamp(e, 0, n - 1))
        v = trace.value(x, (*stage.source[:axis], at))
        outside = f"({c_index(e)}) < 0 || ({c_index(e)}) >= {n}"
        values.append(v if safe else trace.name(f"{outside} ? {fill} : {v}", x.dtype, e, v))
    return values or [trace.name(fill, x.dtype)]
