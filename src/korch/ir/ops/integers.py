"""Linear primitives of small integers: the first operand less its zero point, times the second, summed in int32.

Inputs: x, the weights, and the zero point of x, a number of its type; `w_zero` is that of the weights. Sums wrap around
as int32 does. (ONNX MatMulInteger, ConvInteger.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from korch.ir.ops.linear import convolve, row_length, window_terms
from korch.ir.ops.reduce import write_channels_first
from korch.ir.ops.table import Array, Emit, Op, Pull, Region, Shape, add, op_named
from korch.ir.tensor import Tensor

if TYPE_CHECKING:
    from korch.ir.primitive import Primitive

BYTES = ("int8", "uint8")
FASTER = 4.0
"""Multiply-adds of bytes in the time of one of float32, at most: 64 of `vpdpbusd` for 16."""


def _infer(of: str, inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    x, w, zero = inputs
    if x.dtype not in BYTES or w.dtype not in BYTES or zero.dtype != x.dtype or zero.shape:
        raise ValueError(f"operands {x}, {w} and {zero} are no bytes with a zero point")
    rest = {k: v for k, v in attrs.items() if k != "w_zero"}
    return "int32", op_named(of).infer((x, w), rest)[1]


def _shifted(p: Primitive, pull: Pull) -> Pull:
    """The operands less their zero points, in float64, which holds every sum of 2^37 products."""
    zeros = (float(pull(2, ())), float(p.attr("w_zero")))
    return lambda i, region: pull(i, region).astype(np.float64) - zeros[i]


def _wrapped(sums: Array) -> Array:
    return sums.astype(np.int64).astype(np.int32)


def _product(p: Primitive, region: Region, pull: Pull) -> Array:
    return _wrapped(op_named("MatMul").evaluate(_of_floats(p), region, _shifted(p, pull)))


def _convolution(p: Primitive, region: Region, pull: Pull) -> Array:
    return _wrapped(convolve(p, region, _shifted(p, pull), False))


def _names(p: Primitive, names: Sequence[str], emit: Emit) -> list[str]:
    return [*names, emit.const(np.asarray(p.attr("w_zero"), p.inputs[1].dtype))]


def _write_product(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    emit.node(p.op, _names(p, names, emit), p.output.name)


def _write_convolution(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    attrs = {k: v for k, v in p.attrs if k != "w_zero"}
    write_channels_first(p, _names(p, names, emit), emit, attrs)


def _of_floats(p: Primitive) -> Primitive:
    """The primitive that does as many multiply-adds of floats."""
    name = p.op.removesuffix("Integer")
    return replace(p, op=name, inputs=p.inputs[:2])


def _multiply_adds(p: Primitive) -> int:
    q = _of_floats(p)
    return q.spec.multiply_adds(q)


def _fewest(p: Primitive, t: Tensor, out: float) -> float:
    q = _of_floats(p)
    return q.spec.fewest(q, t, out) if t in q.inputs else t.size


def _add(of: str, **relations: Any) -> None:
    base = op_named(of)
    add(
        Op(
            f"{of}Integer",
            base.category,
            lambda inputs, attrs: _infer(of, inputs, attrs),
            adds_integers=True,
            faster=FASTER,
            fewest=_fewest,
            multiply_adds=_multiply_adds,
            **relations,
        )
    )


_add("MatMul", evaluate=_product, write=_write_product, fan_in=row_length, terms=row_length)
_add(
    "Conv",
    evaluate=_convolution,
    write=_write_convolution,
    fan_in=window_terms,
    terms=window_terms,
    channels_last=op_named("Conv").channels_last,
)
