"""The innermost loop of products of narrow numbers: a tile of sums in registers, the steps of a lane of each together.

Processors with VNNI multiply unsigned bytes with signed ones, four steps a lane: quads. The first operand is made
unsigned, and its zero point is taken off all steps together, as the sum of the column's weights times it. On other
processors, and for weights that no int8 holds, a lane is a pair of int16: bytes less their zero points take nine bits.
(`vpmaddubsw` multiplies bytes too, but cuts sums of two products off at int16.) These sums are exact, in int32.

A lane of bfloat16 is a pair, too: processors with AVX512_BF16 add both products to a float32, at twice the rate of
products of float32. Rows and weights are rounded to nearest.

Weights are packed once, a lane for every column side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache

from korch.backends.cpu.c import Function, Linkage, Statements
from korch.backends.cpu.c.tree import init_function
from korch.backends.cpu.loops.ctypes import C_TYPES
from korch.backends.cpu.loops.tile import Registers
from korch.backends.cpu.packed import FREE_PACKED, packed
from korch.ir.primitive import Primitive
from korch.system.processor import cpu_flags

UNROLLED = 4
"""Lanes of a row between two turns of a tile's loop, if a row is one run: of a loop in another, compilers would keep
the sums in memory (Emerald Rapids, 14 rows: 280 instead of 394 G multiply-adds a second)."""
SIGN = 128
"""An unsigned byte, less the signed one that it stands for."""


class Lane(Enum):
    """Numbers that are multiplied together: (C types of the rows, of the weights and of the sums, macro)."""

    QUAD = ("uint8_t", "int8_t", "int32_t", "KORCH_QUADS")
    PAIR = ("int16_t", "int16_t", "int32_t", "KORCH_DOT")
    HALVES = ("korch_bf16", "korch_bf16", "float", "KORCH_HALVES")

    @staticmethod
    def of(p: Primitive) -> Lane:
        """The best for integers and the weights of `p` on this processor."""
        held = p.attr("w_zero") == (0 if p.inputs[1].dtype == "int8" else SIGN)
        return Lane.QUAD if held and multiplies_bytes() else Lane.PAIR

    @property
    def row_type(self) -> str:
        return self.value[0]

    @property
    def weight_type(self) -> str:
        return self.value[1]

    @property
    def sum_type(self) -> str:
        return self.value[2]

    @property
    def macro(self) -> str:
        return self.value[3]

    @property
    def vectors(self) -> tuple[str, str]:
        """C types of vectors of sums, but for their lanes: in registers, and anywhere in memory."""
        return ("korch_f", "korch_at") if self is Lane.HALVES else ("korch_i", "korch_lanes")

    def narrowed(self, value: str, zero: int = 0) -> str:
        """C for a weight as lanes hold it."""
        return f"korch_to_bf16({value})" if self is Lane.HALVES else f"({self.weight_type})({value} - {zero})"

    @property
    def steps(self) -> int:
        return 4 if self is Lane.QUAD else 2


@cache
def registers() -> Registers:
    """The vector registers for integers of this processor."""
    flags = cpu_flags()
    if "avx512bw" in flags:
        return Registers(32, 16)
    return Registers(16, 8 if "avx2" in flags else 4)


@cache
def multiplies_bytes() -> bool:
    """Whether this processor sums products of bytes in int32."""
    flags = cpu_flags()
    return ("avx512_vnni" in flags and "avx512vl" in flags) or "avx_vnni" in flags


@cache
def multiplies_halves() -> bool:
    """Whether this processor sums products of bfloat16 in float32."""
    flags = cpu_flags()
    return "avx512_bf16" in flags and "avx512vl" in flags


@dataclass(frozen=True)
class Dots:
    """Rows of `steps` times weights [steps, columns]; tiles of `rows` by so many `vectors` of `lane`s."""

    steps: int
    columns: int
    rows: int
    vectors: int
    lane: Lane
    runs: int = 1
    between: int = 0
    apart: int = 0
    """A row has so many `runs`, which begin `between` numbers after each other; zeros pad the weights of each to whole
    lanes. Rows begin `apart` numbers after each other; 0: where the one before ends."""

    @staticmethod
    def of(rows: int, steps: int, columns: int, lane: Lane) -> Dots:
        """With tiles for so many rows: as high as registers allow, and as even as can be."""
        most = min(registers().abreast, -(-columns // registers().lanes))
        shapes = (Dots._with(v, rows, steps, columns, lane) for v in (most, -(-most // 2)))
        return min(shapes, key=lambda d: d._turns(rows))

    @staticmethod
    def _with(vectors: int, rows: int, steps: int, columns: int, lane: Lane) -> Dots:
        most = max(1, (registers().count - vectors - 2) // vectors)  # operands, a number, and a product on its way
        return Dots(steps, columns, -(-rows // -(-rows // most)), vectors, lane)

    def _turns(self, rows: int) -> float:
        """About the turns that a lane of so many rows takes: products, and operands, which are loaded two at a time."""
        tile = self.rows * self.vectors + (self.rows + self.vectors) / 2
        return -(-rows // self.rows) * self.groups * tile

    @property
    def lanes(self) -> int:
        """Of a row; the last one of a run is padded."""
        return self.runs * -(-self.steps // (self.runs * self.lane.steps))

    @property
    def row(self) -> int:
        """Numbers of a row with its padding."""
        return self.lanes * self.lane.steps

    @property
    def row_bytes(self) -> int:
        return 4 * self.lanes

    @property
    def width(self) -> int:
        """Columns of a tile, those that pad the last one included."""
        return self.vectors * registers().lanes

    @property
    def groups(self) -> int:
        """Tiles side by side."""
        return -(-self.columns // self.width)

    @property
    def head(self) -> int:
        """Bytes before the weights of a tile: of quads, the sums of its columns."""
        return 4 * self.width if self.lane is Lane.QUAD else 0

    @property
    def group_bytes(self) -> int:
        """Bytes of a tile's weights with what is before them."""
        return self.head + 4 * self.lanes * self.width


