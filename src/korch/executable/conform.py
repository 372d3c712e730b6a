"""A plan from a file that may be damaged or made by a stranger: values have the types of their fields, and everything
that is read is there."""

from __future__ import annotations

import types
from collections.abc import Collection, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from korch.backends.cpu.c import Code
from korch.executable.plan import Plan, Step
from korch.ir.graph import Graph
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor


def check_plan(plan: Plan) -> None:
    """TypeError, ValueError or KeyError where a field has a value of another type, or a tensor is read that nobody
    makes, or a primitive cannot have its output."""
    _check(plan, Plan, "plan", set())
    _check_graph(plan.graph)
    _check_constants(plan)
    there = {*plan.graph.inputs}
    for step in plan.steps:
        _check_step(step)
        _check_made((t for t in step.reads if not t.const), there, step.writes.name)
        there.add(step.writes)
    _check_made((t for t in plan.graph.outputs if not t.const), there, "an output")


def _check_graph(graph: Graph) -> None:
    _check_primitives(graph.primitives, {*graph.inputs})
    if len(graph.output_names) != len(graph.outputs):
        raise ValueError(f"{len(graph.output_names)} names of {len(graph.outputs)} outputs")


def _check_constants(plan: Plan) -> None:
    held = plan.graph.constants
    for t in plan.constants:
        if t.name not in held or (str(held[t.name].dtype), held[t.name].shape) != (t.dtype, t.shape):
            raise ValueError(f"the weights have no {t}")


def _check_step(step: Step) -> None:
    cone = step.kernel.cone
    pairs = zip((*cone.leaves, cone.root), (*step.reads, step.writes), strict=True)
    if other := next((a for a, b in pairs if (a.dtype, a.shape, a.const) != (b.dtype, b.shape, b.const)), None):
        raise ValueError(f"{other.name} of the kernel for {step.writes.name} is another tensor in the plan")
    _check_primitives(cone.primitives, {*cone.leaves})
    _check_made([cone.root], {*cone.leaves, *cone.makers}, "a kernel")


def _check_primitives(primitives: Sequence[Primitive], there: set[Tensor]) -> None:
    for p in primitives:
        _check_made((t for t in p.inputs if not t.const), there, p.output.name)
        inferred = p.spec.infer(p.inputs, dict(p.attrs))
        if (inferred[0], tuple(inferred[1])) != (p.output.dtype, p.output.shape):
            raise ValueError(f"{p.op} cannot make {p.output}")
        there.add(p.output)


def _check_made(wanted: Collection[Tensor] | Any, there: Collection[Tensor], reader: str) -> None:
    if missing := next((t for t in wanted if t not in there), None):
        raise ValueError(f"{reader} reads {missing.name}, which nobody makes")


def _check(value: Any, hint: Any, where: str, seen: set[int]) -> None:
    """TypeError where the value is not of the type. What was `seen` is not looked at again."""
    if hint is Any:
        return
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        _check_union(value, hint, where, seen)
    elif origin is tuple:
        _check_tuple(value, get_args(hint), where, seen)
    elif origin is not None:
        _check_type(value, origin, where)
    elif is_dataclass(hint):
        _check_type(value, cast("type", hint), where)
        if id(value) in seen or isinstance(value, Code):  # thousands of lines, which nobody reads but the compiler
            return
        for name, inner in _fields(cast("type", hint)).items():
            _check(getattr(value, name), inner, f"{where}.{name}", seen)
        seen.add(id(value))
    else:
        _check_type(value, hint, where)


def _check_union(value: Any, hint: Any, where: str, seen: set[int]) -> None:
    for member in get_args(hint):
        try:
            return _check(value, member, where, seen)
        except TypeError:
            continue
    raise TypeError(f"{where} is a {type(value).__name__}")


def _check_tuple(value: Any, hints: tuple[Any, ...], where: str, seen: set[int]) -> None:
    _check_type(value, tuple, where)
    if hints[-1:] == (...,):
        hints = (hints[0],) * len(value)
    for member, hint in zip(value, hints, strict=True):
        _check(member, hint, where, seen)


def _check_type(value: Any, wanted: type, where: str) -> None:
    """Whole numbers are floats too, True is no number; there are no negative lengths."""
    fits = isinstance(value, int | float) if wanted is float else isinstance(value, wanted)
    if not fits or (isinstance(value, bool) and wanted in (int, float)):
        raise TypeError(f"{where} is a {type(value).__name__}")
    if wanted is int and where.endswith(".shape") and value < 0:
        raise ValueError(f"{where} is {value}")


@cache
def _fields(record: type) -> Mapping[str, Any]:
    return get_type_hints(record)
