"""The sums around batched products, of Winograd's and of Strassen's algorithm: which kernels there are for them."""

from __future__ import annotations

from collections.abc import Callable

from korch.backends.cpu.c import Code
from korch.backends.cpu.loops import epilogue, strassen, winograd
from korch.backends.cpu.loops.writer import SMALL
from korch.ir.cone import Cone
from korch.ir.primitive import Primitive

INTO: dict[str, Callable[[Cone, Primitive, int], Code]] = {
    "WinogradInput": winograd.into,
    "StrassenInput": strassen.into,
}
"""What makes a product's operand."""
BACK: dict[str, Callable[[Cone, Primitive, int], Code]] = {
    "WinogradOutput": winograd.back,
    "StrassenOutput": strassen.back,
}
"""What makes the result of a product's."""
TRANSFORMS = INTO | BACK


def transform_of(cone: Cone) -> Primitive | None:
    """The transform inside, if there is one."""
    return next((p for p in cone.primitives if p.op in TRANSFORMS), None)


def refusal(cone: Cone) -> str:
    """Why a cone with a transform is not built; empty if it is."""
    first, *rest = cone.primitives
    if first.op not in TRANSFORMS:
        return "computes what a transform reads"
    if first.op in INTO and rest:
        return f"goes on behind a {first.op}"
    return epilogue.refusal(first, rest)


def generate(cone: Cone, threads: int) -> Code:
    """C for a cone that starts with a transform."""
    first = cone.primitives[0]
    return TRANSFORMS[first.op](cone, first, threads if first.inputs[0].size > SMALL else 1)
