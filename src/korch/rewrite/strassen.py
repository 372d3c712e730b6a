"""Strassen's algorithm as a choice: products with constant weights by seven half as large instead of eight.

One level, in Winograd's form (`ir/ops/strassen.py`): an eighth of the multiply-adds goes, 15 sums of blocks come, of
which the 4 of the weights are made once. 1x1 convolutions of channels-last images are such products too.

The sums cancel, so the result errs about twice as much as the product as written (256 to 1024 channels, normal data).
Hence `approximate`, and no choice under strict numerics.
"""

from __future__ import annotations

from math import prod

from korch.ir.graph import Graph
from korch.ir.ops.strassen import BLOCKS, PRODUCTS, weights
from korch.ir.ops.table import Array
from korch.ir.ops.windows import is_still
from korch.ir.primitive import APPROXIMATE, Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.table import rewrite
from korch.rewrite.transformed import Transformed

LEAST_ROWS = 64
"""Of fewer a product reads each of its weights for less than 32 rows, and waits for them."""
WHOLE = 32
"""What the channels of input and output are multiples of: halves are whole vectors."""
MOVED = 4
"""Multiply-adds that a number costs which the sums read through a cache."""
PAYS = 5
"""How many times what the sums cost must be saved. (Two threads of Zen 4, the product as written 1: 0.92 for 128 rows
and 768 x 3072, 0.87 to 0.92 for 1024 and 1024 x 1024, about 1 for 256 x 256 or 768 x 192 even with all in a cache.)"""


@rewrite(stage=2, error=APPROXIMATE)
def strassen(graph: Graph) -> Graph:
    """`graph` with one more way for every product with constant weights that is large enough."""
    build = _Strassen(graph, "strassen")
    for p in graph.primitives:
        if _takes(p) and _pays(p):
            build.chain(p)
    return build.result


def _takes(p: Primitive) -> bool:
    """Whether `p` is a product of rows with one constant matrix."""
    if not p.spec.contracts or p.output.dtype != "float32":
        return False
    x, w = p.inputs
    if x.const or not w.const:
        return False
    if p.spec.is_product:
        return w.rank == 2
    return p.output.rank == 4 and bool(p.attr("channels_last")) and p.attr("group") == 1 and is_still(p)


def _pays(p: Primitive) -> bool:
    """Whether rows come in pairs, enough of them, and what a row saves is worth its sums: they read its c numbers, and
    7 / 4 for each of its k results."""
    (*lead, c), k = p.inputs[0].shape, p.output.shape[-1]
    rows = prod(lead)
    if rows < LEAST_ROWS or rows % 2 or c % WHOLE or k % WHOLE:
        return False
    return c * k / 8 >= PAYS * MOVED * (c + PRODUCTS / BLOCKS * k)


class _Strassen(Transformed):
    def chain(self, p: Primitive) -> None:
        """Adds the chain that ends in p's output; products of one tensor share its sums."""
        s = self.operand(p, "StrassenInput", p.inputs[0], f"{p.inputs[0].name}_strassen")
        m = self.product(p, s, self._weights(p), "strassen")
        self.add(p, "StrassenOutput", (m,), p.output, shape=p.output.shape)

    def _weights(self, p: Primitive) -> Tensor:
        w, (c, k) = p.inputs[1], (p.inputs[0].shape[-1], p.output.shape[-1])
        return self.constant(w, "strassen", (PRODUCTS, c // 2, k // 2), lambda v: weights(_matrix(v)))


def _matrix(w: Array) -> Array:
    """[C, K] of a product's weights, or of a convolution's [K, C, 1, 1]."""
    return w if w.ndim == 2 else w.reshape(w.shape[:2]).T
