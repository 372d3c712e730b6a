"""Weights that are quantized by blocks: (q - zero) scale, where some neighbours along an axis share scale and zero."""

from __future__ import annotations

import numpy as np

from korch.fission.rule import Opaque, fission
from korch.ir.builder import Builder, Value
from korch.ir.ops.table import Array

BYTE = 8
WIDTHS = (4, BYTE)


@fission("MatMulNBits", domain="com.microsoft")
def matmul_nbits(
    b: Builder,
    x: Value,
    w: Value,
    scale: Value,
    zero: Value | None = None,
    indices: Value | None = None,
    bias: Value | None = None,
    *,
    K: int,
    N: int,
    block_size: int,
    bits: int = 4,
    accuracy_level: int = 0,
) -> Value | Opaque:
    """x times the transpose of the N rows of weights, plus bias; more exact than any `accuracy_level` asks for."""
    if indices is not None or bits not in WIDTHS or block_size % (BYTE // bits):
        return Opaque("its weights have groups by index, or neither 4 nor 8 bits")
    blocks = -(-K // block_size)
    per_block = (N, blocks, 1)
    q = _unpacked(b, b.op("Reshape", w, shape=(N, blocks, block_size * bits // BYTE)), bits)
    wide = scaled(b, q, b.op("Reshape", scale, shape=per_block), _zero(b, zero, bits, per_block))
    rows = b.op("Reshape", wide, shape=(N, blocks * block_size))
    y = x @ b.op("Transpose", _first(b, rows, K), perm=(1, 0))
    return y if bias is None else y + bias


def _zero(b: Builder, zero: Value | None, bits: int, shape: tuple[int, ...]) -> Value:
    """The zero points, one a block: the middle of the integers where there are none; packed ones are bytes."""
    if zero is None:
        return b.constant(1 << (bits - 1), "uint8")
    if zero.dtype == "uint8":
        rows = b.op("Reshape", zero, shape=(shape[0], -(-shape[1] * bits // BYTE)))
        zero = _first(b, _unpacked(b, rows, bits), shape[1])
    return b.op("Reshape", zero, shape=shape)


def _unpacked(b: Builder, x: Value, bits: int, signed: bool = False) -> Value:
    """The integers of so many `bits` in bytes, along the last axis."""
    return x if bits == BYTE else b.op("Unpack", x, bits=bits, signed=int(signed))


def _first(b: Builder, x: Value, count: int, axis: int = 1) -> Value:
    """The first positions of an axis."""
    lengths = tuple(count if a == axis else n for a, n in enumerate(x.shape))
    return b.op("Slice", x, starts=(0,) * x.rank, steps=(1,) * x.rank, lengths=lengths)


def scaled(b: Builder, x: Value, scale: Value, zero: Value | None, to: str = "") -> Value:
    """(x - zero) scale, whose shapes broadcast, in the type `to`, or that of the scale."""
    wide = b.op("Cast", x, to=scale.dtype)
    if zero is not None:
        wide = wide - b.op("Cast", zero, to=scale.dtype)
    return b.op("Cast", wide * scale, to=to or scale.dtype)


def dequantized_by_blocks(
    b: Builder, x: Value, scale: Value, zero: Value | None, axis: int, size: int, to: str = ""
) -> Value:
    """(x - zero) scale in the type `to`, where `size` neighbours along `axis` have one scale and zero point; the last
    block may have fewer."""
    axis %= x.rank
    before, length, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    if length % size:
        return scaled(b, x, _spread(b, scale, x, axis, size), zero and _spread(b, zero, x, axis, size), to)
    each = (*before, length // size, 1, *after)
    parts = b.op("Reshape", x, shape=(*before, length // size, size, *after))
    y = scaled(b, parts, b.op("Reshape", scale, shape=each), zero and b.op("Reshape", zero, shape=each), to)
    return b.op("Reshape", y, shape=x.shape)


def _spread(b: Builder, v: Value, x: Value, axis: int, size: int) -> Value:
    """The number of its block for each position of x."""
    before, blocks, after = v.shape[:axis], v.shape[axis], v.shape[axis + 1 :]
    each = b.op("Reshape", v, shape=(*before, blocks, 1, *after))
    repeated = b.op("Expand", each, shape=(*before, blocks, size, *after))
    return _first(b, b.op("Reshape", repeated, shape=(*before, blocks * size, *after)), x.shape[axis], axis)


def four_bits(b: Builder, x: Array) -> Value:
    """A constant of integers of four bits, which are two a byte in memory, as integers of eight."""
    q = x.astype(np.int8).view(np.uint8).reshape(-1) & np.uint8(15)
    q = np.concatenate([q, np.zeros(q.size % 2, np.uint8)])
    each = _unpacked(b, b.constant(q[::2] | q[1::2] << np.uint8(4)), 4, x.dtype.name == "int4")
    return b.op("Reshape", _first(b, each, x.size, 0), shape=x.shape)
