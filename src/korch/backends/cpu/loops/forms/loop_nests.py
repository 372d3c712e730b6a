"""Loop nests: elementwise, broadcast, layout and reducing primitives in any chain."""

from __future__ import annotations

from korch.backends.cpu.c import Code
from korch.backends.cpu.loops import emit
from korch.backends.cpu.loops.binding import Place, is_reduction
from korch.backends.cpu.loops.form import KernelForm
from korch.backends.cpu.loops.refusals import nest_refusal
from korch.ir.cone import Cone


class LoopNestForm:
    """Every cone that no other form matches."""

    priority = 0
    counts_elements = True

    def matches(self, cone: Cone) -> bool:
        return True

    def refusal(self, cone: Cone) -> str:
        return nest_refusal(cone)

    def generate(self, cone: Cone, threads: int) -> Code:
        return emit.generate(cone, threads)

    def places(self, cone: Cone, place: Place) -> bool:
        return not any(map(is_reduction, cone.primitives))

    def place(self, cone: Cone, place: Place) -> Code:
        return emit.generate(cone, 1, place)


FORM: KernelForm = LoopNestForm()
