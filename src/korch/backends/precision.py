"""What the factors of a matrix product may be rounded to; the sums are float32."""

from __future__ import annotations

from collections.abc import Iterable

from korch.machine import Machine
from korch.numerics.bounds import BOUNDS, own_bound

STRICT, USUAL, LOOSE = ("ieee",), ("ieee", "tf32x3", "bf16x3", "tf32"), ("bf16x3", "tf32", "fp16")
"""For numerics without a bound of their own, with one below that of `fast`, and with a looser one.

`tf32x3` and `bf16x3` are three products of factors in two parts, of 21 and of 16 bits. Where a program
errs too much with what is allowed, the search exchanges or bans what errs most. (BF16 alone errs eight times as much as
FP16 and is no faster: of `candy` no plan that held any kept to `fast`.)"""


def allowed(numerics: str) -> tuple[str, ...]:
    """The precisions that `numerics` allow, the most exact first."""
    bound = own_bound(numerics)
    return STRICT if bound is None else LOOSE if bound >= BOUNDS["fast"] else USUAL


def processor_allowed(numerics: str) -> tuple[str, ...]:
    """The precisions beside float32 that `numerics` allow on processors. The search takes back what errs too much."""
    bound = own_bound(numerics)
    return ("bf16",) if bound is not None and bound >= BOUNDS["fast"] else ()


FASTER = {"bf16": 2.0}
"""Products by a processor's units in the time of one of float32, at most (`vdpbf16ps`: pairs)."""


def faster(precision: str) -> float:
    """How much less time a processor's products in this precision take than those of float32, at most."""
    return FASTER.get(precision, 1.0)


THRICE = ("tf32x3", "bf16x3")
"""Precisions that take three products for one."""


def part_of(precision: str) -> str:
    """In which precision the products are that one in this precision is made of."""
    return precision.removesuffix("x3")


def peak(machine: Machine, precisions: Iterable[str]) -> float:
    """Operations a second of the fastest of the `precisions`."""
    return max(machine.peak(part_of(p)) / (3 if p in THRICE else 1) for p in precisions)


HALVES = {"fp16": "float16", "bf16": "bfloat16"}
"""The dtypes of factors of 16 bits."""
KNOWN = ("ieee", *THRICE, "tf32", *HALVES)
"""The most exact first."""
ROUNDED = ("bf16x3", "tf32", *HALVES)
"""Precisions that cost error beside float32."""
