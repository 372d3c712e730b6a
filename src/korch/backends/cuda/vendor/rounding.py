"""Factors rounded to half precision, as little of them as there is."""

from __future__ import annotations

from typing import Any

from korch.backends.precision import HALVES


def half(torch: Any, precision: str) -> Any:
    """The dtype that factors are rounded to; None where they stay float32."""
    return getattr(torch, HALVES[precision]) if precision in HALVES else None


def rounded(x: Any, dtype: Any) -> Any:
    """`x` in `dtype`; what is repeated along an axis is rounded once."""
    if x.dtype == dtype:
        return x
    once = x
    for axis in range(x.dim()):
        if x.stride(axis) == 0 and x.size(axis) > 1:
            once = once.narrow(axis, 0, 1)
    return once.to(dtype).expand(x.shape)


def rounded_mask(torch: Any, mask: Any, dtype: Any) -> Any:
    """An additive mask in `dtype`: what is far below zero stays finite, or rows of nothing else would be no numbers."""
    limits = torch.finfo(dtype)
    return rounded(mask.clamp(limits.min, limits.max), dtype)
