"""Why a cone is not built: cheap questions, asked of thousands of cones a second."""

from __future__ import annotations

from korch.backends.cuda.triton.elementwise import TYPES, spells
from korch.backends.cuda.triton.windows import MOST_TAPS, is_depthwise, taps
from korch.backends.maps.trace import is_traced
from korch.ir.cone import Cone
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive

MOST_LEAVES = 48
LARGEST = 2**31 - 1
"""Elements of a tensor: positions are 32 bits wide."""


def objection(cone: Cone) -> str:
    """Why a cone without compute-intensive primitives, or behind a depthwise convolution, is declined; empty if not."""
    if len(cone.leaves) > MOST_LEAVES:
        return f"has {len(cone.leaves)} leaves; Triton kernels take {MOST_LEAVES}"
    if cone.linear and (reason := _unlike_depthwise(cone)):
        return reason
    for p in cone.primitives:
        if reason := _unsupported(p):
            return f"{p.output.name}: {reason}"
    return ""


def heads(cone: Cone) -> bool:
    """Whether the cone begins with a depthwise convolution and has no other compute-intensive primitive."""
    return cone.linear == cone.primitives[:1] and is_depthwise(cone.primitives[0])


def _unlike_depthwise(cone: Cone) -> str:
    p = cone.primitives[0]
    if not heads(cone):
        return f"{cone.linear[0].op} is compute-intensive"
    return f"a window of more than {MOST_TAPS} taps" if taps(p) > MOST_TAPS else ""


def _unsupported(p: Primitive) -> str:
    tensors = (*p.inputs, p.output)
    if any(t.dtype not in TYPES for t in tensors):
        return f"{p.op} on dtype {next(t.dtype for t in tensors if t.dtype not in TYPES)}"
    if any(t.size > LARGEST for t in tensors):
        return "more than 2^31 elements"
    if any(t.size == 0 for t in tensors):
        return "a tensor without elements"
    match p.category:
        case Category.OPAQUE:
            return "an opaque primitive"
        case Category.LINEAR:
            return "" if p.spec.interpolates or is_depthwise(p) else f"{p.op} is compute-intensive"
        case Category.ELEMENTWISE:
            return _unspelled(p)
        case Category.REDUCE if p.spec.scatters:
            return "a Scatter"
        case Category.REDUCE if p.spec.is_pool:
            return "" if p.inputs[0].is_float else f"pooling on {p.inputs[0].dtype}"
        case Category.REDUCE:
            return "" if p.spec.folds or p.spec.ranks else f"{p.op} folds neither axes nor windows"
        case Category.LAYOUT | Category.BROADCAST:
            return "" if is_traced(p) else f"{p.op} has no source"


def _unspelled(p: Primitive) -> str:
    if not spells(p):
        return f"{p.op} on {p.inputs[0].dtype}"
    return f"{p.op} of constants alone" if all(t.value is not None for t in p.inputs) else ""
