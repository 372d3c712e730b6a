"""Which cases of a test are left to continuous integration."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest

SLOW = pytest.mark.slow


def slow_but(values: Iterable[Any], fast: Collection[Any]) -> list[Any]:
    """The values as parameters of a test: all are slow but the `fast` ones."""
    return [v if v in fast else pytest.param(v, marks=SLOW) for v in values]
