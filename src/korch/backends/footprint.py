"""What a cone must move and compute at least: the ground of every backend's lower bound."""

from __future__ import annotations

import math

from korch.ir.cone import Cone
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor


def footprint(cone: Cone) -> tuple[float, dict[Primitive, float]]:
    """(compulsory bytes, elements each primitive computes at least): each leaf read once as far as it is needed."""
    needed: dict[Tensor, float] = {cone.root: float(cone.root.size)}
    computed: dict[Primitive, float] = {}
    for p in reversed(cone.primitives):
        out = needed.get(p.output, 0.0)
        computed[p] = max(out, _arithmetic(p, out))
        for t in p.inputs:
            needed[t] = max(needed.get(t, 0.0), _read(p, t, out))
    moved = sum(needed.get(t, 0.0) * t.nbytes / max(t.size, 1) for t in cone.leaves)
    return moved + cone.root.nbytes, computed


def _read(p: Primitive, t: Tensor, out: float) -> float:
    """Elements of `t` that `out` elements of the output need at least."""
    if p.op == "Conv" and t == p.inputs[0]:
        return seen_by_windows(p) * t.size * out / max(p.output.size, 1)
    if p.op == "Interpolate":
        return len(set(p.attr("indices"))) / t.shape[p.attr("axis")] * t.size * out / max(p.output.size, 1)
    if p.category in (Category.REDUCE, Category.LINEAR) and p.op not in ("MaxPool", "AveragePool"):
        return t.size * out / max(p.output.size, 1)
    if p.op == "Concat":
        return t.size * out / max(p.output.size, 1)
    if p.op in ("MaxPool", "AveragePool"):
        each = math.prod(map(min, p.attr("strides"), p.attr("kernel_shape")))
        return min(t.size, out * each)
    return min(t.size, out)


def seen_by_windows(p: Primitive) -> float:
    """The share of its image that a convolution reads: windows may move further than they are wide."""
    return math.prod(min(1.0, n / step) for n, step in zip(p.inputs[1].shape[2:], p.attr("strides"), strict=True))


def _arithmetic(p: Primitive, out: float) -> float:
    """Element operations: a reduction touches what it reads, a window all of its taps."""
    if p.op in ("MaxPool", "AveragePool"):
        return out * math.prod(p.attr("kernel_shape"))
    if p.op == "Scatter":
        return p.inputs[2].size * out / max(p.output.size, 1)
    if p.category is Category.REDUCE:
        return p.inputs[0].size * out / max(p.output.size, 1)
    return out
