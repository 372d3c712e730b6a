"""Terms under laws: matching, one step anywhere in a term, and normal forms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from korch.rewrite.discover.terms import (
    COLUMNS,
    COMMUTATIVE,
    MATRICES,
    Law,
    MatrixShape,
    Term,
    leaves,
    shape_of,
    size,
    substitute,
    text,
)

Substitution = dict[str, Term]
STEPS = 40
"""Of a normal form; laws that turn in circles stop there."""


def matches(pattern: Term, t: Term, shapes: Mapping[str, MatrixShape], bound: Substitution) -> Iterator[Substitution]:
    """The ways in which t is an instance of `pattern`, commuting where operators do."""
    if isinstance(pattern, str):
        if pattern == "ones" or pattern in bound:
            if (bound.get(pattern, "ones")) == t:
                yield bound
        elif _may_be(pattern, shape_of(t, shapes)):
            yield {**bound, pattern: t}
    elif not isinstance(t, str) and t[0] == pattern[0]:
        if len(t) == 2:
            yield from matches(pattern[1], t[1], shapes, bound)
            return
        for a, b in ((t[1], t[2]), (t[2], t[1]))[: 2 if t[0] in COMMUTATIVE else 1]:
            for half in matches(pattern[1], a, shapes, bound):
                yield from matches(pattern[2], b, shapes, half)


def _may_be(leaf: str, shape: MatrixShape | None) -> bool:
    """Matrices stand for anything, a column for columns, a number for numbers."""
    return shape is not None and (leaf in MATRICES or (shape[1] == 1 and (leaf in COLUMNS or shape[0] == 1)))


def sorted_sides(t: Term) -> Term:
    """t with the operands of operators that commute in one order."""
    if isinstance(t, str):
        return t
    parts = [sorted_sides(x) for x in t[1:]]
    if t[0] in COMMUTATIVE:
        parts.sort(key=_order)
    return (t[0], *parts)


def _order(t: Term) -> tuple[int, str]:
    return size(t), text(t)


@dataclass
class Rules:
    """Laws as rewrite rules, by the operator of the side that must match."""

    shapes: Mapping[str, MatrixShape]
    both_ways: dict[str, list[tuple[Term, Term]]] = field(default_factory=lambda: defaultdict(list))
    downward: dict[str, list[tuple[Term, Term]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, law: Law) -> None:
        """Each side may become the other; for normal forms, the later becomes the earlier."""
        for a, b in ((law.left, law.right), (law.right, law.left)):
            if not isinstance(a, str) and set(leaves(b)) <= {*leaves(a), "ones"}:
                self.both_ways[a[0]].append((a, b))
                if _order(sorted_sides(b)) < _order(sorted_sides(a)):
                    self.downward[a[0]].append((a, b))

    def steps(self, t: Term, table: Mapping[str, list[tuple[Term, Term]]]) -> Iterator[Term]:
        """What one law makes of t, at its root or inside it."""
        if isinstance(t, str):
            return
        for a, b in table.get(t[0], ()):
            for bound in matches(a, t, self.shapes, {}):
                if self._keeps_broadcasts((a, b), bound, t):
                    yield substitute(b, bound)
        for i, part in enumerate(t[1:], 1):
            for other in self.steps(part, table):
                yield (*t[:i], other, *t[i + 1 :])

    def _keeps_broadcasts(self, sides: tuple[Term, Term], bound: Substitution, t: Term) -> bool:
        """Laws found for operands of one shape say nothing of operands that are broadcast."""
        inside = {**self.shapes} | {x: s for x, y in bound.items() if (s := shape_of(y, self.shapes)) is not None}
        if shape_of(sides[1], inside) != shape_of(t, self.shapes):
            return False
        return all(_broadcasts(s, self.shapes) == _broadcasts(s, inside) for s in sides)

    def normal(self, t: Term) -> Term:
        """t after all downward steps."""
        t = sorted_sides(t)
        for _ in range(STEPS):
            for other in self.steps(t, self.downward):
                other = sorted_sides(other)
                if _order(other) < _order(t):
                    t = other
                    break
            else:
                return t
        return t


def _broadcasts(t: Term, shapes: Mapping[str, MatrixShape]) -> tuple[bool, ...]:
    """For each sum, product and quotient inside: whether its operands' shapes differ."""
    if isinstance(t, str):
        return ()
    own = (shape_of(t[1], shapes) != shape_of(t[2], shapes),) if t[0] in ("add", "mul", "div") else ()
    return (*own, *(b for x in t[1:] for b in _broadcasts(x, shapes)))
