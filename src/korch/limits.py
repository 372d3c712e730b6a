"""Limits of a model from a stranger: beyond them it is refused before anything is allocated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from korch.errors import ModelError
from korch.system.processor import memory_bytes

NODES = 100_000
"""Nodes of a model after its functions are inlined. Functions call functions, so a kilobyte may say 2^40 nodes; the
largest exports of language models have some 30,000."""
INLINED_BYTES = (1 << 31) - 1
"""Bytes of a model after its functions are inlined: as many as a protobuf may have."""
FOLDED_BYTES = 1_000_000_000
"""Bytes of all constants that fission computes, besides `FOLDED_TIMES` those that the model holds: masks and positions
of any sequence, but no memory full of them."""
FOLDED_TIMES = 8
"""How many times its own constants fission may compute from them: dequantized from four bits to float32, once."""
REGION_READS = 16
"""How many times a model may read the bytes of an external file, on average: tied weights are read twice."""
POSITIONS = 1 << 22
"""Positions that an operator may pick of an axis: they are part of a primitive, where each takes a hundred bytes."""


class TooManyPositions(ModelError):
    """A rule would list more positions than may be picked: onnxruntime runs the node."""


def check_positions(count: int) -> None:
    """TooManyPositions where an operator picks more than `POSITIONS` of an axis."""
    if count > POSITIONS:
        raise TooManyPositions(f"it picks {count} positions of an axis, of which {POSITIONS} are listed at most")


@dataclass
class Allowance:
    """The bytes that fission may still allocate. `given`: bytes of the constants that the model holds; `computed`: of
    those that were computed from them."""

    given: int = 0
    computed: int = 0

    def compute(self, nbytes: int, title: str) -> None:
        """Counts a constant that the node `title` computes; ModelError where it is too much."""
        most = FOLDED_BYTES + FOLDED_TIMES * self.given
        if self.computed + nbytes > most:
            raise ModelError(
                f"{title} computes a constant of {size_text(nbytes)}, besides {size_text(self.computed)} of others; "
                f"all of them may have {size_text(most)}: make it smaller, or an input of the model"
            )
        self.computed += nbytes


def check_tensor(nbytes: int, title: str) -> None:
    """ModelError where a tensor of `title`, an input or a node, is larger than the machine can compute with."""
    if nbytes > tensor_bytes():
        raise ModelError(
            f"{title} has a tensor of {size_text(nbytes)}; the most here are {size_text(tensor_bytes())}, a quarter of "
            "the memory here: give it smaller shapes"
        )


@cache
def tensor_bytes() -> int:
    """Bytes of one computed tensor: a quarter of the memory of the machine or container, as the search also holds its
    reference in float64, which is twice as large, and the output that is compared with it."""
    return int(min(memory_bytes(), 1 << 64)) // 4


def size_text(nbytes: float) -> str:
    """Bytes in the unit that suits them.

    >>> size_text(3_000_000_000), size_text(1 << 62)
    ('3.0 GB', '4611686.0 TB')
    """
    for power, unit in ((3, "kB"), (6, "MB"), (9, "GB")):
        if nbytes < 10 ** (power + 2.9):
            return f"{nbytes / 10**power:.1f} {unit}"
    return f"{nbytes / 1e12:.1f} TB"
