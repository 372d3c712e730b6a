"""What the factors of a matrix product may be rounded to; the sums are float32."""

from __future__ import annotations

PRECISIONS = {"strict": ("ieee",), "default": ("ieee", "tf32x3", "tf32"), "fast": ("tf32x3", "tf32", "fp16", "bf16")}
"""By numerics. Where less is allowed than is asked for, the search bans what errs too much."""


def allowed(numerics: str) -> tuple[str, ...]:
    """The precisions that `numerics` allow, the most exact first."""
    return PRECISIONS[numerics]


def fastest(precision: str) -> str:
    """The rate of a `Machine` that bounds products in this precision: three of TF32 make one of `tf32x3`."""
    return "tf32" if precision == "tf32x3" else precision


HALVES = {"fp16": "float16", "bf16": "bfloat16"}
"""The dtypes of factors of 16 bits."""
ROUNDED = ("tf32", *HALVES)
"""Precisions that cost error beside float32."""


def precision_of(variant: str) -> str:
    """The precision that a kernel's `variant` begins with; empty where it names none."""
    first = variant.split(" ", 1)[0]
    return first if any(first in names for names in PRECISIONS.values()) else ""
