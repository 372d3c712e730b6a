"""The `loops` backend: any cone without a compute-intensive primitive, or with one depthwise convolution or matrix
product, as one generated C function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType

from korch.backends.contract import Alias, Kernel, Refusal
from korch.backends.cpu.c import Code
from korch.backends.cpu.loops import (
    bounds,
    concatenation,
    convolution,
    depthwise,
    planar,
    products,
    transforms,
    winograd_blocks,
)
from korch.backends.cpu.loops.binding import Place
from korch.backends.cpu.loops.ctypes import C_TYPES, is_expressible
from korch.backends.cpu.loops.emit import generate
from korch.backends.cpu.loops.work import operations
from korch.backends.footprint import footprint
from korch.backends.views import is_view
from korch.ir.cone import Cone
from korch.ir.macs import total as multiplied
from korch.ir.ops.reduce import spatial_axes
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive
from korch.machine import Machine

MOST_LEAVES = 24
HEADERS = ("korch_math.h", "korch_vectors.h", "korch_vector_math.h")
MOST_WINDOW = 64
"""Unrolled taps of a pooling window along the contiguous axis."""
LARGEST = 2**31 - 1


@dataclass(frozen=True)
class Loops:
    """Elementwise, broadcast, reduce and layout primitives in any chain."""

    name: str = "loops"
    version: str = "1"
    fallback: bool = False

    def refuses(self, cone: Cone) -> Refusal | None:
        if windowed := _windowed(cone):
            reason = windowed.refusal(cone) or next(filter(None, map(tensor_refusal, cone.primitives)), "")
            return Refusal(reason) if reason else None
        product, joined = products.product_of(cone), concatenation.parts(cone)
        for p in cone.primitives:
            reason = tensor_refusal(p) if p == product else primitive_refusal(p)
            if reason:
                return Refusal(f"{p.output.name}: {reason}")
        if transforms.transform_of(cone) and (reason := transforms.refusal(cone)):
            return Refusal(reason)
        if product and (reason := concatenation.refusal(joined) if joined else products.refusal(cone)):
            return Refusal(reason)
        if reason := bounds.refusal(cone):
            return Refusal(reason)
        if len(cone.leaves) > MOST_LEAVES:
            return Refusal(f"has {len(cone.leaves)} leaves; loops take {MOST_LEAVES}")
        return None

    def bound(self, cone: Cone, machine: Machine) -> float:
        """Bytes and arithmetic that no order of the loops avoids; nothing at all for a view."""
        if is_view(cone):
            return 0.0
        moved, computed = footprint(cone)
        if _windowed(cone):
            return machine.roofline(2 * multiplied(cone.linear), moved)
        work = operations(cone, computed)
        heavy = sum(machine.element(op) * count for op, count in work.items())
        return machine.roofline(sum(work.values()) + 2 * multiplied(cone.linear), moved, heavy)

    def build(self, cone: Cone, threads: int) -> tuple[Kernel, ...]:
        if is_view(cone):
            return (Kernel(cone, self.name, "", Alias()),)
        return (self._kernel(cone, _generator(cone)(cone, threads)),)

    def places(self, cone: Cone, place: Place) -> bool:
        """Whether `placed` builds the cone."""
        if is_view(cone) or self.refuses(cone) is not None:
            return False
        if concatenation.parts(cone):
            return place.outermost and place.axis != cone.primitives[-1].attr("axis")
        if _windowed(cone):
            return _windowed(cone) is depthwise and place.begins
        return _generator(cone) is generate and not concatenation.refusal(((cone, place),))

    def placed(self, cone: Cone, place: Place) -> Kernel:
        """The kernel of one thread that puts its root into a larger tensor, each element where it belongs."""
        generator = (
            concatenation.generate if concatenation.parts(cone) else depthwise.generate if _windowed(cone) else generate
        )
        return self._kernel(cone, generator(cone, 1, place))

    def _kernel(self, cone: Cone, code: Code) -> Kernel:
        return Kernel(cone, self.name, "", replace(code, headers=HEADERS))


def _windowed(cone: Cone) -> ModuleType | None:
    """What builds cones that begin with a convolution of windows."""
    return next((m for m in (depthwise, convolution, planar, winograd_blocks) if m.heads(cone)), None)


def _generator(cone: Cone) -> Callable[[Cone, int], Code]:
    if windowed := _windowed(cone):
        return windowed.generate
    if concatenation.parts(cone):
        return concatenation.generate
    return transforms.generate if transforms.transform_of(cone) else generate


def tensor_refusal(p: Primitive) -> str:
    """What no generator takes; empty for all else."""
    if any(t.dtype not in C_TYPES for t in (*p.inputs, p.output)):
        return f"{p.op} on dtype {p.output.dtype}"
    if any(t.size > LARGEST for t in (*p.inputs, p.output)):
        return "more than 2^31 elements"
    if any(t.size == 0 for t in (*p.inputs, p.output)):
        return "a tensor without elements"
    return ""


def primitive_refusal(p: Primitive) -> str:
    """Why loops around a primitive's elements are not written; empty if they are."""
    if reason := tensor_refusal(p):
        return reason
    match p.category:
        case Category.OPAQUE:
            return "an opaque primitive"
        case Category.LINEAR:
            return f"{p.op} is compute-intensive" if p.intensive and p.op not in transforms.TRANSFORMS else ""
        case Category.ELEMENTWISE:
            return "" if is_expressible(p) else f"{p.op} on {p.inputs[0].dtype}"
        case Category.REDUCE if p.op in ("MaxPool", "AveragePool"):
            return _pool_refusal(p)
        case Category.REDUCE if p.op == "Scatter":
            return "a Scatter"
        case _:
            return ""


def _pool_refusal(p: Primitive) -> str:
    if not p.inputs[0].is_float:
        return f"pooling on {p.inputs[0].dtype}"
    last = p.output.rank - 1
    spatial = spatial_axes(p.output.rank, p.attr("channels_last"))
    if last in spatial and p.attr("kernel_shape")[spatial.index(last)] > MOST_WINDOW:
        return f"a window of more than {MOST_WINDOW} along the contiguous axis"
    return ""


BACKEND = Loops()
