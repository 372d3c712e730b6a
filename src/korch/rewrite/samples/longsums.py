"""Products whose sums are long: keys and values of linear attention, a Gram matrix."""

from __future__ import annotations

from random import Random

from korch.ir.builder import Builder
from korch.ir.graph import Graph
from korch.rewrite.evidence.table import sample
from korch.rewrite.longsums import LONG, long_sums_in_pieces
from korch.rewrite.samples.drawing import graph


@sample(long_sums_in_pieces)
def keys_and_values(draw: Random) -> Graph:
    """Columns that fill no vectors behind rows that do, in a batch; and a few rows of one matrix."""
    b = Builder()
    steps, heads = LONG * draw.randint(1, 2), draw.randint(1, 2)
    k = b.input("k", "float32", (1, heads, 16, steps))
    v = b.input("v", "float32", (1, heads, steps, draw.randint(1, 5)))
    x = b.input("x", "float32", (draw.randint(1, 4), steps))
    return graph(b, k @ v, x @ b.op("Transpose", x, perm=(1, 0)))
