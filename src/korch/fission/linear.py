"""Matrix products and convolutions: the linear primitive, and a bias as an Add."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from korch.fission.rule import Opaque, fission
from korch.fission.windows import Geometry, WindowAttributes, geometry
from korch.ir.builder import Builder, Value


@fission("MatMul")
def matmul(b: Builder, x: Value, y: Value) -> Value | Opaque:
    """numpy.matmul; a vector is a matrix of one row or column whose axis goes again."""
    if not x.tensor.is_float:
        return Opaque("it multiplies integers")
    rows = b.op("Reshape", x, shape=(1, *x.shape)) if x.rank == 1 else x
    columns = b.op("Reshape", y, shape=(*y.shape, 1)) if y.rank == 1 else y
    product = rows @ columns
    kept = product.shape[:-2] + product.shape[-2:][x.rank == 1 : 2 - (y.rank == 1)]
    return b.op("Reshape", product, shape=kept)


@fission("Gemm", since=7)
def gemm(
    b: Builder,
    x: Value,
    y: Value,
    c: Value | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Value | Opaque:
    """alpha * x' y' + beta * c, where ' transposes if asked; constant operands take alpha in later."""
    if not x.tensor.is_float:
        return Opaque("it multiplies integers")
    x = b.op("Transpose", x, perm=(1, 0)) if transA else x
    y = b.op("Transpose", y, perm=(1, 0)) if transB else y
    product = (x @ y) * alpha
    return product if c is None or beta == 0 else product + c * beta


@fission("Conv")
def conv(
    b: Builder,
    x: Value,
    w: Value,
    bias: Value | None = None,
    *,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    **window: Unpack[WindowAttributes],
) -> Value:
    """x [N,C,*] over w [O,C/group,*kernel], plus bias [O]."""
    g = geometry(x.shape[2:], w.shape[2:], **window)
    return with_bias(b, b.op("Conv", x, w, **g.attrs, group=group, channels_last=0), bias)


@fission("ConvTranspose")
def conv_transpose(
    b: Builder,
    x: Value,
    w: Value,
    bias: Value | None = None,
    *,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    output_padding: Sequence[int] | None = None,
    output_shape: Sequence[int] | None = None,
    **window: Unpack[WindowAttributes],
) -> Value:
    """The adjoint of Conv: x [N,C,*] over w [C,O/group,*kernel], plus bias [O]."""
    auto_pad = window.pop("auto_pad", "NOTSET")
    if auto_pad != "NOTSET":
        window.pop("pads", None)
    g = geometry(x.shape[2:], w.shape[2:], **window)
    full = _full_lengths(x.shape[2:], g, output_padding)
    if auto_pad in ("SAME_UPPER", "SAME_LOWER") and not output_shape:
        output_shape = [n * s for n, s in zip(x.shape[2:], g.strides, strict=True)]
    if output_shape:
        output_shape = list(output_shape)[-len(full) :]
        front = [_front(f - n, auto_pad) for f, n in zip(full, output_shape, strict=True)]
        back = [max(f - n - h, 0) for f, n, h in zip(full, output_shape, front, strict=True)]
    else:
        front, back = list(g.pads[: len(full)]), list(g.pads[len(full) :])
        output_shape = [f - h - t for f, h, t in zip(full, front, back, strict=True)]
    y = b.op(
        "ConvTranspose",
        x,
        w,
        strides=g.strides,
        dilations=g.dilations,
        pads=(*front, *back),
        group=group,
        channels_last=0,
        output_shape=(x.shape[0], w.shape[1] * group, *output_shape),
    )
    return with_bias(b, y, bias)


def _full_lengths(lengths: Sequence[int], g: Geometry, output_padding: Sequence[int] | None) -> list[int]:
    """Output lengths before anything is cut off."""
    extra = output_padding or [0] * len(lengths)
    return [
        s * (n - 1) + (k - 1) * d + 1 + e
        for n, s, k, d, e in zip(lengths, g.strides, g.kernel, g.dilations, extra, strict=True)
    ]


def _front(total: int, auto_pad: str) -> int:
    """How much of the surplus `total` is cut off in front."""
    total = max(total, 0)
    return total // 2 if auto_pad == "SAME_UPPER" else total - total // 2


def with_bias(b: Builder, y: Value, bias: Value | None) -> Value:
    """y [N,O,*] plus bias [O]."""
    if bias is None:
        return y
    return y + b.op("Reshape", bias, shape=(bias.shape[0], *(1,) * (y.rank - 2)))
