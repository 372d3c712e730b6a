"""The body of a loop for some neighbours at once, in vectors of C, which have faster functions than numbers have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from korch.backends.cpu.loops.language import C
from korch.backends.cpu.loops.tile import registers
from korch.backends.cpu.loops.vector_epilogue import CALLED, EXPRESSIBLE, FUNCTIONS, broadcast, everywhere, expression
from korch.backends.maps.index import Index, Var
from korch.backends.maps.trace import Fused, Maker, Trace
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor


@dataclass(frozen=True)
class Wide:
    """What `lanes` turns of a loop do at once: statements, and the name of the vector that they make."""

    lanes: int
    lines: list[str]
    value: str

    def stored(self, place: str, streamed: bool) -> list[str]:
        """The statements with the one that stores the vector from the address `place` on."""
        past, near = f"korch_stream{self.lanes}({place}, {self.value});", f"*(korch_at{self.lanes} *)({place})"
        return [*self.lines, past if streamed else f"{near} = {self.value};"]


def in_vectors(along: Var, turns: int, trace: Callable[[C], tuple[Trace, str]]) -> Wide | None:
    """The body that `trace` writes in the language it is given, for a loop `along` in multiples of `turns`; None where
    vectors cannot say it, or compilers make as good ones of numbers."""
    language = Vectors(along, registers().lanes)
    if turns % language.lanes:
        return None
    try:
        traced, value = trace(language)
    except Inexpressible:
        return None
    return Wide(language.lanes, traced.lines, value) if language.pays else None


def along_loop(along: Var, trace: Callable[[C], tuple[Trace, str]]) -> Wide | None:
    """The same for whole vectors, however good compilers are."""
    return after_register(along, registers().lanes, "", trace)


def after_register(along: Var, lanes: int, register: str, trace: Callable[[C], tuple[Trace, str]]) -> Wide | None:
    """The same of what follows the vector in `register`, which the trace reads as an array of that name, if there is
    one; None where vectors cannot say it."""
    try:
        traced, value = trace(Vectors(along, lanes, register))
    except Inexpressible:
        return None
    return Wide(lanes, traced.lines, value)


class Inexpressible(Exception):
    """The body does something that vectors cannot."""


class Vectors(C):
    """The language of `lanes` neighbours along a loop; Inexpressible where it has no text. The name `register` is
    no array, but the vector itself."""

    def __init__(self, along: Var, lanes: int, register: str = "") -> None:
        self.along, self.lanes, self.register = along, lanes, register
        self.pays = False
        """Whether it has said a function that compilers do not make of one of numbers."""

    def declared(self, name: str, dtype: str, expression: str) -> str:
        if dtype != "float32":
            raise Inexpressible
        return f"const korch_f{self.lanes} {name} = {expression};"

    def literal(self, value: float | int | bool, dtype: str) -> str:
        return everywhere(value, self.lanes)

    def load(self, t: Tensor, array: str, at: Index) -> str:
        if array == self.register:
            return array
        step, place = at.coefficient(self.along), f"{array}[{self.index(at)}]"
        if t.dtype != "float32" or step not in (0, 1, 2):
            raise Inexpressible
        if step == 2:
            return f"korch_every_other{self.lanes}(&{place})"
        return f"*(const korch_at{self.lanes} *)&{place}" if step else broadcast(place, self.lanes)

    def elementwise(self, p: Primitive, args: list[str]) -> str:
        if p.op not in EXPRESSIBLE:
            raise Inexpressible
        self.pays |= p.op in CALLED
        return expression(p, args, self.lanes)

    def together(self, p: Primitive, maker: Maker, known: Maker) -> Fused | None:
        fused = super().together(p, maker, known)
        if fused is None:
            return None
        if fused.function not in FUNCTIONS:
            raise Inexpressible
        self.pays = True
        return Fused(f"{FUNCTIONS[fused.function]}{self.lanes}", fused.source, fused.members)

    def entry(self, table: tuple[float, ...], at: Index) -> str:
        raise Inexpressible

    def any_of(self, conditions: Sequence[str]) -> str:
        raise Inexpressible

    def chosen(self, condition: str, yes: str, no: str) -> str:
        raise Inexpressible
