"""Limits of a model from a stranger: beyond them it is refused before anything is allocated."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache

from korch.errors import ModelError

NODES = 100_000
"""Nodes of a model after its functions are inlined. Functions call functions, so a kilobyte may say 2^40 nodes; the
largest exports of language models have some 30,000."""
INLINED_BYTES = (1 << 31) - 1
"""Bytes of a model after its functions are inlined: as many as a protobuf may have."""
FOLDED_BYTES = 1 << 30
"""Bytes of all constants that fission computes, besides `FOLDED_TIMES` those that the model holds: masks and positions
of any sequence, but no memory full of them."""
FOLDED_TIMES = 8
"""How many times its own constants fission may compute from them: dequantized from four bits to float32, once."""
REGION_READS = 16
"""How many times a model may read the bytes of an external file, on average: tied weights are read twice."""


@dataclass
class Allowance:
    """What fission may still allocate. `given`: bytes of the constants that the model holds; `computed`: bytes of those
    that were computed from them."""

    given: int = 0
    computed: int = 0

    def compute(self, nbytes: int, title: str) -> None:
        """Counts a constant that the node `title` computes; ModelError where it is too much."""
        most = FOLDED_BYTES + FOLDED_TIMES * self.given
        if self.computed + nbytes > most:
            raise ModelError(
                f"{title} computes a constant of {text_of(nbytes)}, besides {text_of(self.computed)} of others; "
                f"all of them may have {text_of(most)}: make it smaller, or an input of the model"
            )
        self.computed += nbytes


def check_tensor(nbytes: int, title: str) -> None:
    """ModelError where a tensor of `title`, an input or a node, is larger than the machine can compute with."""
    if nbytes > tensor_bytes():
        raise ModelError(
            f"{title} has a tensor of {text_of(nbytes)}; the most here are {text_of(tensor_bytes())}, a quarter of the "
            "machine's memory: give it smaller shapes"
        )


@cache
def tensor_bytes() -> int:
    """Bytes of one computed tensor: a quarter of the machine's memory, as the search also holds its reference in
    float64, which is twice as large, and the output that is compared with it."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4


def text_of(nbytes: int) -> str:
    """Bytes in the unit that suits them.

    >>> text_of(3 << 30), text_of(1 << 62)
    ('3.0 GiB', '4194304.0 TiB')
    """
    for power, unit in ((10, "KiB"), (20, "MiB"), (30, "GiB")):
        if nbytes < 1 << (power + 10):
            return f"{nbytes / (1 << power):.1f} {unit}"
    return f"{nbytes / (1 << 40):.1f} TiB"
