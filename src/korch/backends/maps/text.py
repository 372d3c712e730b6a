"""Texts of indices and conditions, as far as languages agree: C and Triton divide toward zero alike."""

from __future__ import annotations

from abc import ABC, abstractmethod

from korch.backends.maps.index import Atom, Clamp, Div, Fetched, Index, Lookup, Mod, Var


class IndexText(ABC):
    """Spells indices; a language says how it divides, clamps and looks up."""

    divide = "/"

    @abstractmethod
    def clamp(self, text: str, lo: int, hi: int) -> str:
        """The index `text` forced into lo..hi."""

    @abstractmethod
    def entry(self, table: tuple[float, ...], at: Index) -> str:
        """The entry `at` of a constant table."""

    def index(self, e: Index) -> str:
        """`i0 * 64 + i1 + 3`."""
        parts = [self._term(atom, k) for atom, k in e.terms]
        if e.const or not parts:
            parts.append(str(e.const))
        return " + ".join(parts).replace("+ -", "- ")

    def below(self, e: Index, bound: int) -> str:
        """Whether e < bound."""
        return f"({self.index(e)}) < {bound}"

    def reaches(self, e: Index, bound: int) -> str:
        """Whether e >= bound."""
        return f"({self.index(e)}) >= {bound}"

    def _term(self, atom: Atom, k: int) -> str:
        text = self._atom(atom)
        return text if k == 1 else f"{text} * {k}" if k > 0 else f"-{text} * {-k}"

    def _atom(self, atom: Atom) -> str:
        match atom:
            case Var(name) | Fetched(name):
                return name
            case Div(of, by):
                return self._quotient(of, by)
            case Mod(of, by):
                return f"(({self.index(of + _shift(of, by) * by)}) % {by})"
            case Lookup(table, of, stride, offset):
                return self.entry(table, of * stride + offset)
            case Clamp(of, lo, hi):
                return self.clamp(self.index(of), lo, hi)

    def _quotient(self, of: Index, by: int) -> str:
        shift = _shift(of, by)
        text = f"({self.index(of + shift * by)}) {self.divide} {by}"
        return f"({text} - {shift})" if shift else f"({text})"


def _shift(of: Index, by: int) -> int:
    """How many times `by` must be added before a division toward zero rounds down."""
    lo, _ = of.range()
    return -(lo // by) if lo < 0 else 0
