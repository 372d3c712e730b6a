"""All terms up to a size, many at a time: each is evaluated once over the field, from the values of its parts.

Terms with equal values are one class. Larger terms are built from the first term of each class only, so no law says
again inside a larger term what a smaller one said (TASO's common subgraphs).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import permutations

import numpy as np

from korch.ir.ops.table import Array
from korch.ir.tensor import Tensor
from korch.rewrite.discover.terms import MATRICES, OPERATORS, Law, MatrixShape, Operator, Term, leaf_shapes
from korch.rewrite.exact import Field, Residues
from korch.rewrite.exact.residues import number, ones

POINTS = 6
"""Random points: 24 elements of 2 x 2, so that wrong laws of Relu, which may hold for half of them, pass in 2^-24."""
SIDE = 2
LARGEST = 16
"""Elements of a matrix: four of 2 x 2 in a square."""
CHUNK = 1 << 15


@dataclass
class _Values:
    """The terms of one shape that have been kept: values [terms, points, rows, columns]."""

    ids: list[int] = field(default_factory=list[int])
    p: list[Array] = field(default_factory=list[Array])
    q: list[Array | None] = field(default_factory=list[Array | None])


_New = dict[tuple[MatrixShape, bool, bool], _Values]
"""By shape, whether both residues are known, and whether a variable occurs."""


@dataclass(frozen=True)
class _Group:
    """Terms of one size and shape whose residues are known in both fields, or in one. `closed`: of no variable."""

    size: int
    shape: MatrixShape
    closed: bool
    ids: Array
    value: Residues


class Enumeration:
    """Terms by class; `laws` are pairs of equal terms, in the order in which they were found."""

    def __init__(self, size: int, seed: int = 0) -> None:
        self.size = size
        self.field = Field(seed)
        self.terms: list[Term] = []
        self.laws: list[Law] = []
        self._class: dict[tuple[MatrixShape, int], int | tuple[str, tuple[int, ...]]] = {}
        self._orders: list[int] = []
        self._groups: list[_Group] = []
        self._commutes: set[str] = set()
        rng = np.random.default_rng(seed)
        self._weights = rng.integers(1, 2**63, (POINTS, LARGEST), np.uint64) | np.uint64(1)
        self._leaves()
        for n in range(1, size + 1):
            self._level(n)

    def _leaves(self) -> None:
        new: _New = defaultdict(_Values)
        for name, shape in leaf_shapes(SIDE).items():
            t = Tensor(name, "float32", (1, POINTS, *shape))
            x = self.field.input(t) if name != "ones" else ones(t.shape)
            assert isinstance(x, Residues)
            self._class[shape, int(self._fingerprints(x)[0])] = len(self.terms)
            order = _ORDERS[(name,) if name in MATRICES else ()]
            self._keep(new, (shape, True, name == "ones"), name, order, x)
        self._store(new, 0)

    def _level(self, n: int) -> None:
        """All terms of n primitives."""
        new: _New = defaultdict(_Values)
        groups = list(self._groups)
        for o in OPERATORS.values():
            for operands in _operands(o, groups, n):
                shape = o.shape(*(g.shape for g in operands))
                if shape is not None and (o.of_constants or not any(g.closed for g in operands)):
                    self._apply(o, operands, shape, new, n)
        self._store(new, n)
        if n == 1:
            pairs = (law for law in self.laws if not isinstance(law.left, str) and not isinstance(law.right, str))
            self._commutes = {a.left[0] for a in pairs if (a.left[0], *a.left[:0:-1]) == a.right}

    def _apply(self, o: Operator, operands: tuple[_Group, ...], shape: MatrixShape, new: _New, n: int) -> None:
        divided = operands
        if o.name == "div":  # invert once, multiply often
            divided = (operands[0], _inverted(operands[1]))
        for picks in _picks(o.name, o.name in self._commutes, operands):
            values = [
                Residues(g.value.p[i], None if g.value.q is None else g.value.q[i])
                for g, i in zip(divided, picks, strict=True)
            ]
            result = _evaluated(OPERATORS["mul"] if o.name == "div" else o, values, self.field)
            ids = [g.ids[i].tolist() for g, i in zip(operands, picks, strict=True)]
            self._enter(o, list(zip(*ids, strict=True)), (shape, all(g.closed for g in operands)), result, new, n)

    def _enter(
        self,
        o: Operator,
        parts: list[tuple[int, ...]],
        kind: tuple[MatrixShape, bool],
        result: Residues,
        new: _New,
        n: int,
    ) -> None:
        """Each term founds a class or makes a law with the first of its class."""
        shape, closed = kind
        for i, (print_, ids) in enumerate(zip(self._fingerprints(result).tolist(), parts, strict=True)):
            order = _joined(tuple(self._orders[k] for k in ids))
            first = self._class.get((shape, print_))
            if first is not None:
                if order in _IN_ORDER or self._order(first) in _IN_ORDER:
                    self.laws.append(Law(self._term(o.name, ids), self._first(first)))
            elif n == self.size:
                self._class[shape, print_] = (o.name, ids)
            else:
                self._class[shape, print_] = len(self.terms)
                one = Residues(result.p[i : i + 1], None if result.q is None else result.q[i : i + 1])
                self._keep(new, (shape, one.q is not None, closed), self._term(o.name, ids), order, one)

    def _term(self, name: str, ids: tuple[int, ...]) -> Term:
        return (name, *(self.terms[k] for k in ids))

    def _order(self, found: int | tuple[str, tuple[int, ...]]) -> int:
        ids = (found,) if isinstance(found, int) else found[1]
        return _joined(tuple(self._orders[k] for k in ids))

    def _first(self, found: int | tuple[str, tuple[int, ...]]) -> Term:
        return self.terms[found] if isinstance(found, int) else self._term(*found)

    def _keep(self, new: _New, kind: tuple[MatrixShape, bool, bool], term: Term, order: int, x: Residues) -> None:
        kept = new[kind]
        kept.ids.append(len(self.terms))
        kept.p.append(x.p)
        kept.q.append(x.q)
        self.terms.append(term)
        self._orders.append(order)

    def _store(self, new: _New, n: int) -> None:
        for (shape, _, closed), v in new.items():
            q = [x for x in v.q if x is not None]
            value = Residues(np.concatenate(v.p), np.concatenate(q) if q else None)
            self._groups.append(_Group(n, shape, closed, np.asarray(v.ids), value))

    def _fingerprints(self, x: Residues) -> Array:
        """64 bits for each term's residues modulo P."""
        flat = x.p.reshape(len(x.p), POINTS, -1).astype(np.uint64)
        mixed = (flat * self._weights[:, : flat.shape[2]]).sum(axis=(1, 2), dtype=np.uint64)
        return mixed ^ (mixed >> np.uint64(32))


