"""Constant factors vanish into the weights before them, constant summands into one another.

So a BatchNormalization behind a Conv leaves new weights and one bias. New constants are computed in float64
and rounded once. A value that others read too, or that the model gives out, stays as it is; so do two constants
that would become one which their dtype does not reach.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from korch.ir.builder import Builder, Value
from korch.ir.constants import Constants, Derived, Folded
from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor

MOVES = frozenset({"Reshape", "Transpose", "Slice", "Expand", "Gather", "Interpolate"})
"""A number may be multiplied in before these as well as behind them."""

SMALL = 1 << 16
"""Constants up to this size are remembered unrounded: biases are folded several times, weights are large."""


def fold(graph: Graph) -> Graph:
    """A choice-free graph of the same value, constants folded where linear primitives allow it."""
    walk = _Fold(graph)
    for p in graph.primitives:
        walk.add(p)
    ends = [walk.value(t) for t in graph.outputs]
    return walk.builder.graph(list(zip(graph.output_names, ends, strict=True)))


class _Fold:
    """The graph being built again; `uses` counts who reads a value, `exact` holds constants before rounding."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.builder = Builder(graph.name)
        self.values = {t: self.builder.input(t.name, t.dtype, t.shape) for t in graph.inputs}
        self.builder.reserve(graph.output_names)
        self.uses: Counter[Tensor] = Counter()
        self.exact: dict[Tensor, Array] = {}

    def value(self, t: Tensor) -> Value:
        """The new value of a tensor of the old graph."""
        if t not in self.values:
            self.values[t] = self._constant(t)
        return self.values[t]

    def _constant(self, t: Tensor) -> Value:
        given = self.graph.constants
        entry = given.entry(t.name) if isinstance(given, Constants) else given[t.name]
        if isinstance(entry, Derived):
            return self.builder.derived(entry, t, t.name)
        return self.builder.constant(entry, name=t.name)

    def add(self, p: Primitive) -> None:
        """Computes p's output anew."""
        self.builder.origin, self.builder.rule, self.builder.error = p.origin, p.rule, p.error
        inputs = tuple(self.value(t) for t in p.inputs)
        new = self._folded(p, inputs) or self._reused(self.builder.op(p.op, *inputs, **dict(p.attrs)), *inputs)
        self.values[p.output] = new
        self.uses[new.tensor] += len(self.graph.consumers.get(p.output, ())) + self.graph.outputs.count(p.output)

    def _folded(self, p: Primitive, inputs: tuple[Value, ...]) -> Value | None:
        if p.op not in ("Add", "Sub", "Mul", "Div") or not p.output.is_float:
            return None
        x, c = inputs if inputs[1].tensor.const else inputs[::-1]
        swapped = x is not inputs[0]
        if not c.tensor.const or x.tensor.const or x.shape != p.output.shape or (swapped and p.op in ("Sub", "Div")):
            return None
        number = self._wide(c)
        match p.op:
            case "Add" | "Sub":
                return self._shifted(x, number if p.op == "Add" else -number)
            case _:
                with np.errstate(all="ignore"):
                    factor = number if p.op == "Mul" else 1 / number
                return self._scaled(x, factor) if np.isfinite(factor).all() else None

    def _shifted(self, x: Value, summand: Array) -> Value:
        """x + summand, in one Add where x is something plus a constant already."""
        y, c = self._with_constant(x, "Add") or (x, None)
        total = None if c is None or _grow(c.shape, summand.shape) else self._wide(c) + summand
        if total is not None and _overflows(x.dtype, total).any():
            total = None
        if total is None:
            return self._reused(x + self._rounded(summand, x.dtype), x)
        self.uses[x.tensor] -= 1  # its one reader reads y now; an equal sum may come up again
        return self._reused(y + self._rounded(total, x.dtype), y)

    def _reused(self, new: Value, *read: Value) -> Value:
        """`new`; where it is one of the values that were to be read for it, nothing reads that one for it."""
        if new.tensor in (v.tensor for v in read):
            self.uses[new.tensor] -= 1
        return new

    def _scaled(self, x: Value, factor: Array) -> Value | None:
        """x * factor without a multiplication, if what computes x can take the factor in."""
        if x.tensor.const:
            array = self._wide(x) * factor
            return self._rounded(array, x.dtype) if _holds(x.dtype, array, _faint(factor)) else None
        p = self.builder.producer(x)
        if p is None or self.uses[x.tensor] != 1:
            return None
        y = self._scaled_by(x, p, factor)
        if y is not None:
            self.uses[x.tensor] -= 1  # its one reader reads y now; an equal value may come up again
        return y

    def _scaled_by(self, x: Value, p: Primitive, factor: Array) -> Value | None:
        """`_scaled` for what `p` computes."""
        match p.op:
            case "Conv" | "ConvTranspose" | "MatMul":
                return self._scaled_linear(x, p, factor)
            case "Add":
                return self._scaled_sum(x, factor)
            case "Mul":
                return self._scaled_product(x, factor)
            case _ if p.op in MOVES and factor.size == 1:
                y = self._scaled_inside(Value(self.builder, p.inputs[0]), factor.reshape(()))
                return None if y is None else self.builder.op(p.op, y, **dict(p.attrs))
            case _:
                return None

    def _scaled_inside(self, x: Value, factor: Array) -> Value | None:
        """`_scaled` for a value with one reader, itself about to be built."""
        y = self._scaled(x, factor)
        if y is not None:
            self.uses[y.tensor] += 1
        return y

    def _scaled_sum(self, x: Value, factor: Array) -> Value | None:
        """(y + c) * f = y * f + c * f."""
        inner = self._with_constant(x, "Add")
        if inner is None:
            return None
        summand = _fitting(x.dtype, self._wide(inner[1]), factor)
        y = None if summand is None else self._scaled_inside(inner[0], factor)
        return None if y is None or summand is None else y + self._rounded(summand, x.dtype)

    def _scaled_product(self, x: Value, factor: Array) -> Value | None:
        """(y * c) * f = y * (c * f)."""
        inner = self._with_constant(x, "Mul")
        if inner is None:
            return None
        total = _fitting(x.dtype, self._wide(inner[1]), factor)
        return None if total is None else self._reused(inner[0] * self._rounded(total, x.dtype), inner[0])

    def _scaled_linear(self, x: Value, p: Primitive, factor: Array) -> Value | None:
        """The factor goes into constant weights; a number into either side of a product."""
        sides = [Value(self.builder, t) for t in p.inputs]
        for i in (1, 0):
            new: Value | None = None
            if sides[i].tensor.const:
                if p.op == "MatMul" and isinstance(self.builder.constants.entry(sides[i].tensor.name), Folded):
                    return None  # a rewrite may read its narrow sources instead
                weights = self._weights(p, i, factor)
                new = None if weights is None else self._rounded(weights, x.dtype)
            elif factor.size == 1:
                new = self._scaled_inside(sides[i], factor.reshape(()))
            if new is not None:
                sides[i] = new
                return self.builder.op(p.op, *sides, **dict(p.attrs))
        return None

    def _weights(self, p: Primitive, side: int, factor: Array) -> Array | None:
        """The constant on one side of a linear primitive times the factor of its output, if its dtype holds that."""
        old = self._wide(Value(self.builder, p.inputs[side]))
        new = _scaled_weights(p, side, old, factor)
        if new is None:
            return None
        faint = np.zeros((), bool)
        if _faint(factor).any():  # else a mask of the weights' size would be made for nothing
            faint = _scaled_weights(p, side, np.ones(old.shape), _faint(factor).astype(np.float64)) == 1
        return new if _holds(p.output.dtype, new, faint, _summed(p, side)) else None

    def _with_constant(self, x: Value, op: str) -> tuple[Value, Value] | None:
        """x as (value, constant) joined by `op`, if only one reads x."""
        p = self.builder.producer(x)
        if p is None or p.op != op or self.uses[x.tensor] != 1:
            return None
        y, c = p.inputs if p.inputs[1].const else p.inputs[::-1]
        return (Value(self.builder, y), Value(self.builder, c)) if c.const and y.shape == x.shape else None

    def _wide(self, c: Value) -> Array:
        """A constant in float64, before it was rounded."""
        array = self.exact.get(c.tensor)
        return self.builder.constants[c.tensor.name].astype(np.float64) if array is None else array

    def _rounded(self, array: Array, dtype: str) -> Value:
        v = self.builder.constant(array.astype(dtype))
        if array.size <= SMALL:
            self.exact.setdefault(v.tensor, array)
        return v


