"""Inputs and outputs of a program: names, types, and whether an array fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from korch.errors import InputError
from korch.executable.plan import Plan
from korch.ir.ops.table import Array, is_array
from korch.ir.tensor import Tensor, type_text

Taken = TypeVar("Taken")


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output of the model: its name there, numpy dtype name and shape."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.name}: {type_text(self.dtype, self.shape)}"


def input_ports(plan: Plan) -> tuple[Port, ...]:
    return tuple(Port(t.name, t.dtype, t.shape) for t in plan.graph.inputs)


def output_ports(plan: Plan) -> tuple[Port, ...]:
    names = plan.graph.output_names
    return tuple(Port(n, t.dtype, t.shape) for n, t in zip(names, plan.graph.outputs, strict=True))


def feeds_of(plan: Plan, feeds: Mapping[str, Any], fitting: Callable[[Tensor, Any], Taken]) -> list[Taken]:
    """One array for each input, as `fitting` takes it; InputError names what there is no input for."""
    _check_known("input", feeds, [t.name for t in plan.graph.inputs])
    return [fitting(t, feeds.get(t.name)) for t in plan.graph.inputs]


def targets_of(plan: Plan, given: Mapping[str, Array], empty: Callable[[int], Array]) -> list[Array]:
    """One array to write for each output: as given, or `empty` of its number."""
    _check_known("output", given, plan.graph.output_names)
    return [
        _writable(n, t, given[n]) if n in given else empty(k)
        for k, (n, t) in enumerate(zip(plan.graph.output_names, plan.graph.outputs, strict=True))
    ]


def check_unshared(given: Mapping[str, Array], inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    """InputError where an output that the caller gives shares memory with an input or another output."""
    for name, x in given.items():
        if sum(np.may_share_memory(x, y) for y in (*inputs, *outputs)) > 1:
            raise InputError(f"output {name!r} shares memory with an input or another output: give an array of its own")


def _check_known(kind: str, given: Iterable[str], known: Iterable[str]) -> None:
    wanted = list(known)
    if unknown := [n for n in given if n not in wanted]:
        raise InputError(f"the model has no {kind} {unknown[0]!r}; it has {', '.join(wanted) or 'none'}")


def fitting_input(t: Tensor, x: Any) -> Array:
    """`x` as dense memory of the type that the input `t` has; InputError says what was expected and found."""
    return _fitting("input", t.name, t, x)


def _fitting(kind: str, name: str, t: Tensor, x: Any) -> Array:
    if is_array(x) and x.dtype == t.dtype and x.shape == t.shape:
        return x if x.flags.c_contiguous else np.ascontiguousarray(x).reshape(t.shape)
    expected = type_text(t.dtype, t.shape)
    if x is None:
        raise InputError(f"{kind} {name!r} is missing: expected {expected}")
    if not is_array(x):
        raise InputError(f"{kind} {name!r} must be a numpy array {expected}, found {type(x).__name__}")
    order = "" if x.dtype.isnative else " in foreign byte order"
    raise InputError(f"{kind} {name!r} must be {expected}, found {type_text(x.dtype.name, x.shape)}{order}")


def _writable(name: str, t: Tensor, x: Array) -> Array:
    if _fitting("output", name, t, x) is not x or not x.flags.writeable:
        raise InputError(f"output {name!r} must be a contiguous array that can be written")
    return x
