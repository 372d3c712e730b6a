"""How many examples properties have that take seconds."""

from __future__ import annotations

import os


def examples(most: int) -> int:
    """All of `most` where ALL_EXAMPLES is set, as in `.ci/run`; else a quarter, as in `./test`."""
    return most if os.environ.get("ALL_EXAMPLES") else max(most // 4, 2)
