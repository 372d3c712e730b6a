"""Why a cone is not built: cheap questions, asked of thousands of cones a second."""

from __future__ import annotations

from korch.backends.cuda.triton.elementwise import TYPES, has_form
from korch.backends.cuda.triton.windows import MOST_TAPS, is_depthwise, taps
from korch.backends.maps.trace import is_traced
from korch.ir.cone import Cone
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive

MOST_LEAVES = 48
LARGEST = 2**31 - 1
"""Elements of a tensor: positions are 32 bits wide."""


def refusal(cone: Cone) -> str:
    """Why a cone is not built that has no compute-intensive primitive but a depthwise convolution; empty if it is."""
    if len(cone.leaves) > MOST_LEAVES:
        return f"has {len(cone.leaves)} leaves; Triton kernels take {MOST_LEAVES}"
    if cone.linear and (reason := _depthwise_refusal(cone)):
        return reason
    for p in cone.primitives:
        if reason := _primitive_refusal(p):
            return f"{p.output.name}: {reason}"
    return ""


def heads(cone: Cone) -> bool:
    """Whether the cone begins with a depthwise convolution and has no other compute-intensive primitive."""
    return cone.linear == cone.primitives[:1] and is_depthwise(cone.primitives[0])


def _depthwise_refusal(cone: Cone) -> str:
    p = cone.primitives[0]
    if not heads(cone):
        return f"{cone.linear[0].op} is compute-intensive"
    return f"a window of more than {MOST_TAPS} taps" if taps(p) > MOST_TAPS else ""


def _primitive_refusal(p: Primitive) -> str:
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
            return _elementwise_refusal(p)
        case Category.REDUCE if p.spec.scatters:
            return "a Scatter"
        case Category.REDUCE if p.spec.is_pool:
            return "" if p.inputs[0].is_float else f"pooling on {p.inputs[0].dtype}"
        case Category.REDUCE:
            return "" if p.spec.folds or p.spec.ranks else f"{p.op} folds neither axes nor windows"
        case Category.LAYOUT if p.spec.unpacks:
            return "integers of few bits"
        case Category.LAYOUT | Category.BROADCAST:
            return "" if is_traced(p) else f"{p.op} has no source"


def _elementwise_refusal(p: Primitive) -> str:
    if not has_form(p):
        return f"{p.op} on {p.inputs[0].dtype}"
    return f"{p.op} of constants alone" if all(t.value is not None for t in p.inputs) else ""
