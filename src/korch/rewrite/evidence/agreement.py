"""Whether all producers of a tensor compute the same value: exactly over a finite field, or in float64."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np

from korch.ir.evaluate import evaluate_primitive
from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.exact.field import DOUBLE, SINGLE, simplest

V = TypeVar("V")
CLOSE = 1e-9
"""Of the largest magnitude: float64 leaves 1e-16 a step, samples have at most thousands of terms a sum."""


class Arithmetic(Protocol[V]):
    """What graphs can be evaluated in."""

    def input(self, t: Tensor) -> V: ...
    def constant(self, t: Tensor, x: Array) -> V: ...
    def evaluate(self, p: Primitive, inputs: Sequence[V]) -> V: ...
    def same(self, a: V, b: V) -> bool: ...


@dataclass(frozen=True)
class Disagreement:
    """Two producers of one tensor that compute different values of it."""

    first: Primitive
    other: Primitive

    def __str__(self) -> str:
        rule = f" (by {self.other.rule})" if self.other.rule else ""
        return f"{self.first}\ndiffers from{rule}\n{self.other}"


def disagreements(graph: Graph, arithmetic: Arithmetic[V]) -> list[Disagreement]:
    """The producers that compute another value than the first one of their tensor, at one random point.

    Every producer reads the values of the first producers, so where none disagrees, all selections of the graph,
    however they mix, give the same outputs.

    With the arithmetic of a `Field` a pass is a proof with a small chance of error. Where both sides are rational
    functions of degree up to d and differ, they agree at a random point of Z_P with probability at most d / P
    (Schwartz and Zippel), so below 1e-6 for every d < 2000, and r points with independent seeds make that its r-th
    power. Under exponentials the bound is Mirage's (theorem 3), for g of order Q > 2^29. Where k values are
    compared (Max, Relu), a wrong rule must fail for some order of them, which a random order is with probability
    1 / k! at least, for every element of the tensor anew.
    """
    values: dict[Tensor, V] = {t: arithmetic.input(t) for t in graph.inputs}
    first: dict[Tensor, Primitive] = {}
    found: list[Disagreement] = []
    waiting = list(graph.primitives)
    while ready := [p for p in waiting if all(t.const or t in values for t in p.inputs)]:
        waiting = [p for p in waiting if p not in set(ready)]
        for p in ready:
            y = arithmetic.evaluate(p, [_read(t, values, graph, arithmetic) for t in p.inputs])
            if p.output not in values:
                values[p.output], first[p.output] = y, p
            elif not arithmetic.same(values[p.output], y):
                found.append(Disagreement(first.get(p.output, p), p))
    if waiting:
        raise ValueError(f"{waiting[0]}: nothing makes its inputs")
    return found


def _read(t: Tensor, values: dict[Tensor, V], graph: Graph, arithmetic: Arithmetic[V]) -> V:
    if t not in values:
        values[t] = arithmetic.constant(t, graph.constants[t.name])
    return values[t]


@dataclass(frozen=True)
class Reals:
    """float64, with constants freed of their rounding where they are simple fractions."""

    seed: int = 0
    rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rng", np.random.default_rng(self.seed))

    def input(self, t: Tensor) -> Array:
        """A random value of t's kind."""
        if t.is_float:
            return self.rng.standard_normal(t.shape)
        return self.rng.integers(0, 2 if t.dtype == "bool" else 100, t.shape).astype(t.dtype)

    def constant(self, t: Tensor, x: Array) -> Array:
        if not t.is_float or not np.isfinite(x).all():
            return x
        values, where = np.unique(x, return_inverse=True)
        tolerance = DOUBLE if t.dtype == "float64" else SINGLE
        near = [float(simplest(v, tolerance) or v) for v in values.tolist()]
        return np.asarray(near)[where].reshape(x.shape)

    def evaluate(self, p: Primitive, inputs: Sequence[Array]) -> Array:
        return evaluate_primitive(p, inputs)

    def same(self, a: Array, b: Array) -> bool:
        """Equal up to float64's own rounding; NaN and infinities where the other has them."""
        if a.shape != b.shape:
            return False
        finite = np.abs(a[np.isfinite(a)]) if a.dtype.kind == "f" else np.abs(a.astype(np.float64))
        return np.allclose(a, b, rtol=CLOSE, atol=CLOSE * finite.max(initial=0.0), equal_nan=True)
