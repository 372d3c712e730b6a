"""Which cases of a test are left to continuous integration."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

T = TypeVar("T")
SLOW = pytest.mark.slow


def slow_but(values: Iterable[Any], fast: Collection[Any]) -> list[Any]:
    """The values as parameters of a test: all are slow but the `fast` ones."""
    return [v if v in fast else pytest.param(v, marks=SLOW) for v in values]


def slow_but_every(step: int, values: Iterable[Any]) -> list[Any]:
    """The values as parameters of a test: all are slow but the first of each `step`."""
    return [pytest.param(v, marks=SLOW) if i % step else v for i, v in enumerate(values)]


@dataclass(frozen=True)
class Part:
    """Which of its cases a test takes at once: the first of each `step`, or the others."""

    step: int
    others: bool

    def __call__(self, cases: Sequence[T]) -> list[T]:
        return [c for i, c in enumerate(cases) if bool(i % self.step) == self.others]

    def named(self, cases: Mapping[str, T]) -> dict[str, T]:
        return dict(self(list(cases.items())))

    def __str__(self) -> str:
        return "others" if self.others else f"1 of {self.step}"


def parts(step: int) -> list[Any]:
    """Parameters of a test that takes its cases together: the first of each `step`, and slow, the others."""
    return [Part(step, False), pytest.param(Part(step, True), marks=SLOW)]
