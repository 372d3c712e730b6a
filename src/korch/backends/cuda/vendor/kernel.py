"""The kernel of a call: its operands as the table of calls reads them, and the functions that the library starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from korch.backends.contract import Kernel, LibraryCall, Prepared, Variant
from korch.backends.cuda.vendor.launches import passes
from korch.backends.cuda.vendor.operands import CallOperand
from korch.backends.linear.views import OUT, View
from korch.ir import Cone
from korch.ir.primitive import freeze

NAME = "vendor"
Spec = tuple[int, tuple[int, ...], tuple[int, ...], int]
"""A view for a call: number of the buffer, shape, strides and offset in elements."""


def kernel(
    cone: Cone, variant: Variant, function: str, operands: Mapping[str, CallOperand | None], **attrs: Any
) -> Kernel:
    """The kernel that calls `function` of the table in `calls.py` in the variant's precision; operands are named as the
    function calls them."""
    first, prepared, specs = len(cone.leaves) + 1, list[Prepared](), dict[str, Spec | None]()
    for name, operand in operands.items():
        number = None if operand is None else _number(operand, cone, first + len(prepared))
        specs[name] = None if operand is None or number is None else _spec(operand.view, number)
        if operand and operand.prepared:
            prepared.append(operand.prepared)
    attrs["precision"] = variant.precision
    done = passes(function, operands, attrs)
    call = LibraryCall(function, freeze({**attrs, **specs}), done.launches, done.temporary, tuple(prepared))
    return Kernel(cone, NAME, variant, call)


def _number(operand: CallOperand, cone: Cone, prepared: int) -> int:
    if operand.prepared:
        return prepared
    return len(cone.leaves) if operand.view.leaf == OUT else operand.view.leaf


def _spec(view: View, number: int) -> Spec:
    return number, view.shape, view.strides, view.offset
