"""Einsum, as transposes, sums, products and matrix products."""

from __future__ import annotations

import math
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from korch.fission.rule import Opaque, fission
from korch.ir.builder import Builder, Value


@dataclass(frozen=True)
class EinsumTerm:
    """A value and the label of each of its axes."""

    value: Value
    labels: str

    def length(self, label: str) -> int:
        """The length of the axis `label`; 1 where there is none."""
        return self.value.shape[self.labels.index(label)] if label in self.labels else 1


@fission("Einsum")
def einsum(b: Builder, *operands: Value, equation: str) -> Value | Opaque:
    """Sums over the labels that the result lacks, of the products of the operands: pair after pair, left to right."""
    inputs, output = _parsed(equation.replace(" ", ""), operands)
    terms = [EinsumTerm(x, labels) for x, labels in zip(operands, inputs, strict=True)]
    if any(len(set(t.labels)) < len(t.labels) for t in terms) or len(set(output)) < len(output):
        return Opaque("it takes a diagonal")
    if operands[0].dtype not in ("float16", "float32", "float64", "int32", "int64"):
        return Opaque(f"it multiplies matrices of {operands[0].dtype}")
    total = terms[0]
    for i, term in enumerate(terms[1:], 1):
        later = set(output).union(*(t.labels for t in terms[i + 1 :]))
        total = _product(
            b, _summed(b, total, later | set(term.labels)), _summed(b, term, later | set(total.labels)), later, output
        )
    return _ordered(b, _summed(b, total, set(output)), output)


def result_shape(operands: Sequence[Value], equation: str) -> tuple[int, ...]:
    """The shape of the result; ValueError where the operands do not fit the equation."""
    inputs, output = _parsed(equation.replace(" ", ""), operands)
    terms = [EinsumTerm(x, labels) for x, labels in zip(operands, inputs, strict=True)]
    return tuple(max(t.length(c) for t in terms) for c in output)


def _parsed(equation: str, operands: Sequence[Value]) -> tuple[list[str], str]:
    """Labels of each operand and of the result; an ellipsis becomes labels of its own, aligned at its end."""
    left, arrow, right = equation.partition("->")
    parts = left.split(",")
    hidden = max(
        (x.rank - len(p.replace("...", "")) for x, p in zip(operands, parts, strict=True) if "..." in p), default=0
    )
    free = "".join(c for c in string.ascii_letters + string.digits if c not in equation)[:hidden]

    def expanded(part: str, rank: int) -> str:
        mine = rank - len(part.replace("...", ""))
        return part.replace("...", free[len(free) - mine :])

    inputs = [expanded(p, x.rank) for p, x in zip(parts, operands, strict=True)]
    if not arrow:
        named = left.replace("...", "").replace(",", "")
        right = "..." + "".join(sorted(c for c in set(named) if named.count(c) == 1))
    return inputs, right.replace("...", free)


def _summed(b: Builder, t: EinsumTerm, needed: set[str]) -> EinsumTerm:
    """The sum over the axes that nobody needs."""
    axes = tuple(i for i, c in enumerate(t.labels) if c not in needed)
    if not axes:
        return t
    labels = "".join(c for c in t.labels if c in needed)
    return EinsumTerm(b.op("ReduceSum", t.value, axes=axes, keepdims=0), labels)


def _product(b: Builder, x: EinsumTerm, y: EinsumTerm, later: set[str], output: str) -> EinsumTerm:
    """x times y, summed over the labels that both have and nobody needs later."""
    shared = [c for c in x.labels if c in y.labels]
    inner = "".join(c for c in shared if c not in later)
    if not inner:
        return _multiplied(b, x, y, output)
    broken = "".join(c for c in inner if x.length(c) != y.length(c))
    if broken:  # an axis of length 1 against a longer one: its element times the sum of the others
        x, y = (_summed_where_long(b, t, broken) for t in (x, y))
        return _product(b, x, y, later, output)
    batch = "".join(c for c in shared if c in later)
    rows, columns = ("".join(c for c in t.labels if c not in shared) for t in (x, y))
    if columns and rows and output.find(columns[0]) < output.find(rows[0]):
        x, y, rows, columns = y, x, columns, rows  # the result then needs no transposition
    return _matrix_product(b, x, y, batch, rows, inner, columns)


def _summed_where_long(b: Builder, t: EinsumTerm, labels: str) -> EinsumTerm:
    return _summed(b, t, set(t.labels) - set(labels))


def _multiplied(b: Builder, x: EinsumTerm, y: EinsumTerm, output: str) -> EinsumTerm:
    """Nothing to sum: a product with broadcasting, axes in the order of the result as far as it has them."""
    labels = _by_place(set(x.labels + y.labels), output, x.labels + y.labels)
    return EinsumTerm(_spread(b, x, labels) * _spread(b, y, labels), labels)


def _matrix_product(
    b: Builder, x: EinsumTerm, y: EinsumTerm, batch: str, rows: str, inner: str, columns: str
) -> EinsumTerm:
    """[lead, batch, rows, inner] @ [batch, inner, columns]; rows, inner and columns as one axis each.

    The leading axes that only x has need not become rows: y is broadcast along them.
    """
    lead = "".join(takewhile(lambda c: c in rows, x.labels))[: max(len(rows) - 1, 0)]
    rows = rows[len(lead) :]
    lengths = {c: max(x.length(c), y.length(c)) for c in x.labels + y.labels}

    def matrix(t: EinsumTerm, before: str, left: str, right: str) -> Value:
        v = _ordered(b, t, before + left + right)
        sides = tuple(math.prod(lengths[c] for c in group) for group in (left, right))
        return b.op("Reshape", v, shape=(*v.shape[: len(before)], *sides))

    total = matrix(x, lead + batch, rows, inner) @ matrix(y, batch, inner, columns)
    labels = lead + batch + rows + columns
    return EinsumTerm(b.op("Reshape", total, shape=tuple(lengths[c] for c in labels)), labels)


def _spread(b: Builder, t: EinsumTerm, labels: str) -> Value:
    """The axes of t in the order of `labels`, with length 1 where it has none."""
    own = "".join(c for c in labels if c in t.labels)
    return b.op("Reshape", _ordered(b, t, own), shape=tuple(t.length(c) for c in labels))


def _ordered(b: Builder, t: EinsumTerm, labels: str) -> Value:
    return b.op("Transpose", t.value, perm=tuple(t.labels.index(c) for c in labels))


def _by_place(labels: Iterable[str], *orders: str) -> str:
    """The labels sorted by where they first appear in `orders`, one order after the other."""
    line = "".join(orders)
    return "".join(sorted(labels, key=line.index))
