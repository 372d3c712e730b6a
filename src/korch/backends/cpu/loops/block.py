"""What a turn of the shared loops multiplies, and where a product finds its operands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from korch.backends.cpu.loops.binding import Schedule, Stage, tracer
from korch.backends.cpu.loops.language import c_index
from korch.backends.cpu.loops.vector_epilogue import VectorEpilogue, vector_epilogue_of
from korch.backends.cpu.loops.writer import target
from korch.backends.maps.index import Index, Var
from korch.backends.maps.trace import Requests, Trace, broadcast
from korch.ir.ops.table import selects
from korch.ir.tensor import Tensor

LEAST = 4
"""Rows, columns and steps below which there is nothing to hold in registers."""
"""What keeps all elements: behind them, an operand is stored where it is computed."""


@dataclass(frozen=True)
class Operand:
    """Where a product finds an operand, or leaves its result: the tensor, its C array and the position in it."""

    tensor: Tensor
    array: str
    at: Index

    def step(self, v: Var | None) -> int | None:
        """Floats from one turn of `v` to the next; None where they are not always the same."""
        return 0 if v is None else self.at.coefficient(v)


@dataclass(frozen=True)
class ProductBlock:
    """What one turn of the hoisted loops multiplies: `rows` and `columns` are runs of loops walked as one, outermost
    first, `others` the stage's loops around them. A `second` operand of None lies packed in the kernel's state.
    `extras` is what the `epilogue` reads."""

    first: Operand
    second: Operand | None
    result: Operand
    others: tuple[Var, ...]
    rows: tuple[Var, ...]
    columns: tuple[Var, ...]
    step: Var
    epilogue: VectorEpilogue | None = None
    extras: tuple[Operand, ...] = ()

    @property
    def height(self) -> int:
        return math.prod(v.extent for v in self.rows)

    @property
    def width(self) -> int:
        return math.prod(v.extent for v in self.columns)

    @property
    def row(self) -> Var | None:
        return self.rows[-1] if self.rows else None


def block_of(plan: Schedule, s: Stage) -> ProductBlock | None:
    """How the stage `s` may be computed by tiles; None where its operands do not lie as those need them."""
    first, second = (_operand(plan, s, t, at) for t, at in zip(s.maker.inputs, (s.source, s.second), strict=True))
    result = Operand(s.tensor, target(s), plan.destination(s))
    packed = packs(plan, s)
    if first is None or (second is None and not packed):
        return None
    seconds = [] if packed or second is None else [second]
    epilogue = vector_epilogue_of(plan.cone, s.maker) if plan.config.fused else None
    extras = _extras(plan, s, epilogue) if epilogue else []
    if extras is None:
        return None
    own = [v for v in s.loops if v in s.axes[-1].vars()]
    columns = _run(own, [*seconds, result, *extras])
    fixed = {*own, *(_matrices(s) if packed else ())}
    rows = _run([v for v in s.loops if v not in fixed], [first, result, *extras])
    if not columns or any(o.step(columns[-1]) != 1 for o in (*seconds, result)) or (packed and len(columns) < len(own)):
        return None
    if len(s.reds) != 1:
        return None
    (k,) = s.reds
    if first.step(k) is None or any(not o.step(k) for o in seconds):
        return None
    if any(first.step(v) != 0 for v in columns) or any(o.step(v) != 0 for o in seconds for v in rows):
        return None
    if any(o.step(columns[-1]) not in (0, 1) for o in extras):
        return None
    others = tuple(v for v in s.loops if v not in (*rows, *columns))
    return ProductBlock(first, None if packed else second, result, others, rows, columns, k, epilogue, tuple(extras))


def _matrices(s: Stage) -> set[Var]:
    """The loops over a product's second operands: rows of several matrices are no rows of one."""
    return {v for i in s.second[:-2] for v in i.vars()} if s.maker.spec.is_product else set()


def packs(plan: Schedule, s: Stage) -> bool:
    """Whether the second operand is a constant, which the kernel packs when it is initialised."""
    leaf = plan.cone.behind_views(s.maker.inputs[1], selects)
    return leaf.const and leaf.value is None


def _extras(plan: Schedule, s: Stage, epilogue: VectorEpilogue) -> list[Operand] | None:
    """What follows the product reads them at the root's place."""
    found = [_operand(plan, s, t, broadcast(s.axes, t)) for t in epilogue.operands]
    return None if None in found else [o for o in found if o]


def _operand(plan: Schedule, s: Stage, t: Tensor, at: tuple[Index, ...]) -> Operand | None:
    """Where t[at] is loaded from; None where it is computed on the way."""
    trace: Trace = tracer(plan, s, Requests())
    trace.value(t, at)
    if len(trace.lines) != 1 or len(trace.loads) != 1:
        return None
    (load,) = trace.loads
    return Operand(load.tensor, load.array, load.at)


def _run(loops: Sequence[Var], operands: Sequence[Operand]) -> tuple[Var, ...]:
    """The innermost of `loops` that all operands walk as one."""
    run: list[Var] = []
    for v in reversed(loops):
        steps = [o.step(v) for o in operands]
        if None in steps:
            return ()
        if run and steps != [run[0].extent * step_of(o, run[0]) for o in operands]:
            break
        run.insert(0, v)
    return tuple(run)


def step_of(o: Operand, v: Var | None) -> int:
    """`Operand.step` of a loop along which it is always the same."""
    step = o.step(v)
    assert step is not None, f"{o.at} does not walk along {v}"
    return step


def start_of(o: Operand, walked: Sequence[Var]) -> str:
    """The address at which the loops `walked` begin."""
    return f"{o.array} + {c_index(without(o.at, walked))}"


def without(at: Index, walked: Sequence[Var]) -> Index:
    """The position where the loops `walked` begin."""
    return Index(at.const, tuple((atom, k) for atom, k in at.terms if atom not in walked))
