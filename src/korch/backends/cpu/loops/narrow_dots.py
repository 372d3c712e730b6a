"""The innermost loops of products of few rows with narrow weights: some columns at a time, a block after the other.

A tile of columns is one stream: the codes of a block, a word for each column and every few steps, then its scales and
zero points. Pairs of codes are widened to int16 in registers, and multiplied with both digits of the activations
(`korch_narrow.h`): exact sums, which are scaled once a block. Float32 products would have to widen twice as far, and
take 1.5 times as long for it (Zen 4, AVX2).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from korch.backends.cpu.c import Function, Linkage, Statements
from korch.backends.cpu.c.tree import init_function
from korch.backends.cpu.loops.ctypes import C_TYPES
from korch.backends.cpu.loops.dots import registers
from korch.backends.cpu.loops.narrow_weights import NarrowWeights, TensorElement, traced
from korch.backends.cpu.packed import FREE_PACKED, packed
from korch.ir.cone import Cone
from korch.ir.ops.integers import BYTES

WORD = 32
"""Bits of the codes of a column that are loaded together."""
SUMS = 8
"""Vectors of sums of a tile, for every 16 registers: they fill half of them."""
DIGITS = 2
"""Rows up to which activations are digits."""
TAIL = 64
"""Bytes behind the tiles, which say whether all scales and zero points are numbers."""


@dataclass(frozen=True)
class NarrowDots:
    """Tiles of `rows` by so many `vectors` of columns. `digits`: activations are digits, not floats."""

    weights: NarrowWeights
    rows: int
    digits: bool
    vectors: int
    zeros: str
    """The C type of zero points; empty where there are none."""

    @staticmethod
    def of(cone: Cone, weights: NarrowWeights, rows: int) -> NarrowDots:
        """With tiles for so many rows, as even as can be."""
        most = registers().count // 16 * SUMS
        high = rows if rows <= DIGITS else -(-rows // -(-rows // SUMS))
        wide = min(3 if rows == 1 else most, most // (DIGITS * rows if rows <= DIGITS else high))
        zeros = _zeros(cone, weights)
        return NarrowDots(
            weights, high, rows <= DIGITS, max(1, min(wide, -(-weights.columns // registers().lanes))), zeros
        )

    @property
    def width(self) -> int:
        """Columns of a tile, those that pad the last one included."""
        return self.vectors * registers().lanes

    @property
    def tiles(self) -> int:
        return -(-self.weights.columns // self.width)

    @property
    def fields(self) -> int:
        """Pairs of codes in a word."""
        return WORD // 2 // self.weights.bits

    @property
    def words(self) -> int:
        """Words of a column in a block."""
        return self.weights.block // 2 // self.fields

    @property
    def units(self) -> int:
        """Floats of the units of a row."""
        return 2 * self.weights.blocks if self.digits else 0

    @property
    def shared(self) -> int:
        """1 where every other pair stays where it is in its byte, and its activations are divided for that."""
        return int(self.weights.bits == WORD // 8)

    @property
    def block_bytes(self) -> int:
        """Of the codes, scales and zero points of a block of a tile."""
        return self.width * (4 * self.words + 4 + {"": 0, "int16_t": 2, "float": 4}[self.zeros])

    @property
    def tile_bytes(self) -> int:
        return self.block_bytes * self.weights.blocks

    @property
    def size(self) -> int:
        """Bytes of the state."""
        return self.tile_bytes * self.tiles + TAIL

    @property
    def row(self) -> int:
        """Words of a row of activations as tiles read them."""
        return self.weights.blocks * (self.weights.block + (2 if self.digits else 0))

    def taken(self, word: str, field: int) -> str:
        """The pair number `field` of a vector of words, in C."""
        bits, lanes = self.weights.bits, registers().lanes
        mask = (1 << bits) - 1
        shift, place = bits * field, 0
        if self.shared and field % 2:
            shift, place = shift - bits, bits
        words = f"(korch_words{lanes}){word}"
        moved = f"({words} >> {shift})" if shift else words
        return moved if shift + place + bits == WORD // 2 and not place else f"({moved} & {mask << place})"


def _zeros(cone: Cone, weights: NarrowWeights) -> str:
    if weights.zero is None:
        return ""
    p = cone.makers.get(weights.zero.tensor)
    while p and p.spec.is_view:
        p = cone.makers.get(p.inputs[0])
    return "int16_t" if p and p.spec.casts and p.inputs[0].dtype in BYTES else "float"


def function(name: str, dots: NarrowDots) -> Function:
    """Multiplies a tile: its weights from `w` on, digits of rows from `x` on with their `units`, sums to `out`."""
    text, lanes = Statements(), registers().lanes
    cells = [(r, g) for r in range(dots.rows) for g in range(dots.vectors)]
    text.add(*(f"korch_f{lanes} t{r}_{g} = {{0}};" for r, g in cells))
    block, blocks = dots.weights.block, dots.weights.blocks
    heads = f"for (int b = 0; b < {blocks}; ++b, w += {dots.block_bytes}, x += {block + 2}, units += 2)"
    with text.block(heads):
        for r, g in cells:
            begin = f"x[{r * dots.row + block}]", f"x[{r * dots.row + block + 1}]"
            text.add(*(f"korch_i{lanes} {s}{r}_{g} = (korch_i{lanes}){{0}} + {v};" for s, v in zip("hl", begin)))
        _block(text, dots)
        for r, g in cells:
            _scaled(text, dots, r, g)
    text.add(*(f"*(korch_at{lanes} *)(out + {r * dots.width + g * lanes}) = t{r}_{g};" for r, g in cells))
    parameters = "const char *restrict w, const int32_t *restrict x, const float *restrict units, float *restrict out"
    return Function(name, parameters, text.body, linkage=Linkage.SEPARATE)


def _block(text: Statements, dots: NarrowDots) -> None:
    """Adds the products of a block."""
    lanes, half = registers().lanes, dots.weights.block // 2
    text.add("#pragma GCC unroll 1")
    with text.block(f"for (int c = 0; c < {dots.words}; ++c)"):
        for g in range(dots.vectors):
            place = f"w + c * {4 * dots.width} + {4 * g * lanes}"
            text.add(f"const korch_i{lanes} w{g} = *(const korch_lanes{lanes} *)({place});")
        for j in range(dots.fields):
            with text.block():
                for g in range(dots.vectors):
                    text.add(f"const korch_i{lanes} q{g} = (korch_i{lanes}){dots.taken(f'w{g}', j)};")
                for r in range(dots.rows):
                    at = (
                        f"x[{r * dots.row + j} + c * {dots.fields}]",
                        f"x[{r * dots.row + half + j} + c * {dots.fields}]",
                    )
                    for s, v in zip("hl", at, strict=True):
                        added = " ".join(f"KORCH_DOT{lanes}({s}{r}_{g}, all, q{g});" for g in range(dots.vectors))
                        text.add(f"{{ const korch_i{lanes} all = (korch_i{lanes}){{0}} + {v}; {added} }}")


def _scaled(text: Statements, dots: NarrowDots, r: int, g: int) -> None:
    """Adds a block's sums, less what zero points take, to those of all."""
    high, low = (f"__builtin_convertvector({s}{r}_{g}, korch_f{registers().lanes})" for s in "hl")
    total, units = f"{high} * (float)(1 << KORCH_DIGIT) + {low}", 2 * r * dots.weights.blocks
    if dots.zeros:
        total += f" - {zero_points(dots, g)} * units[{units + 1}]"
    text.add(f"t{r}_{g} += ({total}) * {scales(dots, g)} * units[{units}];")


