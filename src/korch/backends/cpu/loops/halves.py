"""Products and convolutions of float32 whose factors are rounded to bfloat16 on the way; the sums are float32."""

from __future__ import annotations

from korch.backends.cpu.c import Code
from korch.backends.cpu.loops import epilogue, lanes
from korch.backends.cpu.loops.dots import Lane
from korch.ir.cone import Cone
from korch.ir.macs import multiply_adds

FEWEST = 1 << 18
"""Multiply-adds of a kernel worth another one: rounding rows takes about as long for less."""


def takes(cone: Cone) -> bool:
    """Whether the cone is a product or convolution of float32 that lanes compute."""
    p, *rest = cone.primitives
    if not (p.spec.is_product or p.spec.is_convolution) or p.output.dtype != "float32":
        return False
    return multiply_adds(p) >= FEWEST and not epilogue.refusal(p, rest) and not lanes.refusal(cone)


def generate(cone: Cone, threads: int) -> Code:
    """The C of a cone that is taken, for a team of `threads`."""
    return lanes.code_of(cone, threads, Lane.HALVES)
