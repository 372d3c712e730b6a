"""Why a cone is not built: cheap questions, asked of thousands of cones a second."""

from __future__ import annotations

from collections.abc import Callable, Collection

from korch.backends.cpu.loops import bounds
from korch.backends.cpu.loops.ctypes import C_TYPES, is_expressible
from korch.backends.maps.trace import is_traced
from korch.ir.cone import Cone
from korch.ir.ops.reduce import spatial_axes
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive

MOST_LEAVES = 24
MOST_WINDOW = 64
"""Unrolled taps of a pooling window along the contiguous axis."""
LARGEST = 2**31 - 1
"""Elements of a tensor: positions are 32 bits wide."""


def nest_refusal(cone: Cone, written: Collection[Primitive] = (), own: Callable[[Cone], str] = lambda cone: "") -> str:
    """Why loop nests do not compute `cone`; empty if they do. The form that asks writes the primitives `written`
    itself, and has its `own` reasons."""
    for p in cone.primitives:
        if reason := tensor_refusal(p) if p in written else primitive_refusal(p):
            return f"{p.output.name}: {reason}"
    if reason := own(cone) or bounds.refusal(cone):
        return reason
    return f"has {len(cone.leaves)} leaves; loops take {MOST_LEAVES}" if len(cone.leaves) > MOST_LEAVES else ""


def tensors_refusal(cone: Cone) -> str:
    """Why no form takes the tensors of `cone`; empty if some may."""
    return next((reason for p in cone.primitives if (reason := tensor_refusal(p))), "")


def outer_refusal(cone: Cone) -> str:
    """Why no form takes so many leaves, or the tensors of `cone`; empty if some may."""
    if len(cone.leaves) > MOST_LEAVES:
        return f"has {len(cone.leaves)} leaves; loops take {MOST_LEAVES}"
    return tensors_refusal(cone)


def tensor_refusal(p: Primitive) -> str:
    """Why no form takes the tensors of `p`; empty if some may."""
    if any(t.dtype not in C_TYPES for t in (*p.inputs, p.output)) or (p.inputs[0].dtype == "float16" and _computes(p)):
        return f"{p.op} on dtype {p.inputs[0].dtype}"
    if any(t.size > LARGEST for t in (*p.inputs, p.output)):
        return "more than 2^31 elements"
    if any(t.size == 0 for t in (*p.inputs, p.output)):
        return "a tensor without elements"
    return ""


def _computes(p: Primitive) -> bool:
    """Whether `p` does more than move numbers, or give them another type."""
    return p.category not in (Category.LAYOUT, Category.BROADCAST) and not p.spec.casts


def primitive_refusal(p: Primitive) -> str:
    """Why loop nests do not compute a primitive element by element; empty if they do."""
    if reason := tensor_refusal(p):
        return reason
    match p.category:
        case Category.OPAQUE:
            return "an opaque primitive"
        case Category.LINEAR:
            return f"{p.op} is compute-intensive" if p.intensive else ""
        case Category.ELEMENTWISE:
            return "" if is_expressible(p) else f"{p.op} on {p.inputs[0].dtype}"
        case Category.REDUCE if p.spec.is_pool:
            return _pool_refusal(p)
        case Category.REDUCE if p.spec.scatters:
            return "a Scatter"
        case Category.REDUCE:
            return "" if p.spec.folds or p.spec.ranks else f"{p.op} folds neither axes nor windows"
        case Category.LAYOUT | Category.BROADCAST:
            return "" if is_traced(p) else f"{p.op} has no source"


def _pool_refusal(p: Primitive) -> str:
    if not p.inputs[0].is_float and p.spec.averages:
        return f"pooling on {p.inputs[0].dtype}"
    last = p.output.rank - 1
    spatial = spatial_axes(p.output.rank, p.attr("channels_last"))
    if last in spatial and p.attr("kernel_shape")[spatial.index(last)] > MOST_WINDOW:
        return f"a window of more than {MOST_WINDOW} along the contiguous axis"
    return ""