def scales(dots: NarrowDots, g: int) -> str:
    """A vector of a block's scales."""
    lanes = registers().lanes
    return f"*(const korch_at{lanes} *)(w + {4 * dots.width * dots.words + 4 * g * lanes})"


def zero_points(dots: NarrowDots, g: int) -> str:
    """A vector of a block's zero points, as floats."""
    lanes, first = registers().lanes, 4 * dots.width * (dots.words + 1)
    if dots.zeros == "float":
        return f"*(const korch_at{lanes} *)(w + {first + 4 * g * lanes})"
    return f"__builtin_convertvector(*(const korch_shorts{lanes} *)(w + {first + 2 * g * lanes}), korch_f{lanes})"


def plain_function(name: str, dots: NarrowDots) -> Function:
    """The same for one row `x` in floats, step by step: of infinite and NaN operands as numpy has it."""
    weights, text = dots.weights, Statements()
    half, bits, at = weights.block // 2, weights.bits, 4 * dots.width * dots.words
    with text.block(f"for (int n = 0; n < {dots.width}; ++n)"):
        text.add("float sum = 0;")
        with text.block(f"for (int k = 0; k < {weights.steps}; ++k)"):
            text.add(
                f"const char *const from = w + k / {weights.block} * {dots.block_bytes};",
                f"const int i = k % {weights.block}, p = i % {half};",
                f"const int at = (p / {dots.fields} * {dots.width} + n) * 2 + i / {half};",
                f"const int bit = p % {dots.fields} * {bits};",
                f"const int code = (((const uint16_t *)from)[at] >> bit & {(1 << bits) - 1}) - {weights.center};",
            )
            zero = f"((const {dots.zeros} *)(from + {at + 4 * dots.width}))[n]" if dots.zeros else "0"
            text.add(f"sum += x[k] * (((float)code - {zero}) * ((const float *)(from + {at}))[n]);")
        text.add("out[n] = sum;")
    parameters = "const char *restrict w, const float *restrict x, float *restrict out"
    return Function(name, parameters, text.body)


