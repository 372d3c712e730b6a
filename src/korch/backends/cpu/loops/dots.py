"""The innermost loop of products of bytes: a tile of int32 sums in registers, a dot product of pairs for each.

Bytes less their zero points take nine bits, so both operands are int16 here: pairs of steps side by side, those of the
weights for every column, packed once. Processors multiply and add twice as many of these as floats, and every sum is
exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from korch.backends.cpu.c import Function, Linkage, Statements
from korch.backends.cpu.c.tree import init_function
from korch.backends.cpu.loops.ctypes import C_TYPES
from korch.backends.cpu.loops.tile import Registers
from korch.backends.cpu.packed import FREE_PACKED, packed
from korch.system.processor import cpu_flags

UNROLLED = 4
"""Pairs of steps between two turns of a tile's loop."""


@cache
def registers() -> Registers:
    """The vector registers for integers of this processor."""
    flags = cpu_flags()
    if "avx512bw" in flags:
        return Registers(32, 16)
    return Registers(16, 8 if "avx2" in flags else 4)


@dataclass(frozen=True)
class Dots:
    """Rows of `steps` times weights [steps, columns]; tiles of `rows` by so many `vectors`."""

    steps: int
    columns: int
    rows: int
    vectors: int

    @staticmethod
    def of(rows: int, steps: int, columns: int) -> Dots:
        """With tiles for so many rows: as high as registers allow, and as even as can be."""
        lanes, vectors = registers().lanes, registers().abreast
        wide = min(vectors, -(-columns // lanes))
        most = max(1, (registers().count - wide - 2) // wide)  # operands, a number, and a product on its way
        return Dots(steps, columns, -(-rows // -(-rows // most)), wide)

    @property
    def pairs(self) -> int:
        """Pairs of steps; of an odd number of these the last one is padded."""
        return -(-self.steps // 2)

    @property
    def width(self) -> int:
        """Columns of a tile, those that pad the last one included."""
        return self.vectors * registers().lanes

    @property
    def groups(self) -> int:
        """Tiles side by side."""
        return -(-self.columns // self.width)

    @property
    def group_size(self) -> int:
        """int16 of the weights of a tile."""
        return 2 * self.pairs * self.width


def function(name: str, dots: Dots, apart: int) -> Function:
    """Multiplies a tile: rows of int16 from `a` on, weights from `b` on, int32 sums to `c`, whose rows are so many
    numbers `apart`."""
    lanes, text = registers().lanes, Statements()
    sums = [[f"s{r}_{v}" for v in range(dots.vectors)] for r in range(dots.rows)]
    text.add(*(f"korch_i{lanes} {s} = {{0}};" for row in sums for s in row))
    text.add(f"#pragma GCC unroll {UNROLLED}")
    with text.block(f"for (int k = 0; k < {dots.pairs}; ++k)"):
        for v in range(dots.vectors):
            place = f"b + k * {2 * dots.width} + {2 * v * lanes}"
            text.add(f"korch_i{lanes} b{v} = *(const korch_pairs{lanes} *)({place});")
            text.add(*([f"KORCH_HOLD(b{v});"] if registers().few else []))
        for r, row in enumerate(sums):
            pair = f"*(const korch_pair *)(a + {2 * r * dots.pairs} + 2 * k)"
            added = " ".join(f"KORCH_DOT{lanes}({s}, all, b{v});" for v, s in enumerate(row))
            text.add(f"{{ const korch_i{lanes} all = (korch_i{lanes}){{0}} + {pair}; {added} }}")
    text.add(
        *(
            f"*(korch_pairs{lanes} *)(c + {r * apart + v * lanes}) = {s};"
            for r, row in enumerate(sums)
            for v, s in enumerate(row)
        )
    )
    parameters = "const int16_t *restrict a, const int16_t *restrict b, int32_t *restrict c"
    return Function(name, parameters, text.body, linkage=Linkage.SEPARATE)


def packing(dots: Dots, leaf: int, dtype: str, zero: int, place: str) -> Iterator[Function]:
    """The functions that make and free the state: the weights, less their zero point, tile by tile and pair by pair.
    `place`: C for where the weight of step k and column n is."""
    size = 2 * dots.group_size * dots.groups
    text = Statements()
    text.add(
        f"const {C_TYPES[dtype]} *w = in[{leaf}];",
        f"int16_t *to = *state = korch_aligned({size});",
        "if (!to) return 1;",
        f"for (int n0 = 0; n0 < {dots.groups * dots.width}; n0 += {dots.width})",
        f"  for (int k0 = 0; k0 < {2 * dots.pairs}; k0 += 2)",
        f"    for (int n = n0; n < n0 + {dots.width}; ++n)",
    )
    with text.block("      for (int k = k0; k < k0 + 2; ++k)"):
        inside = f"k < {dots.steps} && n < {dots.columns}"
        text.add(f"*to++ = {inside} ? (int16_t)(w[{place}] - {zero}) : 0;")
    text.add(packed(size))
    yield init_function(text.body)
    yield FREE_PACKED
