"""The sums around one level of Strassen's algorithm, seven products of blocks instead of eight.

V. Strassen, Numer. Math. 13 (1969); in S. Winograd's form of 1971, which has 15 sums. For y = x w with x [..., C], P
rows in all, and w [C, K], `StrassenInput` takes x to [7, P / 2, C / 2]; the batched product with the weights' own sums
follows, and `StrassenOutput` takes its result [7, P / 2, K / 2] to y [..., K].

Columns are halved in the middle, and so are both axes of the weights. Rows are halved by parity: rows 2p and 2p + 1
belong to the upper and to the lower blocks, so what adjacent rows need lies together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from korch.ir.ops.spans import Part, Span, narrowed, outermost, run_of
from korch.ir.ops.table import Array, Category, Emit, Op, Pull, Region, Shape, add, write_reshape
from korch.ir.ops.windows import Positions
from korch.ir.tensor import Tensor

if TYPE_CHECKING:
    from korch.ir.primitive import Primitive

PRODUCTS, BLOCKS = 7, 4

INPUT = np.array([
    [1, 0, 0, 0], [0, 1, 0, 0], [1, 1, -1, -1], [0, 0, 0, 1], [0, 0, 1, 1], [-1, 0, 1, 1], [1, 0, -1, 0],
])  # fmt: skip
"""What each product takes of x's blocks: above on the left and right, below on the left and right."""
WEIGHTS = np.array([
    [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, -1, -1, 1], [-1, 1, 0, 0], [1, -1, 0, 1], [0, -1, 0, 1],
])  # fmt: skip
"""What it takes of the weights' blocks."""
OUTPUT = np.array([[1, 1, 0, 0, 0, 0, 0], [1, 0, 1, 0, 1, 1, 0], [1, 0, 0, -1, 0, 1, 1], [1, 0, 0, 0, 1, 1, 1]])
"""Which products y's blocks are the sums of."""


def weights(w: Array) -> Array:
    """[C, K] -> what each product multiplies by, [7, C / 2, K / 2], in float64 and rounded once."""
    c, k = (n // 2 for n in w.shape)
    blocks = w.reshape(2, c, 2, k).transpose(0, 2, 1, 3).reshape(BLOCKS, c, k)
    sums = np.empty((PRODUCTS, c, k), w.dtype)
    for to, row in zip(sums, WEIGHTS, strict=True):  # one at a time: few numbers are float64 at once
        to[...] = sum(sign * blocks[i].astype(np.float64) for i, sign in enumerate(row) if sign)
    return sums


def pairs_of(p: Primitive) -> int:
    """Pairs of rows that either transform reads or makes."""
    return (p.output if p.op == "StrassenInput" else p.inputs[0]).shape[1]


# The input's side ------------------------------------------------------------------------------------------------


def _input_infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    (x,) = inputs
    return x.dtype, _halved(x.shape)


def _halved(shape: Shape) -> Shape:
    """[..., C] -> [7, P / 2, C / 2]; ValueError where there are no halves."""
    rows, columns = math.prod(shape[:-1]), shape[-1]
    if rows % 2 or columns % 2:
        raise ValueError(f"{rows} rows and {columns} columns of shape {list(shape)} cannot be halved")
    return PRODUCTS, rows // 2, columns // 2


def _input(p: Primitive, region: Region, pull: Pull) -> Array:
    products, pairs, columns = region
    rows = (2 * pairs[:, None] + np.arange(2)).reshape(-1)
    blocks = _rows(p.inputs[0].shape, rows, np.concatenate([columns, columns + p.output.shape[2]]), pull)
    blocks = blocks.reshape(len(pairs), BLOCKS, len(columns))
    return np.tensordot(INPUT[products].astype(blocks.dtype), blocks, (1, 1))


def _rows(shape: Shape, rows: Positions, columns: Positions, pull: Pull) -> Array:
    """[row, column] of the input [..., C], out of the grid that covers the rows."""
    at = np.unravel_index(rows, shape[:-1])
    grid = tuple(np.unique(a) for a in at)
    return pull(0, (*grid, columns))[tuple(np.searchsorted(g, a) for g, a in zip(grid, at, strict=True))]


def _input_write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    _, pairs, columns = p.output.shape
    blocks = write_reshape(emit, names[0], (pairs, BLOCKS, columns))
    sums = emit.node("MatMul", [emit.const(INPUT.astype(p.output.dtype)), blocks])
    emit.node("Transpose", [sums], p.output.name, perm=(1, 0, 2))


def _input_reads(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    """Whole pairs of adjacent rows."""
    x = p.inputs[0].shape
    read = run_of(x, 1, span.begin * 2 * x[-1], span.end * 2 * x[-1]) if span.axis == 1 else None
    return Part((read,), attrs) if read else None


add(
    Op(
        "StrassenInput",
        Category.LINEAR,
        _input_infer,
        _input,
        _input_write,
        reads=_input_reads,
        transforms=True,
        sparse=True,
        fan_in=lambda p: BLOCKS,
    )
)


def _rows_of_pairs(p: Primitive) -> int:
    """Two positions, where each of them has an odd number of rows."""
    y = p.output.shape
    return 1 + math.prod(y[outermost(y) + 1 : -1]) % 2


# The output's side -----------------------------------------------------------------------------------------------


def _output_infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    (m,), shape = inputs, tuple(attrs["shape"])
    if _halved(shape) != m.shape:
        raise ValueError(f"products of shape {list(m.shape)} do not make {list(shape)}")
    return m.dtype, shape


def _output(p: Primitive, region: Region, pull: Pull) -> Array:
    *lead, columns = region
    rows = np.ravel_multi_index(np.ix_(*lead), p.output.shape[:-1])[..., None]
    half = p.inputs[0].shape[2]
    pairs, places = np.unique(rows // 2), np.unique(columns % half)
    m = pull(0, (np.arange(PRODUCTS), pairs, places))
    y = np.tensordot(OUTPUT.astype(m.dtype), m, 1)
    block = rows % 2 * 2 + columns // half
    return y[block, np.searchsorted(pairs, rows // 2), np.searchsorted(places, columns % half)]


def _output_write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    m = emit.node("Transpose", names, perm=(1, 0, 2))
    blocks = emit.node("MatMul", [emit.const(OUTPUT.astype(p.output.dtype)), m])
    write_reshape(emit, blocks, p.output.shape, p.output.name)


def _output_reads(p: Primitive, span: Span, attrs: dict[str, Any]) -> Part | None:
    """Positions of the outermost axis whose rows are whole pairs."""
    y = p.output.shape
    each = math.prod(y[span.axis + 1 : -1])
    if span.axis != outermost(y) or (span.begin * each) % 2 or (span.end * each) % 2:
        return None
    read = Span(1, span.begin * each // 2, span.end * each // 2)
    return Part((read,), attrs | {"shape": narrowed(y, span)})


add(
    Op(
        "StrassenOutput",
        Category.LINEAR,
        _output_infer,
        _output,
        _output_write,
        reads=_output_reads,
        granule=_rows_of_pairs,
        transforms=True,
        transforms_back=True,
        sparse=True,
        fan_in=lambda p: PRODUCTS,
    )
)
