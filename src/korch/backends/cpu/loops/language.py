"""The language C of a trace: its indices, conditions and constant tables."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from korch.backends.cpu.c.tree import Function, Table, own, references
from korch.backends.cpu.loops.ctypes import C_TYPES, elementwise, literal, together
from korch.backends.maps.index import Index
from korch.backends.maps.text import IndexText
from korch.backends.maps.trace import Fused, Maker
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor


class C(IndexText):
    """The language of the loops (`korch.backends.maps.trace.Language`)."""

    def clamp(self, text: str, lo: int, hi: int) -> str:
        return f"KORCH_MIN(KORCH_MAX({text}, {lo}), {hi})"

    def entry(self, table: tuple[float, ...], at: Index) -> str:
        return f"{own(table_name(table))}[{self.index(at)}]"

    def declared(self, name: str, dtype: str, expression: str) -> str:
        return f"const {C_TYPES[dtype]} {name} = {expression};"

    def literal(self, value: float | int | bool, dtype: str) -> str:
        return literal(value, dtype)

    def load(self, t: Tensor, array: str, at: Index) -> str:
        return f"{array}[{self.index(at)}]"

    def elementwise(self, p: Primitive, args: list[str]) -> str:
        return elementwise(p, args)

    def together(self, p: Primitive, maker: Maker, known: Maker) -> Fused | None:
        return together(p, maker, known)

    def any_of(self, conditions: Sequence[str]) -> str:
        return f"({' || '.join(conditions)})"

    def chosen(self, condition: str, yes: str, no: str) -> str:
        return f"{condition} ? {yes} : {no}"

    def wrapped(self, value: str, length: int) -> str:
        return f"{value} < 0 ? {value} + {length} : {value}"

    def clamped(self, value: str, last: int) -> str:
        return self.clamp(value, 0, last)


def c_index(e: Index) -> str:
    """The C text of an index."""
    return C().index(e)


_NAMES: dict[tuple[bool, tuple[float, ...]], str] = {}
"""By whether a table is one of places, and its contents: (0, 1) and (0.0, 1.0) are equal in Python, and not in C."""
_TABLES: dict[str, tuple[float, ...]] = {}


def table_name(table: tuple[float, ...]) -> str:
    """A name that depends on the contents alone (so that equal kernels have equal text)."""
    key = all(isinstance(v, int) for v in table), table
    if key not in _NAMES:
        _NAMES[key] = "table_" + hashlib.sha256(repr(table).encode()).hexdigest()[:10]
        _TABLES[_NAMES[key]] = table
    return _NAMES[key]


def tables_of(functions: Iterable[Function]) -> list[Table]:
    """The tables that functions refer to."""
    names = dict.fromkeys(name for f in functions for name in references(f))
    return [_table(name) for name in names if name in _TABLES]


def _table(name: str) -> Table:
    table = _TABLES[name]
    if all(isinstance(v, int) for v in table):
        return Table("int32_t", name, tuple(map(str, table)))
    return Table("float", name, tuple(literal(v, "float32") for v in table))