def _grow(*shapes: tuple[int, ...]) -> bool:
    """Whether arrays of these shapes broadcast to one that is larger than each of them."""
    return math.prod(np.broadcast_shapes(*shapes)) > max(map(math.prod, shapes))


def _fitting(dtype: str, array: Array, factor: Array) -> Array | None:
    """`array` times `factor`, unless `dtype` does not hold it or broadcasting makes it larger than both of them."""
    if _grow(array.shape, factor.shape):
        return None
    product = array * factor
    return product if _holds(dtype, product, _faint(factor)) else None


def _faint(factor: Array) -> Array:
    """Where it is below what float32 holds as a normal number: weight decay has left nothing there."""
    return np.abs(factor) < np.finfo(np.float32).tiny


def _overflows(dtype: str, array: Array) -> Array:
    """Where a finite number of `array` is infinite in `dtype`."""
    with np.errstate(all="ignore"):
        return np.isfinite(array) & ~np.isfinite(array.astype(dtype))


def _holds(dtype: str, array: Array, faint: Array, summed: tuple[int, ...] = ()) -> bool:
    """Whether in `dtype` no finite number of `array` becomes infinite and none but zero becomes zero, where it is not
    `faint`. Numbers along the axes `summed` are summed up: there one may vanish that is less than the greatest one's
    rounding."""
    if not array.size:
        return True
    size = np.abs(array)
    with np.errstate(all="ignore"):
        least = size.max(axis=summed, keepdims=True) * np.finfo(dtype).eps
        vanish = (array.astype(dtype) == 0) & (size > least) & ~faint
    return not (_overflows(dtype, array) | vanish).any()


