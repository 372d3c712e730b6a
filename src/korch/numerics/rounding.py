"""Factors of products as tensor cores take them: float32 rounded to fewer bits."""

from __future__ import annotations

import numpy as np

from korch.ir.ops.table import Array

DROPPED = {"bf16x3": 8, "tf32": 13, "bf16": 16}
"""Of the 23 bits behind a float32's point, those that are lost."""


EPSILONS = {"bf16x3": 2.0**-15, "tf32": 2.0**-10, "fp16": 2.0**-10, "bf16": 2.0**-7}
"""The distance of neighbouring values beside 1."""


def rounded(x: Array, precision: str) -> Array:
    """`x` in float32, its values rounded to `tf32`, `bf16`, `fp16` or two parts of `bf16x3`; as they are for other
    precisions."""
    if x.dtype.kind != "f":
        return x
    if precision == "fp16":
        with np.errstate(over="ignore"):
            return x.astype(np.float16).astype(np.float32)
    if precision not in DROPPED:
        return x
    lost = DROPPED[precision]
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    near = (bits + np.uint32(1 << (lost - 1))) & np.uint32(0xFFFFFFFF << lost & 0xFFFFFFFF)
    return np.where(np.isfinite(x), near.view(np.float32), x.astype(np.float32)).reshape(x.shape)