def packing(cone: Cone, dots: NarrowDots) -> Iterator[Function]:
    """The functions that make and free the state: tile by tile, block by block."""
    weights, text = dots.weights, Statements()
    for i, t in enumerate(cone.leaves):
        if t.const and t.value is None:
            text.add(f"const {C_TYPES[t.dtype]} *restrict in{i} = in[{i}]; (void)in{i};")
    text.add(
        f"char *const state_ = *state = korch_aligned({dots.size});",
        "if (!state_) return 1;",
        f"memset(state_, 0, {dots.size});",
        "int infinite = 0;",
    )
    heads = (
        f"for (int block = 0; block < {weights.blocks}; ++block)",
        f"for (int n = 0; n < {weights.columns}; ++n)",
    )
    with text.nest(heads):
        base = f"n / {dots.width} * INT64_C({dots.tile_bytes}) + block * {dots.block_bytes}"
        text.add(f"char *const to = state_ + {base};", f"const int column = n % {dots.width};")
        _pack_codes(text, cone, dots)
        _pack_numbers(text, cone, dots)
    text.add(f"*(int *)(state_ + {dots.size - TAIL}) = infinite;", packed(dots.size))
    yield init_function(text.body)
    yield FREE_PACKED


def _pack_codes(text: Statements, cone: Cone, dots: NarrowDots) -> None:
    weights = dots.weights
    half, fields = weights.block // 2, dots.fields
    with text.block(f"for (int i = 0; i < KORCH_MIN({weights.block}, {weights.steps} - block * {weights.block}); ++i)"):
        value = _traced(text, cone, weights.codes, "q")
        first = f" + {-weights.first}" if weights.first else ""
        text.add(
            f"const int p = i % {half};",
            f"uint16_t *const word = (uint16_t *)to + (p / {fields} * {dots.width} + column) * 2 + i / {half};",
            f"*word |= (uint16_t)(({value}{first}) << p % {fields} * {weights.bits});",
        )


def _pack_numbers(text: Statements, cone: Cone, dots: NarrowDots) -> None:
    """The scale and the zero point of a block, those of its first step."""
    weights, at = dots.weights, 4 * dots.width * dots.words
    with text.block():
        text.add("const int i = 0; (void)i;")
        scale = _traced(text, cone, weights.scale, "s")
        text.add(f"((float *)(to + {at}))[column] = {scale};", f"infinite |= isinf({scale}) != 0;")
        if weights.zero:
            zero = _traced(text, cone, weights.zero, "z")
            less = f"{zero} - {weights.first + weights.center}"
            text.add(f"(({dots.zeros} *)(to + {at + 4 * dots.width}))[column] = ({dots.zeros})({less});")
            text.add(*([f"infinite |= isinf({zero}) != 0;"] if dots.zeros == "float" else []))


def _traced(text: Statements, cone: Cone, e: TensorElement, stem: str) -> str:
    """Adds what computes the element; its name."""
    trace = traced(cone, stem)
    value = trace.value(e.tensor, e.at)
    text.add(*trace.lines)
    return value
