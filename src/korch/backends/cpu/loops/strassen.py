"""The sums around Strassen's products as C: a pair of rows at a time, everything behind the output's fused."""

from __future__ import annotations

from contextlib import AbstractContextManager

from korch.backends.cpu.c import Code, Statements
from korch.backends.cpu.loops import epilogue
from korch.backends.cpu.loops.epilogue import simd
from korch.backends.cpu.loops.turns import TRANSFORM, Loop, shared_out
from korch.ir.cone import Cone
from korch.ir.ops.strassen import BLOCKS, PRODUCTS, pairs_of
from korch.ir.primitive import Primitive

SUMS = "const float s1 = a21 + a22, s2 = s1 - a11, s3 = a11 - a21, s4 = a12 - s2;"
OPERANDS = ("a11", "a12", "s4", "a22", "s1", "s2", "s3")
"""What the products take, in their order."""
SHARED = "const float u2 = p1 + p6, u3 = u2 + p7, u4 = u2 + p5;"
RESULTS = ("p1 + p2", "u4 + p3", "u3 - p4", "u3 + p5")
"""The blocks of y: above on the left and right, below on the left and right."""


def into(cone: Cone, p: Primitive, threads: int) -> Code:
    """C for the input's sums alone."""
    _, pairs, half = p.output.shape
    loads = [
        f"const float a11 = above[c], a12 = above[{half} + c];",
        f"const float a21 = below[c], a22 = below[{half} + c];",
    ]
    stores = [f"to[{i * pairs * half} + c] = {name};" for i, name in enumerate(OPERANDS)]
    text = epilogue.begun(cone, p.inputs[0])
    with _pairs(text, p, threads):
        text.add(
            f"const float *restrict above = x + pair * {4 * half}, *restrict below = above + {2 * half};",
            f"float *const to = out + pair * {half};",
            f"const int count = {half};",
        )
        simd(text, [*loads, SUMS, *stores])
    return epilogue.code(cone, text, threads)


def back(cone: Cone, p: Primitive, threads: int) -> Code:
    """C for the output's sums and their epilogue, a block of channels of either half at a time."""
    _, pairs, half = p.inputs[0].shape
    streamed = epilogue.streams(cone)
    text = epilogue.begun(cone, p.inputs[0])
    with _pairs(text, p, threads), epilogue.blocks(text, "at", half) as block:
        text.add(
            f"float y[{BLOCKS * block}] __attribute__((aligned(64)));",
            f"const float *restrict m = x + pair * {half} + at;",
        )
        loads = [f"const float p{i + 1} = m[{i * pairs * half} + c];" for i in range(PRODUCTS)]
        stores = [f"y[{i * block} + c] = {value};" for i, value in enumerate(RESULTS)]
        simd(text, [*loads, SHARED, *stores])
        with text.block(f"for (int part = 0; part < {BLOCKS}; ++part)"):
            text.add(
                f"const int row = 2 * pair + part / 2, c0 = part % 2 * {half} + at;",
                f"const float *restrict z = y + part * {block};",
            )
            epilogue.store_row(text, cone, p, streamed, of=half)
    return epilogue.code(cone, text, threads, streamed)


def _pairs(text: Statements, p: Primitive, threads: int) -> AbstractContextManager[None]:
    """The loop over pairs of rows."""
    return shared_out(text, (Loop("pair", pairs_of(p)),), threads, TRANSFORM * p.output.size)
