"""The body of a map for some neighbours at once, in vectors of C, which have faster functions than numbers have."""

from __future__ import annotations

from collections.abc import Sequence

from korch.backends.cpu.loops.behind import FUNCTIONS, SPELLED, everywhere, expression
from korch.backends.cpu.loops.spell import C
from korch.backends.maps.index import Index, Var
from korch.backends.maps.trace import Fused, Maker
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor


class Unfit(Exception):
    """The body does something that vectors cannot."""


class Vectors(C):
    """The language of `lanes` neighbours along a loop; Unfit where it has no word for something."""

    def __init__(self, along: Var, lanes: int) -> None:
        self.along, self.lanes = along, lanes
        self.pays = False
        """Whether it has said a function that compilers do not make of one of numbers."""

    def declared(self, name: str, dtype: str, expression: str) -> str:
        if dtype != "float32":
            raise Unfit
        return f"const korch_f{self.lanes} {name} = {expression};"

    def literal(self, value: float | int | bool, dtype: str) -> str:
        return everywhere(value, self.lanes)

    def load(self, t: Tensor, array: str, at: Index) -> str:
        step, place = at.coefficient(self.along), f"{array}[{self.index(at)}]"
        if t.dtype != "float32" or step not in (0, 1):
            raise Unfit
        return f"*(const korch_at{self.lanes} *)&{place}" if step else f"(korch_f{self.lanes}){{0}} + {place}"

    def elementwise(self, p: Primitive, args: list[str]) -> str:
        if p.op not in SPELLED:
            raise Unfit
        return expression(p, args, self.lanes)

    def together(self, p: Primitive, maker: Maker, known: Maker) -> Fused | None:
        fused = super().together(p, maker, known)
        if fused is None:
            return None
        if fused.function not in FUNCTIONS:
            raise Unfit
        self.pays = True
        return Fused(f"{FUNCTIONS[fused.function]}{self.lanes}", fused.source, fused.members)

    def entry(self, table: tuple[float, ...], at: Index) -> str:
        raise Unfit

    def any_of(self, conditions: Sequence[str]) -> str:
        raise Unfit

    def chosen(self, condition: str, yes: str, no: str) -> str:
        raise Unfit
