"""A plan from a file that may be damaged or made by a stranger: values have the types of their fields, and primitives
can make their outputs. Whether its steps fit together is for `plan.check`, as with every plan."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from korch.backends.cpu.c import Code
from korch.executable.plan import Plan
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor


def check_fields(plan: Plan) -> None:
    """TypeError, ValueError or KeyError where a field has a value of another type, or a primitive cannot have its
    output or reads what nobody makes."""
    _check(plan, Plan, "plan", set())
    _check_primitives(plan.graph.primitives, {*plan.graph.inputs})
    for step in plan.steps:
        cone = step.kernel.cone
        _check_primitives(cone.primitives, {*cone.leaves})
        if cone.root not in {*cone.leaves, *cone.makers}:
            raise ValueError(f"the kernel of {step.writes.name} does not make {cone.root.name}")


def _check_primitives(primitives: Sequence[Primitive], there: set[Tensor]) -> None:
    for p in primitives:
        if missing := next((t for t in p.inputs if not t.const and t not in there), None):
            raise ValueError(f"{p.output.name} reads {missing.name}, which nobody makes")
        dtype, shape = p.spec.infer(p.inputs, dict(p.attrs))
        if (dtype, tuple(shape)) != (p.output.dtype, p.output.shape):
            raise ValueError(f"{p.op} cannot make {p.output}")
        there.add(p.output)


def _check(value: Any, hint: Any, where: str, seen: set[int]) -> None:
    """TypeError where the value is not of the type. Records that were `seen` (ids) are passed over."""
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
