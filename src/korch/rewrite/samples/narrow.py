"""Products of few rows with weights that are folded of narrow constants."""

from __future__ import annotations

from random import Random

import numpy as np

from korch.ir.builder import Builder
from korch.ir.constants import SMALL
from korch.ir.graph import Graph
from korch.rewrite.evidence.table import sample
from korch.rewrite.narrow import narrow_weights
from korch.rewrite.samples.drawing import graph

LONG = 64
"""Steps of a product here; it has enough columns for codes that are not unpacked at once."""


@sample(narrow_weights, beyond="bytes are integers, and folded weights are rounded")
def packed_product(draw: Random) -> Graph:
    b = Builder()
    rng = np.random.default_rng(draw.randrange(1 << 16))
    columns, block = SMALL // LONG + draw.randint(0, 9), draw.choice((16, 32))
    packed = b.constant(rng.integers(0, 256, (columns, LONG // block, block // 2)).astype(np.uint8))
    steps = b.constant(rng.integers(1, 32, (columns, LONG // block, 1)).astype(np.float32) / 256)
    wide = b.op("Cast", b.op("Unpack", packed, bits=4, signed=draw.randint(0, 1)), to="float32")
    w = b.op("Reshape", (wide - draw.choice((0.0, 8.0))) * steps, shape=(columns, LONG))
    x = b.input("x", "float32", (draw.randint(1, 4), LONG))
    return graph(b, x @ b.op("Transpose", w, perm=(1, 0)))