def _summed(p: Primitive, side: int) -> tuple[int, ...]:
    """The axes of a linear primitive's weights over which one output sums."""
    if p.op == "MatMul":
        return (-2,) if side else (-1,)
    if side == 0:
        return ()
    kernel = tuple(range(2, p.inputs[1].rank))
    inner = 1 if p.op == "Conv" else 0
    return kernel if p.op == "ConvTranspose" and p.attr("group") != 1 else (inner, *kernel)


def _scaled_weights(p: Primitive, side: int, weights: Array, factor: Array) -> Array | None:
    """Weights of a linear primitive that make its output `factor` times as large; None if there are none."""
    rank = p.output.rank
    shape = (1,) * (rank - factor.ndim) + factor.shape
    varying = [i for i, n in enumerate(shape) if n != 1]
    if not varying:
        return weights * factor.reshape(())
    if p.op == "MatMul":
        axis, at = (rank - 1, (-1,)) if side else (rank - 2, (-1, 1))
        return weights * factor.reshape(at) if varying == [axis] else None
    axis = rank - 1 if p.attr("channels_last") else 1
    if side == 0 or varying != [axis]:
        return None
    kernel = (1,) * (weights.ndim - 2)
    if p.op == "Conv":
        return weights * factor.reshape(-1, 1, *kernel)
    group = p.attr("group")
    split = weights.reshape(group, -1, *weights.shape[1:])
    return (split * factor.reshape(group, 1, weights.shape[1], *kernel)).reshape(weights.shape)
