"""How a trace is written in Triton, on blocks of elements: every variable is a block of indices, or one index."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from korch.backends.contract import Prepared
from korch.backends.cuda.triton.elementwise import elementwise
from korch.backends.maps.index import Atom, Clamp, Index
from korch.backends.maps.text import IndexText
from korch.backends.maps.trace import Fused, Maker
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor


@dataclass
class TritonLanguage(IndexText):
    """The language of the blocks (`korch.backends.maps.trace.Language`).

    `masks` names, for a variable that may run over its end, the block of conditions that says where it does not: loads
    that depend on it are masked. Constant tables become prepared buffers, `table0` and so on, in `tables`.
    """

    masks: Mapping[str, str] = field(default_factory=dict[str, str])
    tables: dict[tuple[float, ...], str] = field(default_factory=dict[tuple[float, ...], str])
    divide = "//"

    def clamp(self, text: str, lo: int, hi: int) -> str:
        return f"tl.minimum(tl.maximum({text}, {lo}), {hi})"

    def entry(self, table: tuple[float, ...], at: Index) -> str:
        if len(set(table)) == 1:
            return repr(table[0])
        name = self.tables.setdefault(table, f"table{len(self.tables)}")
        return f"tl.load({name} + ({self.index(at)}){self.masked(at)})"

    def masked(self, at: Index) -> str:
        """The mask of a load or a store at `at`, as further arguments: nothing is read past an end or a clamp."""
        masks = sorted({self.masks[v.name] for v in at.vars() if v.name in self.masks})
        clamps = dict.fromkeys(a for a in at.atoms() if isinstance(a, Clamp) and not a.edge)
        masks += [condition for c in clamps for condition in self._inside(c)]
        return f", mask={' & '.join(masks)}" if masks else ""

    def _inside(self, c: Clamp) -> list[str]:
        lo, hi = c.of.range()
        text = self.index(c.of)
        return [f"({text} >= {c.lo})"] * (lo < c.lo) + [f"({text} < {c.hi + 1})"] * (hi > c.hi)

    def _atom(self, atom: Atom) -> str:
        """A load is masked where a clamp holds, so that its index may stay as plain as memory is."""
        if isinstance(atom, Clamp) and not atom.edge:
            return f"({self.index(atom.of)})"
        return super()._atom(atom)

    def declared(self, name: str, dtype: str, expression: str) -> str:
        return f"{name} = {expression}"

    def literal(self, value: float | int | bool, dtype: str) -> str:
        return literal(value, dtype)

    def load(self, t: Tensor, array: str, at: Index) -> str:
        mask = self.masked(at)
        return f"tl.load({array} + ({self.index(at)}){mask}{', other=0' if mask else ''})"

    def elementwise(self, p: Primitive, args: list[str]) -> str:
        return elementwise(p, args)

    def together(self, p: Primitive, maker: Maker, known: Maker) -> Fused | None:
        return None

    def any_of(self, conditions: Sequence[str]) -> str:
        return " | ".join(f"({c})" for c in conditions)

    def chosen(self, condition: str, yes: str, no: str) -> str:
        return f"tl.where({condition}, {yes}, {no})"

    def wrapped(self, value: str, length: int) -> str:
        return f"tl.where({value} < 0, {value} + {length}, {value})"

    def clamped(self, value: str, last: int) -> str:
        return f"tl.cast({self.clamp(value, 0, last)}, tl.int32)"

    def prepared(self) -> tuple[Prepared, ...]:
        """The tables as buffers, in the order of their names."""
        return tuple(
            Prepared("int32" if all(isinstance(v, int) for v in t) else "float32", (len(t),), values=t)
            for t in self.tables
        )


def literal(value: float | int | bool, dtype: str) -> str:
    """`value` as a constant of `dtype`."""
    if dtype == "bool":
        return str(bool(value))
    if not dtype.startswith("float"):
        return str(int(value))
    number = float(value)
    return repr(number) if math.isfinite(number) else f'float("{number}")'
