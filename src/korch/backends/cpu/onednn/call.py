"""One oneDNN call as data: what `korch_dnnl_call` says in C."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from korch.backends.linear.activations import Eltwise
from korch.backends.linear.pattern import Binary
from korch.backends.linear.views import Shape, View


@dataclass(frozen=True, slots=True)
class Sum:
    """oneDNN's post-op `sum`: adds what the output's buffer held, here a copy of `operand`."""

    operand: View


PostOps = tuple[Eltwise | Binary | Sum, ...]


@dataclass(frozen=True, slots=True)
class CallWindow:
    """How a convolution's kernel moves, one number a spatial axis; dilations count from 1."""

    strides: Shape
    dilations: Shape
    pads_begin: Shape
    pads_end: Shape


Packing = Literal["never", "once", "each run"]


@dataclass(frozen=True, slots=True)
class Call:
    """`kind` is "conv", "deconv" or "matmul"; views have oneDNN's axes, [N, C, spatial...] or [batch..., M, N].

    `order` lists the axes of activations from slowest to fastest in memory; `packing` says when weights are put into
    the layout that oneDNN likes best. `implementation`, where it is set, starts the name of the one that is wanted
    besides oneDNN's first choice. `form` names the call among others.
    """

    kind: str
    src: View
    weights: View
    dst: View
    post_ops: PostOps
    order: Shape
    packing: Packing
    bias: View | None = None
    window: CallWindow | None = None
    implementation: str = ""
    form: str = ""


def with_bias(call: Call) -> Call:
    """`call` with a leading per-channel addition as oneDNN's bias, which costs nothing."""
    channel = 1 if call.window else len(call.dst.shape) - 1
    match call.post_ops:
        case (Binary("add", operand), *rest) if _is_per_channel(operand, channel):
            unit = () if call.window else (1,) * channel
            bias = replace(operand, shape=(*unit, operand.shape[channel]), strides=(*unit, 1))
            return replace(call, bias=bias, post_ops=tuple(rest))
        case _:
            return call


def _is_per_channel(operand: View, channel: int) -> bool:
    """Whether `operand` is a dense vector along the channel axis, the same everywhere else."""
    others = (a for a in range(len(operand.shape)) if a != channel)
    along = operand.shape[channel] == 1 or operand.strides[channel] == 1
    return along and not any(operand.varies(a) for a in others)


def with_sum(call: Call) -> Call:
    """`call` with a leading full-size addition as `sum`: im2col + GEMM convolutions take no other operand."""
    match call.post_ops:
        case (Binary("add", operand), *rest) if _is_like(operand, call.dst):
            return replace(call, post_ops=(Sum(operand), *rest))
        case _:
            return call


def _is_like(operand: View, dst: View) -> bool:
    """Whether a copy of the operand's buffer puts its elements where the output's belong."""
    axes = zip(dst.shape, operand.strides, dst.strides, strict=True)
    return operand.offset == 0 and dst.distinct == dst.size and all(n == 1 or a == b for n, a, b in axes)
