"""Bounds of what tensors hold, whatever the inputs are: interval analysis over a primitive graph (Moore 1966).

They hold in real arithmetic; whoever relies on them leaves room for rounding. Where a dtype could overflow or vanish,
a bound becomes infinite or zero, so that nothing is concluded from a number that no machine would get.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf, isfinite, isnan, sqrt

import numpy as np

from korch.ir.evaluate import evaluate_primitive
from korch.ir.graph import Graph
from korch.ir.ops.sourced import fill_of
from korch.ir.ops.table import Array, Category
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor


@dataclass(frozen=True)
class Interval:
    """All values lie in [lo, hi]; infinite where nothing is known."""

    lo: float = -inf
    hi: float = inf

    @property
    def finite(self) -> bool:
        return isfinite(self.lo) and isfinite(self.hi)

    def __contains__(self, x: float) -> bool:
        return self.lo <= x <= self.hi

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo)

    def __add__(self, other: Interval) -> Interval:
        return Interval(_or(self.lo + other.lo, -inf), _or(self.hi + other.hi, inf))

    def __mul__(self, other: Interval) -> Interval:
        return hull(a * b if a and b else 0.0 for a in (self.lo, self.hi) for b in (other.lo, other.hi))


ANY = Interval()


def hull(values: Iterable[float]) -> Interval:
    """The smallest interval that has all of `values`; everything where one is no number."""
    found = [float(v) for v in values]
    return ANY if not found or any(map(isnan, found)) else Interval(min(found), max(found))


def ranges(graph: Graph) -> Mapping[Tensor, Interval]:
    """The bounds of all that `graph` computes, by the first producer of each tensor."""
    known = _Ranges(graph)
    for p in graph.primitives:
        if p.output not in known.found:
            known.found[p.output] = known.of_output(p)
    return known.found


def _or(x: float, otherwise: float) -> float:
    return otherwise if isnan(x) else x


@dataclass
class _Ranges:
    graph: Graph
    found: dict[Tensor, Interval] = field(default_factory=dict[Tensor, Interval])

    def of(self, t: Tensor) -> Interval:
        if t.const and t not in self.found:
            x = self.graph.constants[t.name]
            self.found[t] = hull((x.min(), x.max())) if x.size and x.dtype.kind in "fiub" else ANY
        return self.found.get(t, Interval(0, 1) if t.dtype == "bool" else ANY)

    def of_output(self, p: Primitive) -> Interval:
        if not p.output.is_float or not p.output.size:
            return ANY
        return _kept(_rule_of(p)(self, p), p.output.dtype)

    def made(self, t: Tensor, *ops: str) -> Primitive | None:
        """The first producer of `t`, if it is one of `ops`."""
        p = next(iter(self.graph.producers.get(t, ())), None)
        return p if p and p.op in ops else None

    def weights(self, t: Tensor) -> Array:
        return self.graph.constants[t.name]


def _kept(x: Interval, dtype: str) -> Interval:
    """`x` without bounds that `dtype` cannot hold."""
    info = np.finfo(dtype)
    most, least = float(info.max) / 2, float(info.tiny)
    lo = -inf if x.lo < -most else min(x.lo, most) if not 0 < x.lo < least else 0.0
    hi = inf if x.hi > most else max(x.hi, -most) if not -least < x.hi < 0 else 0.0
    return Interval(lo, hi)


# Elementwise -----------------------------------------------------------------------------------------------------


def _increasing(r: _Ranges, p: Primitive) -> Interval:
    """Between the values at the ends, by the operator's own definition."""
    x = r.of(p.inputs[0])
    ends = [max(x.lo, 0.0), max(x.hi, 0.0)] if p.op in ("Log", "Sqrt") else [x.lo, x.hi]
    t = Tensor("ends", "float64", (2,))
    return hull(evaluate_primitive(replace(p, inputs=(t,), output=t), [np.asarray(ends, np.float64)]))


def _leaky_relu(r: _Ranges, p: Primitive) -> Interval:
    return _increasing(r, p) if p.attr("alpha") > 0 else ANY


def _abs(x: Interval) -> Interval:
    return Interval(0.0 if 0 in x else min(abs(x.lo), abs(x.hi)), max(abs(x.lo), abs(x.hi)))


def _square(x: Interval) -> Interval:
    return _abs(x) * _abs(x)


