"""The names that Triton's text uses. It is Python, so Python's own parser says."""

from __future__ import annotations

import ast
from functools import lru_cache

REMEMBERED = 1 << 14
"""Texts whose names are kept: the tiles of a product share most of their statements."""


@lru_cache(REMEMBERED)
def names_in(text: str) -> frozenset[str]:
    """All names in an expression or in statements; those of attributes are none.

    >>> sorted(names_in("v1 = tl.load(in0 + i, mask=rows)"))
    ['i', 'in0', 'rows', 'tl', 'v1']
    """
    return frozenset(node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name))