def function(name: str, dots: Dots, apart: int) -> Function:
    """Multiplies a tile: rows from `a` on, the packed weights from `b` on, sums to `c`, whose rows are so many numbers
    `apart`. `zero`: that of unsigned bytes."""
    lanes, text = registers().lanes, Statements()
    register, memory = dots.lane.vectors
    sums = [[f"s{r}_{v}" for v in range(dots.vectors)] for r in range(dots.rows)]
    for v in range(dots.vectors):
        begin = f"*(const korch_lanes{lanes} *)(b + {4 * v * lanes}) * -zero" if dots.head else "{0}"
        text.add(f"const {register}{lanes} z{v} = {begin};")
    text.add(*(f"{register}{lanes} {s} = z{v};" for row in sums for v, s in enumerate(row)))
    text.add("(void)zero;" if not dots.head else f"b += {dots.head};")
    run = dots.lanes // dots.runs
    heads = [f"for (int i = 0; i < {dots.runs}; ++i, a += {dots.between}, b += {4 * run * dots.width})"]
    with text.nest(heads if dots.runs > 1 else []):
        text.add(f"#pragma GCC unroll {UNROLLED if dots.runs == 1 else 1}")
        _run(text, dots, sums, run)
    text.add(
        *(
            f"*({memory}{lanes} *)(c + {r * apart + v * lanes}) = {s};"
            for r, row in enumerate(sums)
            for v, s in enumerate(row)
        )
    )
    rows = f"const {dots.lane.row_type} *restrict a"
    parameters = f"{rows}, const char *restrict b, int32_t zero, {dots.lane.sum_type} *restrict c"
    return Function(name, parameters, text.body, linkage=Linkage.SEPARATE)


def _run(text: Statements, dots: Dots, sums: list[list[str]], run: int) -> None:
    """Adds the products of a run of so many lanes."""
    lanes, macro = registers().lanes, f"{dots.lane.macro}{registers().lanes}"
    with text.block(f"for (int k = 0; k < {run}; ++k)"):
        for v in range(dots.vectors):
            place = f"b + k * {4 * dots.width} + {4 * v * lanes}"
            text.add(f"korch_i{lanes} b{v} = *(const korch_lanes{lanes} *)({place});")
            text.add(*([f"KORCH_HOLD(b{v});"] if registers().few else []))
        for r, row in enumerate(sums):
            lane = f"*(const korch_lane *)(a + {r * (dots.apart or dots.row)} + {dots.lane.steps} * k)"
            added = " ".join(f"{macro}({s}, all, b{v});" for v, s in enumerate(row))
            text.add(f"{{ const korch_i{lanes} all = (korch_i{lanes}){{0}} + {lane}; {added} }}")


def packing(dots: Dots, leaf: int, dtype: str, zero: int, place: str) -> Iterator[Function]:
    """The functions that make and free the state: the weights, less their zero point, tile by tile and lane by lane.
    `place`: C for where the weight of step k and column n is."""
    size, kind, steps = dots.group_bytes * dots.groups, dots.lane.weight_type, dots.lane.steps
    text = Statements()
    text.add(f"const {C_TYPES[dtype]} *w = in[{leaf}];", f"char *b = *state = korch_aligned({size});")
    text.add("if (!b) return 1;")
    with text.block(f"for (int n0 = 0; n0 < {dots.groups * dots.width}; n0 += {dots.width}, b += {dots.group_bytes})"):
        text.add(f"{kind} *to = ({kind} *)(b + {dots.head});")
        text.add(*([f"int32_t *sums = memset(b, 0, {dots.head});"] if dots.head else []))
        text.add(f"for (int k0 = 0; k0 < {dots.row}; k0 += {steps})", f"  for (int n = n0; n < n0 + {dots.width}; ++n)")
        with text.block(f"    for (int l = k0; l < k0 + {steps}; ++l)"):
            padded, run = dots.row // dots.runs, dots.steps // dots.runs
            weight = dots.lane.narrowed(f"w[{place}]", zero)
            text.add(f"const int k = l / {padded} * {run} + l % {padded};")
            text.add(f"*to = l % {padded} < {run} && n < {dots.columns} ? {weight} : 0;")
            text.add(*(["sums[n - n0] += *to;"] if dots.head else []), "++to;")
    text.add(packed(size))
    yield init_function(text.body)
    yield FREE_PACKED
