"""The errors that numerics allow by themselves: names and numbers."""

from __future__ import annotations

BOUNDS = {"default": 1e-4, "fast": 1e-3, "relaxed": 1e-2}
"""Of the largest magnitude, by numerics that have a name. `relaxed` is about what others do where they are not told."""
CEILING = 0.1
"""Of the largest magnitude: a bound above it would pass anything."""


def own_bound(numerics: str) -> float | None:
    """What `numerics`, a name or a number, allow whatever onnxruntime errs; None for `strict`, which is measured by
    that alone. ValueError for other texts."""
    return None if numerics == "strict" else BOUNDS.get(numerics) or float(numerics)
