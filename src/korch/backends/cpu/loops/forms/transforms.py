"""The sums around batched products, of Winograd's and of Strassen's algorithm, with the epilogue of the output's."""

from __future__ import annotations

from collections.abc import Callable

from korch.backends.cpu.c import Code
from korch.backends.cpu.loops import epilogue, strassen, winograd
from korch.backends.cpu.loops.form import KernelForm
from korch.backends.cpu.loops.refusals import nest_refusal
from korch.backends.cpu.loops.writer import SMALL
from korch.ir.cone import Cone
from korch.ir.primitive import Primitive

INTO: dict[str, Callable[[Cone, Primitive, int], Code]] = {
    "WinogradInput": winograd.into,
    "StrassenInput": strassen.into,
}
"""Transforms that make a product's operand."""
BACK: dict[str, Callable[[Cone, Primitive, int], Code]] = {
    "WinogradOutput": winograd.back,
    "StrassenOutput": strassen.back,
}
"""Transforms of a product's result."""
TRANSFORMS = INTO | BACK


class TransformForm:
    """A transform; one of a product's result with its epilogue."""

    priority = 10
    counts_elements = True

    def matches(self, cone: Cone) -> bool:
        return any(p.spec.transforms for p in cone.primitives)

    def refusal(self, cone: Cone) -> str:
        return nest_refusal(cone, [p for p in cone.primitives if p.spec.transforms], _refusal)

    def generate(self, cone: Cone, threads: int) -> Code:
        first = cone.primitives[0]
        return TRANSFORMS[first.op](cone, first, threads if first.inputs[0].size > SMALL else 1)


def _refusal(cone: Cone) -> str:
    """Why a cone of a transform and other primitives is not built; empty if it is."""
    first, *rest = cone.primitives
    if not first.spec.transforms:
        return "computes what a transform reads"
    if not first.spec.transforms_back and rest:
        return f"goes on behind a {first.op}"
    return epilogue.refusal(first, rest)


FORM: KernelForm = TransformForm()
