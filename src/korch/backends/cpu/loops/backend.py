"""The `loops` backend: every cone that one of its kernel forms matches and does not refuse, as one generated C
function."""

from __future__ import annotations

from dataclasses import dataclass, replace

from korch.backends.contract import Alias, Kernel, Refusal, Variant
from korch.backends.cpu.c import Code
from korch.backends.cpu.loops import halves
from korch.backends.cpu.loops.binding import Place
from korch.backends.cpu.loops.dots import multiplies_halves
from korch.backends.cpu.loops.form import PlacedForm
from korch.backends.cpu.loops.forms import form_of
from korch.backends.cpu.loops.work import operations
from korch.backends.footprint import footprint
from korch.backends.precision import faster, processor_allowed
from korch.backends.views import is_view
from korch.ir.cone import Cone
from korch.ir.macs import float32_time
from korch.machine import Machine

HEADERS = ("korch_math.h", "korch_vectors.h", "korch_vector_math.h", "korch_lanes.h", "korch_narrow.h")


@dataclass(frozen=True)
class Loops:
    """Every cone that a form of `forms/` builds; products also in the `precisions` allowed."""

    precisions: tuple[str, ...] = ()
    name: str = "loops"
    version: str = "1"
    fallback: bool = False

    def under(self, numerics: str) -> Loops:
        return replace(self, precisions=processor_allowed(numerics) if multiplies_halves() else ())

    def refuses(self, cone: Cone) -> Refusal | None:
        reason = form_of(cone).refusal(cone)
        return Refusal(reason) if reason else None

    def bound(self, cone: Cone, machine: Machine) -> float:
        """Bytes and arithmetic that no order of the loops avoids; nothing at all for a view."""
        if is_view(cone):
            return 0.0
        moved, computed = footprint(cone)
        work = operations(cone, computed) if form_of(cone).counts_elements else {}
        heavy = sum(machine.element(op) * count for op, count in work.items())
        linear = 2 * float32_time(cone.linear) / max(map(faster, self._precisions(cone)), default=1.0)
        return machine.roofline(sum(work.values()) + linear, moved, heavy)

    def build(self, cone: Cone, threads: int) -> tuple[Kernel, ...]:
        if is_view(cone):
            return (Kernel(cone, self.name, Variant(), Alias()),)
        made = [self._kernel(cone, form_of(cone).generate(cone, threads))]
        for precision in self._precisions(cone):
            code = replace(halves.generate(cone, threads), headers=HEADERS)
            made.append(Kernel(cone, self.name, Variant(precision=precision), code))
        return tuple(made)

    def _precisions(self, cone: Cone) -> tuple[str, ...]:
        """Those in which a kernel of the cone is worth measuring."""
        return self.precisions if self.precisions and cone.linear and halves.takes(cone) else ()

    def places(self, cone: Cone, place: Place) -> bool:
        """Whether `placed` builds the cone."""
        form = form_of(cone)
        if is_view(cone) or not isinstance(form, PlacedForm) or form.refusal(cone):
            return False
        return form.places(cone, place)

    def placed(self, cone: Cone, place: Place) -> Kernel:
        """The kernel of one thread that puts its root into a larger tensor, each element where it belongs."""
        form = form_of(cone)
        assert isinstance(form, PlacedForm), "the form cannot write into a larger tensor"
        return self._kernel(cone, form.place(cone, place))

    def _kernel(self, cone: Cone, code: Code) -> Kernel:
        return Kernel(cone, self.name, Variant(), replace(code, headers=HEADERS))


BACKEND = Loops()
