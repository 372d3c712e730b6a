"""Triton inside of a loop: what does not change from turn to turn is computed once, before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from korch.backends.cuda.triton.language import TritonLanguage
from korch.backends.cuda.triton.names import names_in
from korch.backends.maps.index import Atom, Clamp, Index, Var
from korch.backends.maps.trace import ReadStage, Requests, Trace
from korch.ir.cone import Cone
from korch.ir.tensor import Tensor


@dataclass
class Looped(TritonLanguage):
    """`changing`: names of what each turn computes anew. Parts of indices without these get names in `before`."""

    changing: frozenset[str] = frozenset()
    before: dict[Index, str] = field(default_factory=dict[Index, str])

    def index(self, e: Index) -> str:
        still = Index(e.const, tuple(term for term in e.terms if not self._changes(term[0])))
        moving = Index(0, tuple(term for term in e.terms if self._changes(term[0])))
        if not moving.terms:
            return self._named(still)
        if not still.terms:
            return super().index(e)
        return f"{self._named(still)} + {super().index(moving)}".replace("+ -", "- ")

    def _named(self, e: Index) -> str:
        """The name of an index that does not change, which may be its text."""
        text = super().index(e)
        if len(e.terms) <= 1 and (not e.terms or (isinstance(e.terms[0][0], Var) and text.isidentifier())):
            return text
        return self.before.setdefault(e, f"i{len(self.before)}")

    def entry(self, table: tuple[float, ...], at: Index) -> str:
        """Positions beyond the table are forced into it: what they would mask may not be known before the loop."""
        return super().entry(table, Index.of(Clamp(at, 0, len(table) - 1, edge=True)))

    def statements(self) -> list[str]:
        """What must stand before the loop."""
        return [f"{name} = {super(Looped, self).index(e)}" for e, name in self.before.items()]

    def _changes(self, atom: Atom) -> bool:
        return any(v.name in self.changing for v in Index(0, ((atom, 1),)).vars())


class Named(Trace):
    """A trace of what a cone computes, whose variables begin with a letter of their own."""

    def __init__(self, letter: str, cone: Cone, stored: Mapping[Tensor, ReadStage], language: TritonLanguage) -> None:
        arrays = {t: f"in{i}" for i, t in enumerate(cone.leaves)}
        super().__init__(cone.makers, arrays, stored, Requests(), language, letter)


def parted(lines: Iterable[str], changing: Iterable[str]) -> tuple[list[str], list[str]]:
    """The statements `name = expression` that no turn changes, and the others."""
    moving, still, turn = set(changing), list[str](), list[str]()
    for line in lines:
        name, _, expression = line.partition(" = ")
        if moving.isdisjoint(names_in(expression)):
            still.append(line)
        else:
            moving.add(name)
            turn.append(line)
    return still, turn
