"""Unpack: small integers that share bytes, the lowest bits first, along the last axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from korch.ir.ops.table import Array, Category, Emit, Op, Pull, Region, Shape, add, write_reshape
from korch.ir.tensor import Tensor

if TYPE_CHECKING:
    from korch.ir.primitive import Primitive

BYTE = 8


def places(p: Primitive) -> tuple[int, ...]:
    """At which bit of its byte each integer begins."""
    return tuple(range(0, BYTE, p.attr("bits")))


def _infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    (x,) = inputs
    if x.dtype != "uint8" or not x.rank or attrs["bits"] not in (1, 2, 4):
        raise ValueError(f"{x} has no integers of {attrs['bits']} bits: bytes have some of 1, 2 or 4")
    return "int8" if attrs["signed"] else "uint8", (*x.shape[:-1], x.shape[-1] * (BYTE // attrs["bits"]))


def _evaluate(p: Primitive, region: Region, pull: Pull) -> Array:
    bits, at = p.attr("bits"), np.asarray(places(p), np.uint8)
    *lead, last = region
    read, which = np.unique(last // len(at), return_inverse=True)
    numbers = (pull(0, (*lead, read))[..., which] >> at[last % len(at)]) & np.uint8(2**bits - 1)
    if not p.attr("signed"):
        return numbers
    half = 2 ** (bits - 1)
    return (numbers ^ np.uint8(half)).astype(np.int8) - np.int8(half)


def _write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    """As integers of 32 bits behind the mask: onnxruntime does not subtract bytes."""
    from onnx import TensorProto

    bits, half = p.attr("bits"), 2 ** (p.attr("bits") - 1)
    alone = write_reshape(emit, names[0], (*p.inputs[0].shape, 1))
    shifted = emit.node("BitShift", [alone, emit.const(np.asarray(places(p), np.uint8))], direction="RIGHT")
    numbers = emit.node("BitwiseAnd", [shifted, emit.const(np.asarray(2**bits - 1, np.uint8))])
    if p.attr("signed"):
        turned = emit.node("BitwiseXor", [numbers, emit.const(np.asarray(half, np.uint8))])
        wide = emit.node("Cast", [turned], to=int(TensorProto.INT32))
        number = emit.node("Sub", [wide, emit.const(np.asarray(half, np.int32))])
        numbers = emit.node("Cast", [number], to=int(TensorProto.INT8))
    write_reshape(emit, numbers, p.output.shape, p.output.name)


def _fewest(p: Primitive, t: Tensor, out: float) -> float:
    return min(t.size, out / len(places(p)))


add(Op("Unpack", Category.LAYOUT, _infer, _evaluate, _write, unpacks=True, fewest=_fewest))
