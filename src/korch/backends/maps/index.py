"""Integer index expressions over loop variables: affine sums, with floor division, remainder, tables, clamps and what
is read from tensors of indices.

The ranges of the variables are known, so most divisions that reshapes bring in simplify away.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd


@dataclass(frozen=True, slots=True)
class Var:
    """A loop variable with its range [lo, hi)."""

    name: str
    lo: int
    hi: int

    @property
    def extent(self) -> int:
        return self.hi - self.lo


@dataclass(frozen=True, slots=True)
class Div:
    """floor(of / by)."""

    of: Index
    by: int


@dataclass(frozen=True, slots=True)
class Mod:
    """of - by * floor(of / by)."""

    of: Index
    by: int


@dataclass(frozen=True, slots=True)
class Lookup:
    """table[of * stride + offset]: constant positions (Gather, Interpolate)."""

    table: tuple[int, ...]
    of: Index
    stride: int = 1
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Clamp:
    """`of` forced into [lo, hi]: keeps a load legal whose value is not used outside; at an `edge` it is used."""

    of: Index
    lo: int
    hi: int
    edge: bool = False


@dataclass(frozen=True, slots=True)
class Fetched:
    """The variable `name` of one loop body: a position below `length` that the data say, read at `of`."""

    name: str
    of: Index
    length: int


Atom = Var | Div | Mod | Lookup | Clamp | Fetched


@dataclass(frozen=True, slots=True)
class Index:
    """const + sum of coefficient * atom."""

    const: int = 0
    terms: tuple[tuple[Atom, int], ...] = ()

    @staticmethod
    def of(atom: Atom | int) -> Index:
        return Index(atom) if isinstance(atom, int) else Index(0, ((atom, 1),))

    def __add__(self, other: Index | int) -> Index:
        if isinstance(other, int):
            return Index(self.const + other, self.terms)
        sums = dict(self.terms)
        for atom, k in other.terms:
            sums[atom] = sums.get(atom, 0) + k
        return _rejoined(Index(self.const + other.const, tuple((a, k) for a, k in sums.items() if k)))

    def __mul__(self, k: int) -> Index:
        return Index(self.const * k, tuple((a, c * k) for a, c in self.terms) if k else ())

    def __sub__(self, other: Index | int) -> Index:
        return self + (other * -1 if isinstance(other, Index) else -other)

    def __floordiv__(self, d: int) -> Index:
        if d == 1:
            return self
        quotient, rest = self._split(d)
        lo, hi = rest.range()
        if lo // d == hi // d:
            return quotient + lo // d
        if coarse := rest._coarse(d):
            high, g, _ = coarse
            return quotient + high // (d // g)
        match rest:
            case Index(0, ((Div(of, by), 1),)):
                return quotient + of // (by * d)
            case _:
                return quotient + Index.of(Div(rest, d))

    def __mod__(self, d: int) -> Index:
        _, rest = self._split(d)
        lo, hi = rest.range()
        if lo // d == hi // d:
            return rest - lo // d * d
        if coarse := rest._coarse(d):
            high, g, low = coarse
            return high % (d // g) * g + low
        return Index.of(Mod(rest, d))

    def _split(self, d: int) -> tuple[Index, Index]:
        """(q, r) with self = q * d + r, the divisible terms in q."""
        even = tuple((a, k // d) for a, k in self.terms if k % d == 0)
        odd = tuple((a, k) for a, k in self.terms if k % d)
        return Index(self.const // d, even), Index(self.const % d, odd)

    def _coarse(self, d: int) -> tuple[Index, int, Index] | None:
        """(high, g, low) with self = high * g + low, 0 <= low < g and d a multiple of g, the largest such g."""
        for g in sorted({gcd(k, d) for _, k in self.terms} - {1, d}, reverse=True):
            low = Index(self.const % g, tuple((a, k) for a, k in self.terms if k % g))
            lo, hi = low.range()
            if lo >= 0 and hi < g:
                return Index(self.const // g, tuple((a, k // g) for a, k in self.terms if k % g == 0)), g, low
        return None

    def range(self) -> tuple[int, int]:
        """Least and greatest value, both inclusive."""
        lo = hi = self.const
        for atom, k in self.terms:
            a, b = _range(atom)
            lo, hi = lo + min(a * k, b * k), hi + max(a * k, b * k)
        return lo, hi

    def vars(self) -> frozenset[Var]:
        return frozenset(v for atom, _ in self.terms for v in _vars(atom))

    def atoms(self) -> Iterator[Atom]:
        """All atoms, nested ones too."""
        for atom, _ in self.terms:
            yield atom
            if not isinstance(atom, Var):
                yield from atom.of.atoms()

    def names(self) -> Iterator[str]:
        """The variables in its text."""
        for atom, _ in self.terms:
            if isinstance(atom, Var | Fetched):
                yield atom.name
            else:
                yield from atom.of.names()

    def coefficient(self, v: Var) -> int | None:
        """The coefficient of `v`; None if v also hides inside another atom."""
        if any(not isinstance(a, Var) and v in _vars(a) for a, _ in self.terms):
            return None
        return dict(self.terms).get(v, 0)

    @property
    def affine(self) -> bool:
        return all(isinstance(a, Var) for a, _ in self.terms)

    @property
    def fetched(self) -> bool:
        """Whether the data decide: known only in the loop body that has read them."""
        return any(isinstance(a, Fetched) for a in self.atoms())


def _range(atom: Atom) -> tuple[int, int]:
    match atom:
        case Var(_, lo, hi):
            return lo, max(hi - 1, lo)
        case Div(of, by):
            lo, hi = of.range()
            return lo // by, hi // by
        case Mod(_, by):
            return 0, by - 1
        case Lookup(table):
            return min(table), max(table)
        case Clamp(_, lo, hi):
            return lo, hi
        case Fetched(_, _, length):
            return 0, length - 1


def _vars(atom: Atom) -> frozenset[Var]:
    return frozenset((atom,)) if isinstance(atom, Var) else atom.of.vars()


def _rejoined(e: Index) -> Index:
    """k*d * (x // d) + k * (x % d) = k * x, and k*d * (x // d % m) + k * (x % d) = k * (x % (d*m))."""
    for low, k in e.terms:
        if isinstance(low, Mod):
            for high, c in e.terms:
                if c == k * low.by and (whole := _whole(high, low)):
                    rest = Index(e.const, tuple((a, n) for a, n in e.terms if a not in (low, high)))
                    return rest + whole * k
    return e


def _whole(high: Atom, low: Mod) -> Index | None:
    """What `high` is the quotient, and `low` the remainder of."""
    div = Div(low.of, low.by)
    if high == div:
        return low.of
    match high:
        case Mod(Index(0, ((atom, 1),)), m) if atom == div:
            return low.of % (low.by * m)
        case _:
            return None


def flat(indices: tuple[Index, ...], shape: tuple[int, ...]) -> Index:
    """The row-major position of `indices` in an array of `shape`."""
    total, stride = Index(), 1
    for i, n in zip(reversed(indices), reversed(shape), strict=True):
        total = total + i * stride
        stride *= n
    return total


def unflat(position: Index, shape: tuple[int, ...]) -> tuple[Index, ...]:
    """The indices of a row-major `position`; axes of length 1 are 0."""
    result: list[Index] = []
    for axis, n in enumerate(reversed(shape)):
        last = axis == len(shape) - 1
        result.append(Index() if n == 1 else position if last else position % n)
        position = position // n
    return tuple(reversed(result))
