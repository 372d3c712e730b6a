"""The innermost loops of products of several rows with narrow weights: each weight is widened to float32 once for all.

A code gets an exponent by which the lowest of its bits, where they are, stands for 1: two logical instructions and a
subtraction. For one row or two, digits are faster (`narrow_dots.py`); here a row takes one multiply-add a vector, where
two digits take two instructions each for twice as many codes.
"""

from __future__ import annotations

from korch.backends.cpu.c import Function, Linkage, Statements
from korch.backends.cpu.loops import narrow_dots
from korch.backends.cpu.loops.narrow_dots import NarrowDots
from korch.backends.cpu.loops.vector_epilogue import broadcast

MANTISSA, BIAS = 23, 127
"""Bits of a float32 behind its leading one; what its exponent is written with."""


def function(name: str, dots: NarrowDots) -> Function:
    """Multiplies a tile: its weights from `w` on, steps of rows in whole blocks from `x` on, sums to `out`."""
    text, lanes = Statements(), narrow_dots.registers().lanes
    cells = [(r, g) for r in range(dots.rows) for g in range(dots.vectors)]
    text.add(*(f"korch_f{lanes} t{r}_{g} = {{0}};" for r, g in cells))
    block, blocks = dots.weights.block, dots.weights.blocks
    with text.block(f"for (int b = 0; b < {blocks}; ++b, w += {dots.block_bytes}, x += {block * dots.rows})"):
        text.add(*(f"korch_f{lanes} a{r}_{g} = {{0}};" for r, g in cells))
        _zeros(text, dots)
        text.add("#pragma GCC unroll 1")
        with text.block(f"for (int c = 0; c < {dots.words}; ++c)"):
            for g in range(dots.vectors):
                place = f"w + c * {4 * dots.width} + {4 * g * lanes}"
                text.add(f"korch_i{lanes} w{g} = *(const korch_lanes{lanes} *)({place});")
            _steps(text, dots, 0)
            text.add(*(f"w{g} = (korch_i{lanes})((korch_unsigned{lanes})w{g} >> 16);" for g in range(dots.vectors)))
            _steps(text, dots, block // 2)
        for r, g in cells:
            text.add(f"t{r}_{g} += a{r}_{g} * {narrow_dots.scales(dots, g)};")
    text.add(*(f"*(korch_at{lanes} *)(out + {r * dots.width + g * lanes}) = t{r}_{g};" for r, g in cells))
    parameters = "const char *restrict w, const float *restrict x, float *restrict out"
    return Function(name, parameters, text.body, linkage=Linkage.SEPARATE)


def _zeros(text: Statements, dots: NarrowDots) -> None:
    """Adds a block's zero points `z`, and, where they are integers, `m`: all that a field's codes are less."""
    lanes = narrow_dots.registers().lanes
    for g in range(dots.vectors if dots.zeros else 0):
        text.add(f"const korch_f{lanes} z{g} = {narrow_dots.zero_points(dots, g)};")
        if dots.zeros != "float":
            text.add(*(f"const korch_f{lanes} m{j}_{g} = z{g} + {_ground(dots, j)};" for j in range(dots.fields)))


def _ground(dots: NarrowDots, field: int) -> str:
    """The float of a code that is the middle, or the zero point of all: in C, and exact."""
    return f"{(1 << (MANTISSA - dots.weights.bits * field)) + dots.weights.center}.0f"


def _steps(text: Statements, dots: NarrowDots, first: int) -> None:
    """Adds the products of the codes in the lower halves of words, with activations from `first` on."""
    lanes, bits = narrow_dots.registers().lanes, dots.weights.bits
    for j in range(dots.fields):
        mask, ones = ((1 << bits) - 1) << bits * j, (BIAS + MANTISSA - bits * j) << MANTISSA
        with text.block():
            for g in range(dots.vectors):
                less = f"m{j}_{g}" if dots.zeros == "int16_t" else _ground(dots, j)
                less += f" - z{g}" if dots.zeros == "float" else ""
                text.add(f"const korch_f{lanes} q{g} = (korch_f{lanes})((w{g} & {mask}) | {ones}) - {less};")
            for r in range(dots.rows):
                x = f"x[{(first + j) * dots.rows + r} + c * {dots.fields * dots.rows}]"
                added = " ".join(f"KORCH_FMA{lanes}(a{r}_{g}, all, q{g});" for g in range(dots.vectors))
                text.add(f"{{ const korch_f{lanes} all = {broadcast(x, lanes)}; {added} }}")
