"""Products with small constant matrices as straight-line C that shares sums.

Winograd's matrices come with points p and -p: two columns of equal or opposite numbers see a sum and a difference
once, two rows that differ in some signs share both halves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from korch.backends.cpu.c import Block, Statement
from korch.backends.cpu.loops.ctypes import literal
from korch.ir.ops.table import Array

Terms = list[tuple[str, float]]


@dataclass
class Lines:
    """Statements and a counter for names, of numbers or of vectors."""

    lines: list[str] = field(default_factory=list[str])
    kind: str = "float"

    def name(self, expression: str) -> str:
        """A new constant holding `expression`."""
        variable = f"t{len(self.lines)}"
        self.lines.append(f"const {self.kind} {variable} = {expression};")
        return variable

    def total(self, terms: Terms) -> str:
        """The name of a sum of multiples; a lone variable stands for itself."""
        terms = [(x, k) for x, k in terms if k]
        if not terms:
            return "0.0f"
        if len(terms) == 1 and terms[0][1] == 1:
            return terms[0][0]
        terms.sort(key=lambda t: t[1] < 0)  # a positive one first
        return self.name("".join(_term(x, k, first=i == 0) for i, (x, k) in enumerate(terms)))


def _term(x: str, k: float, first: bool) -> str:
    sign = ("-" if k < 0 else "") if first else (" - " if k < 0 else " + ")
    return sign + (x if abs(k) == 1 else f"{literal(abs(k), 'float32')} * {x}")


def product(lines: Lines, matrix: Array, x: Sequence[str]) -> list[str]:
    """The names of matrix @ x."""
    names, matrix = _merged_columns(lines, matrix, list(x))
    result: dict[int, str] = {}
    for i, row in enumerate(matrix):
        if i in result:
            continue
        j = next((j for j in range(i + 1, len(matrix)) if j not in result and _pairs(row, matrix[j])), None)
        if j is None:
            result[i] = lines.total(list(zip(names, row, strict=True)))
        else:
            result[i], result[j] = _halves(lines, names, row, matrix[j])
    return [result[i] for i in range(len(matrix))]


def _pairs(a: Array, b: Array) -> bool:
    """Whether two rows differ in some signs only, and share enough that both halves pay."""
    same, opposite = (a == b) & (a != 0), (a == -b) & (a != 0)
    return bool(np.array_equal(np.abs(a), np.abs(b)) and same.any() and opposite.any())


def _halves(lines: Lines, names: list[str], a: Array, b: Array) -> tuple[str, str]:
    same = lines.total([(x, k) for x, k, other in zip(names, a, b, strict=True) if k == other])
    opposite = lines.total([(x, k) for x, k, other in zip(names, a, b, strict=True) if k != other])
    return lines.total([(same, 1), (opposite, 1)]), lines.total([(same, 1), (opposite, -1)])


def _merged_columns(lines: Lines, matrix: Array, x: list[str]) -> tuple[list[str], Array]:
    """Pairs of columns of equal or opposite numbers become one column for the sum and one for the difference."""
    names: list[str] = []
    columns: list[Array] = []
    left = list(range(matrix.shape[1]))
    while left:
        i = left.pop(0)
        j = next((j for j in left if _pairs(matrix[:, i], matrix[:, j])), None)
        if j is None:
            names.append(x[i])
            columns.append(matrix[:, i])
            continue
        left.remove(j)
        same = matrix[:, i] == matrix[:, j]
        names += [lines.total([(x[i], 1), (x[j], 1)]), lines.total([(x[i], 1), (x[j], -1)])]
        columns += [np.where(same, matrix[:, i], 0.0), np.where(same, 0.0, matrix[:, i])]
    return names, np.stack(columns, axis=1)


def sandwich(lines: Lines, left: Array, right: Array, x: Callable[[int, int], str]) -> list[list[str]]:
    """The names of left @ x @ right^T, `x` giving the C text of an element."""
    rows, columns = left.shape[1], right.shape[1]
    inner = [product(lines, left, [lines.name(x(i, j)) for i in range(rows)]) for j in range(columns)]
    return [product(lines, right, [column[i] for column in inner]) for i in range(len(left))]


def sandwich_in_passes(
    matrix: Array, lanes: int, most: int, x: Callable[[str, str], str], result: Callable[[str, str], str]
) -> list[Statement]:
    """C that stores matrix @ x @ matrix^T of `parts`, at `most` so many, vectors side by side: first all columns, by
    way of memory, then all rows. Registers that hold a column need not hold the whole, and what lies in one line is
    read and written together. `x` and `result` give the C text of an element's address."""
    rows, side = matrix.shape
    vector, at, aside = f"korch_f{lanes}", f"korch_at{lanes}", f" + part * {lanes}"
    columns, across = Lines(kind=vector), Lines(kind=vector)
    inner = product(columns, matrix, [columns.name(f"*(const {at} *)({x(str(i), 'j')}{aside})") for i in range(side)])
    outer = product(across, matrix, [across.name(f"half[part][i * {side} + {j}]") for j in range(side)])
    kept = [f"half[part][{i * side} + j] = {y};" for i, y in enumerate(inner)]
    stored = [f"*({at} *)({result('i', str(j))}{aside}) = {y};" for j, y in enumerate(outer)]
    return [
        f"{vector} half[{most}][{rows * side}];",
        *_looped("j", side, [*columns.lines, *kept]),
        *_looped("i", rows, [*across.lines, *stored]),
    ]


def _looped(name: str, count: int, body: Sequence[str]) -> list[Statement]:
    return [
        "#pragma GCC unroll 1",
        f"for (int {name} = 0; {name} < {count}; ++{name})",
        "#pragma GCC unroll 1",
        Block("  for (int part = 0; part < parts; ++part)", tuple(body)),
    ]
