"""Sliding windows: which input positions an output position sees, for pooling and convolution alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from korch.ir.ops.table import Array, Region, Shape

if TYPE_CHECKING:
    from korch.ir.primitive import Primitive

Positions = NDArray[np.int64]


def is_still(p: Primitive) -> bool:
    """Whether every output of a convolution sees the one position where it is."""
    return {*p.inputs[1].shape[2:], *p.attr("strides")} == {1} and not any(p.attr("pads"))


@dataclass(frozen=True)
class Axis:
    """One spatial axis: at kernel offset k, output o reads input o * stride + k * dilation - pad."""

    length: int
    kernel: int
    stride: int
    pad: int
    dilation: int
    transposed: bool = False

    def reads(self, out: Positions, k: int) -> tuple[Positions, NDArray[np.bool_]]:
        """Input positions of the outputs `out` at offset k, and which of them exist."""
        if self.transposed:
            scaled = out + self.pad - k * self.dilation
            pos, valid = scaled // self.stride, scaled % self.stride == 0
        else:
            pos = out * self.stride + k * self.dilation - self.pad
            valid = np.ones(len(out), bool)
        valid = valid & (pos >= 0) & (pos < self.length)
        return np.where(valid, pos, 0), valid


def axes_of(p: Primitive, spatial: Shape, kernel: Shape, transposed: bool = False) -> tuple[Axis, ...]:
    """The spatial axes of a convolution or pooling over input lengths `spatial`."""
    strides, pads, dilations = p.attr("strides"), p.attr("pads"), p.attr("dilations")
    return tuple(Axis(n, kernel[i], strides[i], pads[i], dilations[i], transposed) for i, n in enumerate(spatial))


def needed(axes: tuple[Axis, ...], region: Region) -> Region:
    """The input positions, per axis, that any offset of the window reads for outputs on `region`."""
    result: list[Positions] = []
    for axis, out in zip(axes, region, strict=True):
        parts = [pos[valid] for pos, valid in (axis.reads(out, k) for k in range(axis.kernel))]
        used = np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.int64)
        result.append(used if len(used) else np.zeros(1, np.int64))
    return tuple(result)


def shifted(
    x: Array, axes: tuple[Axis, ...], have: Region, region: Region, fill: float
) -> Iterator[tuple[tuple[int, ...], Array]]:
    """For each kernel offset: x (last axes spatial, holding positions `have`) seen by `region`, `fill` outside."""
    if not any(a.transposed for a in axes) and all(_even(p) for p in (*have, *region)):
        yield from _sliced(x, axes, have, region, fill)
        return
    yield from _taken(x, axes, have, region, fill)


def _taken(
    x: Array, axes: tuple[Axis, ...], have: Region, region: Region, fill: float
) -> Iterator[tuple[tuple[int, ...], Array]]:
    """`shifted` for any positions."""
    first = x.ndim - len(axes)
    for offset in product(*(range(a.kernel) for a in axes)):
        part = x
        for i, (axis, out, k) in enumerate(zip(axes, region, offset, strict=True)):
            pos, valid = axis.reads(out, k)
            part = np.take(part, np.searchsorted(have[i], np.where(valid, pos, have[i][0])), axis=first + i)
            if not valid.all():
                mask = valid.reshape([-1 if j == first + i else 1 for j in range(x.ndim)])
                part = np.where(mask, part, np.asarray(fill, x.dtype))
        yield offset, part


def _even(positions: Positions) -> bool:
    """Whether the positions rise evenly, so that a slice can stand for them."""
    steps = np.diff(positions)
    return not len(steps) or bool(steps[0] > 0 and (steps == steps[0]).all())


def _sliced(
    x: Array, axes: tuple[Axis, ...], have: Region, region: Region, fill: float
) -> Iterator[tuple[tuple[int, ...], Array]]:
    """`shifted` for evenly spaced positions, without copies: pads once, then slices."""
    first = x.ndim - len(axes)
    margins: list[tuple[int, int]] = [(0, 0)] * first
    origin: list[int] = []
    for axis, own, out in zip(axes, have, region, strict=True):
        lo = int(out[0]) * axis.stride - axis.pad
        hi = int(out[-1]) * axis.stride - axis.pad + (axis.kernel - 1) * axis.dilation
        step = int(own[1] - own[0]) if len(own) > 1 else 1
        if step != 1:
            yield from _taken(x, axes, have, region, fill)
            return
        margins.append((max(0, int(own[0]) - lo), max(0, hi - int(own[-1]))))
        origin.append(min(lo, int(own[0])))
    padded = np.pad(x, margins, constant_values=fill) if any(map(any, margins)) else x
    for offset in product(*(range(a.kernel) for a in axes)):
        cut: list[slice] = [slice(None)] * first
        for axis, out, k, start in zip(axes, region, offset, origin, strict=True):
            at = int(out[0]) * axis.stride + k * axis.dilation - axis.pad - start
            step = axis.stride * (int(out[1] - out[0]) if len(out) > 1 else 1)
            cut.append(slice(at, at + step * (len(out) - 1) + 1, step))
        yield offset, padded[tuple(cut)]
