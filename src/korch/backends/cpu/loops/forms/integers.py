"""A product or convolution of bytes with the elementwise primitives behind it: exact int32 sums."""

from __future__ import annotations

from korch.backends.cpu.c import Code
from korch.backends.cpu.loops import lanes
from korch.backends.cpu.loops.dots import Lane
from korch.backends.cpu.loops.form import KernelForm
from korch.ir.cone import Cone


class IntegerForm:
    """Sums of bytes and their epilogue."""

    priority = 60
    counts_elements = False

    def matches(self, cone: Cone) -> bool:
        return cone.primitives[0].spec.adds_integers

    def refusal(self, cone: Cone) -> str:
        if cone.primitives[0].inputs[2] not in cone.leaves:
            return "a zero point that is computed in the same kernel"
        return lanes.refusal(cone)

    def generate(self, cone: Cone, threads: int) -> Code:
        return lanes.code_of(cone, threads, Lane.of(cone.primitives[0]))


FORM: KernelForm = IntegerForm()
