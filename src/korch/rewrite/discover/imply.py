"""Which laws smaller ones imply, and which hold for the enumeration's own shapes only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, product

from korch.ir.tensor import Tensor
from korch.rewrite.discover.rewriting import Rules, sorted_sides
from korch.rewrite.discover.terms import (
    COLUMNS,
    LEAVES,
    MATRICES,
    OPERATORS,
    Law,
    MatrixShape,
    Term,
    leaf_shapes,
    leaves,
    shape_of,
    size,
)
from korch.rewrite.exact import Field
from korch.rewrite.exact.residues import Residues, ones

REACH = 40
"""Terms that are looked at from either side of a law for a way to the other."""


def independent(laws: Iterable[Law], shapes: Mapping[str, MatrixShape]) -> list[Law]:
    """The laws, smallest first, that do not follow from those before them (TASO section 4.3).

    A law follows where it is an instance of a known one (a common part of its sides is but a name), where both
    sides have one normal form under the laws kept so far, or where a short chain of them leads from side to side.
    """
    unique = {str(c): c for c in (law.canonical() for law in laws)}
    ordered = sorted(unique.values(), key=lambda law: (law.size, -_generality(law), str(law)))
    rules, kept = Rules(shapes), list[Law]()
    for law in ordered:
        if not (_instance(law, unique, shapes) or _same_form(law, rules) or not holds(law) or _chain(law, rules)):
            kept.append(law)
            rules.add(law)
    return kept


def _generality(law: Law) -> int:
    """How many different values a law speaks of, matrices first."""
    used = {*leaves(law.left), *leaves(law.right)}
    return sum({"s": 2, "ones": 1}.get(x, 3 if x in COLUMNS else 10) for x in used)


def _instance(law: Law, known: Mapping[str, Law], shapes: Mapping[str, MatrixShape]) -> bool:
    """Whether a more general law holds: a leaf where both sides have the same larger term, or a more special leaf."""
    wider = [*_generalised(law, shapes)]
    return any(str(w.canonical()) in known for w in wider) or any(_equal(w, leaf_shapes(4), 1) for w in wider)


def _generalised(law: Law, shapes: Mapping[str, MatrixShape]) -> Iterator[Law]:
    used = {*leaves(law.left), *leaves(law.right)}
    unused = [x for kind in (MATRICES, COLUMNS, ("s",)) for x in kind if x not in used]
    fresh = list({_kind(x): x for x in reversed(unused)}.values())
    for part in {*_parts(law.left)} & {*_parts(law.right)}:
        rows, columns = shape_of(part, shapes) or (0, 0)
        kind = "A" if min(rows, columns) > 1 else "s" if rows == columns else "v" if columns == 1 else None
        yield from (_with(law, part, x) for x in fresh if _kind(x) == kind)
    for special in used - {*MATRICES}:
        yield from (_with(law, special, x) for x in fresh if LEAVES.index(_kind(x)) < LEAVES.index(_kind(special)))


def _kind(leaf: str) -> str:
    return "A" if leaf in MATRICES else "v" if leaf in COLUMNS else leaf


def _with(law: Law, part: Term, name: str) -> Law:
    return Law(_without(law.left, part, name), _without(law.right, part, name))


def _parts(t: Term) -> Iterator[Term]:
    """Proper terms inside t."""
    if not isinstance(t, str):
        yield t
        for x in t[1:]:
            yield from _parts(x)


def _without(t: Term, part: Term, name: str) -> Term:
    if t == part:
        return name
    return t if isinstance(t, str) else (t[0], *(_without(x, part, name) for x in t[1:]))


def _same_form(law: Law, rules: Rules) -> bool:
    return rules.normal(law.left) == rules.normal(law.right)


def _chain(law: Law, rules: Rules) -> bool:
    """Whether the terms within reach of either side meet."""
    most = law.size[0] + 1
    return not _near(law.left, rules, most).isdisjoint(_near(law.right, rules, most))


def _near(t: Term, rules: Rules, most: int) -> set[Term]:
    found: dict[Term, None] = {sorted_sides(t): None}
    queue = list(found)
    while queue and len(found) < REACH:
        for other in rules.steps(queue.pop(0), rules.both_ways):
            other = sorted_sides(other)
            if other not in found and size(other) <= most and len(found) < REACH:
                found[other] = None
                queue.append(other)
    return set(found)


# Other shapes ----------------------------------------------------------------------------------------------------


def holds(law: Law, first: int = 2) -> bool:
    """Whether a law holds exactly for larger square matrices too, and for others that fit; seeds from `first` on."""
    if not _equal(law, leaf_shapes(4), first):
        return False
    used = [x for x in LEAVES if x in {*leaves(law.left), *leaves(law.right)}]
    fitting = (s for s in _oblong(used) if shape_of(law.left, s) == shape_of(law.right, s) is not None)
    return all(_equal(law, s, i) for i, s in enumerate(islice(fitting, 3), first + 1))


def _oblong(used: list[str]) -> Iterator[dict[str, MatrixShape]]:
    """Shapes of leaves with lengths of 2, 4 and 6, where not all are equal."""
    columns = [(2, 1), (4, 1)]
    choices = {"s": [(1, 1)], "v": columns, "w": columns, "ones": columns}
    of_matrices = [(2, 4), (4, 2), (4, 6), (6, 4), (2, 6), (6, 2), (2, 2), (4, 4)]
    for shapes in product(*(choices.get(x, of_matrices) for x in used)):
        if any(r != c > 1 for r, c in shapes):
            yield dict(zip(used, shapes, strict=True))


def _equal(law: Law, shapes: Mapping[str, MatrixShape], seed: int) -> bool:
    if shape_of(law.left, shapes) is None or shape_of(law.left, shapes) != shape_of(law.right, shapes):
        return False
    field = Field(seed)
    values = {x: _leaf(x, shape, field) for x, shape in shapes.items()}
    return _value(law.left, values, field).same(_value(law.right, values, field))


def _leaf(name: str, shape: MatrixShape, field: Field) -> Residues:
    """A random matrix; many points at once, as Relu's laws may hold at half of them by chance."""
    shape_ = (24, *shape)
    if name == "ones":
        return ones(shape_)
    x = field.input(Tensor(name, "float32", shape_))
    assert isinstance(x, Residues)
    return x


def _value(t: Term, values: Mapping[str, Residues], field: Field) -> Residues:
    if isinstance(t, str):
        return values[t]
    parts = [_value(x, values, field) for x in t[1:]]
    inputs = tuple(Tensor(f"x{i}", "float32", x.shape) for i, x in enumerate(parts))
    result = field.evaluate(OPERATORS[t[0]].on(inputs, "y"), parts)
    assert isinstance(result, Residues)
    return result