def _reciprocal(x: Interval) -> Interval:
    return ANY if 0 in x else Interval(1 / x.hi, 1 / x.lo)


def _sub(r: _Ranges, p: Primitive) -> Interval:
    a, b = p.inputs
    return Interval(0, 0) if a == b else r.of(a) + -r.of(b)


def _mul(r: _Ranges, p: Primitive) -> Interval:
    a, b = p.inputs
    if a == b:
        return _square(r.of(a))
    return _normalised(r, a, b) or _normalised(r, b, a) or r.of(a) * r.of(b)


def _div(r: _Ranges, p: Primitive) -> Interval:
    a, b = p.inputs
    if r.of(a).lo >= 0 and _is_at_least_sum(r, b, a):
        return Interval(0, 1)
    n = _deviations(r, a, b)
    return _around_zero(n) if n else r.of(a) * _reciprocal(r.of(b))


def _pow(r: _Ranges, p: Primitive) -> Interval:
    return _square(r.of(p.inputs[0])) if p.inputs[1].value == 2 else ANY


def _is_at_least_sum(r: _Ranges, total: Tensor, x: Tensor) -> bool:
    """Whether `total` is the sum of `x` along some axes, or no less."""
    p = r.made(total, "ReduceSum", "Max")
    if p and p.spec.picks:
        return any(r.made(t, "ReduceSum") and _is_at_least_sum(r, t, x) for t in p.inputs)
    return p is not None and p.inputs[0] == x and bool(p.attr("keepdims"))


# Normalisation: of n values none lies further than sqrt(n - 1) deviations from their mean (Samuelson 1968) --------


def _around_zero(bound: float) -> Interval:
    return Interval(-bound, bound)


def _normalised(r: _Ranges, centred: Tensor, by: Tensor) -> Interval | None:
    """(x - mean x) / deviation, perhaps with a factor at the inverse of the deviation."""
    scaled = r.made(by, "Mul")
    for inverse, factor in ((by, None), *((scaled.inputs, scaled.inputs[::-1]) if scaled else ())):
        p = r.made(inverse, "Reciprocal")
        bound = _deviations(r, centred, p.inputs[0]) if p else None
        if bound is not None:
            return _around_zero(bound) * (r.of(factor) if factor else Interval(1, 1))
    return None


