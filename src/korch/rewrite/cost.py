"""What a primitive costs, roughly: enough to tell which algebra may pay before anything is measured.

The unit is a multiply-add at peak. Kernels hold elementwise primitives and views beside what makes or reads them,
so those move no bytes of their own, but for operands that come from the side.
"""

from __future__ import annotations

from korch.ir.macs import multiply_adds
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive

PER_BYTE = 10
"""Multiply-adds at peak in the time in which memory moves a byte, of the order of today's processors."""


def estimate(p: Primitive) -> int:
    """Multiply-adds of `p`, and those that fit into the time in which its bytes move; never nothing."""
    return 1 + multiply_adds(p) + PER_BYTE * _traffic(p)


def _traffic(p: Primitive) -> int:
    """Bytes that a kernel around `p` has to move because of it."""
    reads = sorted(t.nbytes for t in p.inputs if not t.const)
    if p.spec.is_view:
        return 0
    if p.category is Category.ELEMENTWISE:
        return sum(reads[:-1])
    return sum(reads) if p.category is Category.REDUCE else sum(reads) + p.output.nbytes
