"""How C spells what a trace finds: indices, conditions, constant tables."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from korch.backends.cpu.loops.ctypes import C_TYPES, elementwise, literal, together
from korch.backends.maps.index import Clamp, Div, Fetched, Index, Lookup, Mod, Var
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor


class C:
    """The language of the loops (`korch.backends.maps.trace.Language`)."""

    def declared(self, name: str, dtype: str, expression: str) -> str:
        return f"const {C_TYPES[dtype]} {name} = {expression};"

    def literal(self, value: float | int | bool, dtype: str) -> str:
        return literal(value, dtype)

    def load(self, t: Tensor, array: str, at: Index) -> str:
        return f"{array}[{c_index(at)}]"

    def weight(self, table: tuple[float, ...], at: Index) -> str:
        return f"{table_name(table)}[{c_index(at)}]"

    def elementwise(self, p: Primitive, args: list[str]) -> str:
        return elementwise(p, args)

    def together(self, p: Primitive, maker: Primitive | None) -> str:
        return together(p, maker)

    def below(self, e: Index, bound: int) -> str:
        return f"({c_index(e)}) < {bound}"

    def reaches(self, e: Index, bound: int) -> str:
        return f"({c_index(e)}) >= {bound}"

    def any_of(self, conditions: Sequence[str]) -> str:
        return f"({' || '.join(conditions)})"

    def chosen(self, condition: str, yes: str, no: str) -> str:
        return f"{condition} ? {yes} : {no}"

    def wrapped(self, value: str, length: int) -> str:
        return f"{value} < 0 ? {value} + {length} : {value}"

    def clamped(self, value: str, last: int) -> str:
        return f"KORCH_MIN(KORCH_MAX({value}, 0), {last})"


def c_index(e: Index) -> str:
    """`i0 * 64 + i1 + 3`."""
    parts = [_c_term(atom, k) for atom, k in e.terms]
    if e.const or not parts:
        parts.append(str(e.const))
    return " + ".join(parts).replace("+ -", "- ")


def _c_term(atom: object, k: int) -> str:
    text = c_atom(atom)
    return text if k == 1 else f"{text} * {k}" if k > 0 else f"-{text} * {-k}"


def c_atom(atom: object) -> str:
    match atom:
        case Var(name) | Fetched(name):
            return name
        case Div(of, by):
            return _floor_div(of, by)
        case Mod(of, by):
            return _floor_mod(of, by)
        case Lookup(table, of, stride, offset):
            return f"{table_name(table)}[{c_index(of * stride + offset)}]"
        case Clamp(of, lo, hi):
            return f"KORCH_MIN(KORCH_MAX({c_index(of)}, {lo}), {hi})"
        case _:
            raise TypeError(atom)


def _floor_div(of: Index, by: int) -> str:
    lo, _ = of.range()
    shift = -(lo // by) if lo < 0 else 0  # C divides toward zero: keep the dividend non-negative
    text = f"({c_index(of + shift * by)}) / {by}"
    return f"({text} - {shift})" if shift else f"(({c_index(of)}) / {by})"


def _floor_mod(of: Index, by: int) -> str:
    lo, _ = of.range()
    shift = -(lo // by) if lo < 0 else 0
    return f"(({c_index(of + shift * by)}) % {by})"


_TABLES: dict[tuple[float, ...], str] = {}


def table_name(table: tuple[float, ...]) -> str:
    """A name that depends on the contents alone (so that equal kernels have equal text)."""
    if table not in _TABLES:
        _TABLES[table] = "KERNEL_table_" + hashlib.sha256(repr(table).encode()).hexdigest()[:10]
    return _TABLES[table]


def table_definition(name: str) -> str:
    """The C definition of the table called `name`."""
    table = next(t for t, n in _TABLES.items() if n == name)
    if all(isinstance(v, int) for v in table):
        return f"static const int32_t {name}[] = {{{', '.join(map(str, table))}}};"
    return f"static const float {name}[] = {{{', '.join(literal(v, 'float32') for v in table)}}};"