def _inverted(g: _Group) -> _Group:
    return replace(g, value=number(1) / g.value)


def _operands(o: Operator, groups: list[_Group], n: int) -> Iterator[tuple[_Group, ...]]:
    """Groups whose sizes add up to n - 1."""
    if o.arity == 1:
        yield from ((g,) for g in groups if g.size == n - 1)
    else:
        yield from ((g, h) for g in groups for h in groups if g.size + h.size == n - 1)


def _picks(name: str, commutes: bool, operands: tuple[_Group, ...]) -> Iterator[tuple[Array, ...]]:
    """Positions in the groups, all combinations, in chunks; one order of what commutes, no quotient by itself."""
    counts = [len(g.ids) for g in operands]
    total = int(np.prod(counts))
    for start in range(0, total, CHUNK):
        picks = np.unravel_index(np.arange(start, min(start + CHUNK, total)), counts)
        if commutes and operands[0].shape == operands[1].shape:
            once = operands[0].ids[picks[0]] <= operands[1].ids[picks[1]]
            picks = tuple(p[once] for p in picks)
        if name == "div" and operands[0] is operands[1]:
            picks = tuple(p[picks[0] != picks[1]] for p in picks)
        if len(picks[0]):
            yield picks


def _evaluated(o: Operator, values: list[Residues], field: Field) -> Residues:
    inputs = tuple(Tensor(f"x{i}", "float32", x.shape) for i, x in enumerate(values))
    result = field.evaluate(o.on(inputs, "y"), values)
    assert isinstance(result, Residues)
    return result


# In which order the matrices of a term appear -------------------------------------------------------------------


_ALL = [order for n in range(len(MATRICES) + 1) for order in permutations(MATRICES, n)]
_ORDERS = {order: i for i, order in enumerate(_ALL)}
_IN_ORDER = {_ORDERS[MATRICES[:n]] for n in range(len(MATRICES) + 1)}
"""A, then B, then C: of the terms that differ in the names of matrices, the one that laws are told for."""
_JOIN = [[_ORDERS[tuple(dict.fromkeys(a + b))] for b in _ALL] for a in _ALL]


def _joined(orders: tuple[int, ...]) -> int:
    return orders[0] if len(orders) == 1 else _JOIN[orders[0]][orders[1]]
