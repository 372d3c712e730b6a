"""Whose fault a failure is: for lack of memory, disk or processes a kernel fails today and works tomorrow."""

from __future__ import annotations

import re

from korch.errors import line_of
from korch.profile.results import Failed

_SURROUNDINGS = re.compile(
    r"out of memory|(?:cannot|unable to|failed to|could not) allocate|bad_alloc|alloc_failed|"
    r"MemoryError",
    re.IGNORECASE,
)
"""What libraries, compilers and drivers say where memory is short; that registers cannot be allocated is different."""


def failure_of(e: BaseException) -> Failed:
    """Why a kernel has no cost; to be remembered only where that is its own fault."""
    passing = isinstance(e.__cause__ or e, MemoryError | OSError) or _SURROUNDINGS.search(f"{type(e).__name__} {e}")
    return Failed(line_of(e), lasting=not passing)
