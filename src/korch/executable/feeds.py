"""Seeded inputs for programs: what timing and verification run on."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from korch.ir.ops.table import Array
from korch.ir.tensor import Tensor


def random_feeds(inputs: Iterable[Tensor], seed: int = 0) -> dict[str, Array]:
    """One array an input: floats from N(0, 1), booleans at even odds, integers 0 or 1 (legal as indices too)."""
    rng = np.random.default_rng(seed)
    return {t.name: _array(t, rng) for t in inputs}


def _array(t: Tensor, rng: np.random.Generator) -> Array:
    if np.dtype(t.dtype).kind == "f":
        return rng.standard_normal(t.shape, dtype=np.float32).astype(t.dtype)
    return rng.integers(0, 2, t.shape).astype(t.dtype)
