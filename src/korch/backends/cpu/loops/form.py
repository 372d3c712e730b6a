"""The protocol of kernel forms. A form matches some cones and writes their C."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from korch.backends.cpu.c import Code
from korch.backends.cpu.loops.binding import Place
from korch.ir.cone import Cone


class KernelForm(Protocol):
    """One way to write cones as C: the constant `FORM` of a file in `forms/`."""

    @property
    def priority(self) -> int:
        """Of the forms that match a cone, the one of the highest priority builds or refuses it."""
        ...

    @property
    def counts_elements(self) -> bool:
        """Whether the bound counts element operations. They cost nothing between the multiply-adds of a convolution."""
        ...

    def matches(self, cone: Cone) -> bool:
        """Whether the cone is of this form. Cheap."""
        ...

    def refusal(self, cone: Cone) -> str:
        """Why a matching cone is not built; empty if it is."""
        ...

    def generate(self, cone: Cone, threads: int) -> Code:
        """The C of a cone that is not refused, for a team of `threads`."""
        ...


@runtime_checkable
class PlacedForm(KernelForm, Protocol):
    """A form whose kernels can write their root into a larger tensor."""

    def places(self, cone: Cone, place: Place) -> bool:
        """Whether `place` writes a cone that is not refused."""
        ...

    def place(self, cone: Cone, place: Place) -> Code:
        """The C for one thread, each element of the root at its `place`."""
        ...
