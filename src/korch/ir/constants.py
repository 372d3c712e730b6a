"""The values of constants by name; what rewrites derive from them is computed when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache

from korch.ir.ops.table import Array

Given = Mapping[str, "Array | Derived"]


class Derived:
    """A value that few plans need: computed once, by whoever asks first."""

    def __init__(self, compute: Callable[[], Array]) -> None:
        self.value = cache(compute)


class Constants(Mapping[str, Array]):
    """Arrays by name, derived ones among them."""

    def __init__(self, *parts: Given) -> None:
        self._entries: dict[str, Array | Derived] = {}
        for part in parts:
            self._entries.update(part._entries if isinstance(part, Constants) else part)

    def __getitem__(self, name: str) -> Array:
        entry = self._entries[name]
        return entry.value() if isinstance(entry, Derived) else entry

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
