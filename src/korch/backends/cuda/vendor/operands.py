"""What calls read and write, as data: views of a kernel's buffers, or of constants that are prepared for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from korch.backends.contract import Prepared
from korch.backends.linear.views import OUT, View
from korch.backends.precision import HALVES
from korch.ir import Cone


@dataclass(frozen=True, slots=True)
class CallOperand:
    """A view of a leaf or of the root; of the constant that is `prepared`, where there is one."""

    view: View
    prepared: Prepared | None = None


def factor(cone: Cone, view: View, precision: str) -> CallOperand:
    """What a product reads: constants are rounded beforehand, everything else by the call."""
    leaf = cone.leaves[view.leaf]
    if precision not in HALVES or not leaf.const:
        return CallOperand(view)
    return CallOperand(view, Prepared(HALVES[precision], leaf.shape, view.leaf))


def zeros(count: int) -> CallOperand:
    """A bias that adds nothing, for calls that want one."""
    return CallOperand(View.dense(0, (count,)), Prepared("float32", (count,), values=(0.0,) * count))


def whole_axes(view: View) -> View:
    """The view with the strides of axes of length 1 as a dense buffer would have them, which libraries look at."""
    strides = list(view.strides)
    for axis in reversed(range(len(strides))):
        if view.shape[axis] == 1:
            strides[axis] = strides[axis + 1] * view.shape[axis + 1] if axis + 1 < len(strides) else 1
    return replace(view, strides=tuple(strides))


def refusal(cone: Cone, views: Iterable[View]) -> str:
    """Why torch cannot be given `views` of the cone's buffers; empty where it can."""
    for view in views:
        if any(s < 0 for s in view.strides):
            return "an operand is read backwards, which torch has no view for"
        if view.leaf != OUT and cone.leaves[view.leaf].value is not None:
            return f"{cone.leaves[view.leaf].name} is a number, which is no operand of a call"
    return ""
