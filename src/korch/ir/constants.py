"""The values of constants by name; what rewrites derive from them is computed when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping
from functools import cache
from typing import TYPE_CHECKING

from korch.ir.ops.table import Array

if TYPE_CHECKING:
    from korch.ir.primitive import Primitive

Given = Mapping[str, "Array | Derived"]


class Derived:
    """A value that few plans need: computed once, by whoever asks first."""

    def __init__(self, compute: Callable[[], Array]) -> None:
        self.compute = compute
        self.value = cache(compute)

    def passing(self) -> Array:
        """The value, which is not kept."""
        return self.value() if self.value.cache_info().currsize else self.compute()


class Folded(Derived):
    """The output of `primitive`, whose inputs are the constants `operands`: folded when it is asked for.

    The value takes several times the memory of the constants that it is computed from, its `sources`, so a rewrite may
    offer to compute it where it is read.
    """

    def __init__(
        self, primitive: Primitive, operands: tuple[Array | Derived, ...], compute: Callable[[], Array], sources: int
    ) -> None:
        super().__init__(compute)
        self.primitive, self.operands, self.sources = primitive, operands, sources


GROWS = 1.5
"""How many times as large as its sources a constant must be to stay a `Folded` one."""
SMALL = 1 << 14
"""Bytes of a constant that is folded at once."""


def source_bytes(entry: Array | Derived) -> int:
    """Bytes of the constants that an entry is computed from, its own where it is a plain one."""
    if isinstance(entry, Folded):
        return entry.sources
    return entry.value().nbytes if isinstance(entry, Derived) else entry.nbytes


class Constants(MutableMapping[str, Array]):
    """Arrays by name, derived ones among them."""

    def __init__(self, *parts: Given) -> None:
        self._entries: dict[str, Array | Derived] = {}
        for part in parts:
            self._entries.update(part._entries if isinstance(part, Constants) else part)

    def __getitem__(self, name: str) -> Array:
        entry = self._entries[name]
        return entry.value() if isinstance(entry, Derived) else entry

    def __setitem__(self, name: str, value: Array | Derived) -> None:
        self._entries[name] = value

    def __delitem__(self, name: str) -> None:
        del self._entries[name]

    def entry(self, name: str) -> Array | Derived:
        """The array, or the way to it."""
        return self._entries[name]

    def only(self, names: Collection[str]) -> Constants:
        """Those of these names."""
        return Constants({n: entry for n, entry in self._entries.items() if n in names})

    def passing(self, name: str) -> Array:
        """The value, which is not kept if nobody has asked for it to stay."""
        entry = self._entries[name]
        return entry.passing() if isinstance(entry, Derived) else entry

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