def _deviations(r: _Ranges, centred: Tensor, deviation: Tensor) -> float | None:
    """How many times `deviation` may `centred` be: sqrt(n - 1) where the one belongs to the other."""
    root, less = r.made(deviation, "Sqrt"), r.made(centred, "Sub")
    mean = r.made(less.inputs[1], "ReduceMean") if less else None
    if not root or not less or not mean or mean.inputs[0] != less.inputs[0] or not mean.attr("keepdims"):
        return None
    more = r.made(root.inputs[0], "Add")
    for t in (root.inputs[0], *(t for t in (more.inputs if more else ()) if _rest_is_positive(r, more, t))):
        v = r.made(t, "ReduceMean")
        square = r.made(v.inputs[0], "Mul") if v and v.attrs == mean.attrs else None
        if square and square.inputs == (centred, centred):
            return sqrt(max(mean.inputs[0].size // mean.output.size - 1, 0))
    return None


def _rest_is_positive(r: _Ranges, more: Primitive | None, t: Tensor) -> bool:
    return more is not None and all(r.of(other).lo >= 0 for other in more.inputs if other != t)


# Moves and reductions ----------------------------------------------------------------------------------------------


def _first(r: _Ranges, p: Primitive) -> Interval:
    return r.of(p.inputs[0])


def _sourced(r: _Ranges, p: Primitive) -> Interval:
    """Of elements of the input, and of the number that may take their place."""
    x, fill = r.of(p.inputs[0]), fill_of(p)
    return x if fill is None else _union(x, Interval(fill, fill))


def _union(*parts: Interval) -> Interval:
    return hull(v for x in parts for v in (x.lo, x.hi))


def _pad(r: _Ranges, p: Primitive) -> Interval:
    x, value = r.of(p.inputs[0]), float(p.attr("value"))
    return _union(x, Interval(value, value)) if p.attr("mode") == "constant" else x


def _average_pool(r: _Ranges, p: Primitive) -> Interval:
    x = r.of(p.inputs[0])
    return _union(x, Interval(0, 0)) if p.attr("count_include_pad") else x


def _reduce_sum(r: _Ranges, p: Primitive) -> Interval:
    n = p.inputs[0].size // p.output.size
    return r.of(p.inputs[0]) * Interval(n, n)


def _scatter(r: _Ranges, p: Primitive) -> Interval:
    x, _, updates = p.inputs
    return _union(r.of(x), r.of(updates)) if p.attr("reduction") in ("none", "max", "min") else ANY


# Linear ------------------------------------------------------------------------------------------------------------


def _weighted(x: Interval, w: Array, partial: bool) -> Interval:
    """Of sums of x's with a row of `w`; `partial` where terms may be missing (outside of the input)."""
    if not x.finite or not w.size:
        return ANY
    x = _union(x, Interval(0, 0)) if partial else x
    above, below = (np.clip(w, *ends).sum(1, dtype=np.float64) for ends in ((0, None), (None, 0)))
    return hull(((above * x.lo + below * x.hi).min(), (above * x.hi + below * x.lo).max()))


def _matmul(r: _Ranges, p: Primitive) -> Interval:
    a, b = p.inputs
    n = a.shape[-1]
    if b.const and not a.const:
        return _weighted(r.of(a), r.weights(b).swapaxes(-1, -2).reshape(-1, n), False) if r.of(a).finite else ANY
    if a.const and not b.const:
        return _weighted(r.of(b), r.weights(a).reshape(-1, n), False) if r.of(b).finite else ANY
    return r.of(a) * r.of(b) * Interval(n, n)


def _conv(r: _Ranges, p: Primitive) -> Interval:
    x, w = p.inputs
    if not w.const or not r.of(x).finite:
        return ANY
    return _weighted(r.of(x), r.weights(w).reshape(w.shape[0], -1), any(p.attr("pads")))


def _conv_transpose(r: _Ranges, p: Primitive) -> Interval:
    x, w = p.inputs
    if not w.const or not r.of(x).finite:
        return ANY
    g = p.attr("group")
    grouped = r.weights(w).reshape(g, w.shape[0] // g, w.shape[1], -1)
    return _weighted(r.of(x), grouped.swapaxes(1, 2).reshape(g * w.shape[1], -1), True)


def _interpolate(r: _Ranges, p: Primitive) -> Interval:
    return _weighted(r.of(p.inputs[0]), np.asarray(p.attr("weights"), np.float64).reshape(-1, p.attr("taps")), False)


_Rule = Callable[[_Ranges, Primitive], Interval]
_RULES: dict[str, _Rule] = {
    "LeakyRelu": _leaky_relu, "Gather": _first,
    **dict.fromkeys(("Sin", "Cos"), lambda r, p: Interval(-1, 1)),
    "Neg": lambda r, p: -r.of(p.inputs[0]), "Abs": lambda r, p: _abs(r.of(p.inputs[0])),
    "Reciprocal": lambda r, p: _reciprocal(r.of(p.inputs[0])),
    "Add": lambda r, p: r.of(p.inputs[0]) + r.of(p.inputs[1]), "Sub": _sub, "Mul": _mul, "Div": _div, "Pow": _pow,
    "Max": lambda r, p: Interval(max(r.of(t).lo for t in p.inputs), max(r.of(t).hi for t in p.inputs)),
    "Min": lambda r, p: Interval(min(r.of(t).lo for t in p.inputs), min(r.of(t).hi for t in p.inputs)),
    "Where": lambda r, p: _union(*map(r.of, p.inputs[1:])), "Concat": lambda r, p: _union(*map(r.of, p.inputs)),
    "Pad": _pad, "AveragePool": _average_pool, "ReduceSum": _reduce_sum,
    "Scatter": _scatter,
    "MatMul": _matmul, "Conv": _conv, "ConvTranspose": _conv_transpose, "Interpolate": _interpolate,
}  # fmt: skip
"""The range that follows from an operator's name."""


def _rule_of(p: Primitive) -> _Rule:
    """By the operator's name, or by what the table says of it; nothing is known of the rest."""
    spec = p.spec
    if p.op in _RULES:
        return _RULES[p.op]
    if spec.increasing:
        return _increasing
    same = spec.is_view or spec.casts or spec.takes
    if same or (p.category is Category.REDUCE and (spec.picks or spec.averages)):
        return _first
    return _sourced if spec.source else lambda r, p: ANY
