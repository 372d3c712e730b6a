"""What each primitive means over a finite field, by its own reference evaluator wherever that can be.

- *Moves* (layout, broadcast, Where): the reference on residues themselves.
- *Sums of products* (MatMul, Conv): the reference on 16-bit digits, which float64 holds exactly.
- *Linear maps* of one input (AveragePool, Winograd's and Strassen's transforms): the matrix that the reference has,
  its coefficients read as the simple numbers that they round.
- *Comparisons* (Max, Relu, MaxPool): the reference on ranks in a random order of the field. An order is all they know.
- exp takes sums to products; Sigmoid, Tanh and their kin are made of it. Any other function is *uninterpreted*: equal
  operands give equal results, and nothing else is known.

So what holds here needs no more than the laws of a field, of a total order and of exp, and holds for real numbers too.
What needs more (Relu(2x) = 2 Relu(x), max(a + c, b + c) = max(a, b) + c, sqrt(x)^2 = x) looks different here: a
disagreement under such functions is no proof of a mistake.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from korch.ir.evaluate import evaluate_primitive
from korch.ir.ops.sourced import fill_of
from korch.ir.ops.table import Array, Category, Shape, whole
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.exact.field import DOUBLE, P, Q, product, residue, residue_array
from korch.rewrite.exact.residues import Residues, bilinear, each, exponential, number, scrambled, uninterpreted

ExactValue = Residues | Array
"""Residues for floats, plain arrays for bools and integers."""

FUNCTIONS = (
    "Log",
    "Sqrt",
    "Erf",
    "Sign",
    "Floor",
    "Ceil",
    "Round",
    "Sin",
    "Cos",
    "Tan",
    "Asin",
    "Acos",
    "Atan",
    "Asinh",
    "Acosh",
    "Atanh",
    "Mod",
)
MIDDLE = np.uint64(2**63)


class Beyond(Exception):
    """The field has no meaning for a primitive."""


@dataclass(frozen=True)
class Field:
    """One random interpretation: inputs, the base of exp, the order and the functions follow from `seed`."""

    seed: int = 0
    rng: np.random.Generator = field(init=False)
    base: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rng", np.random.default_rng(self.seed))
        object.__setattr__(self, "base", int(self.rng.integers(2, P - 1)) ** 2 % P)  # squares have order Q

    def input(self, t: Tensor) -> ExactValue:
        """A random value of t's kind."""
        if not t.is_float:
            return self.rng.integers(0, 2 if t.dtype == "bool" else 100, t.shape).astype(t.dtype)
        return Residues(self.rng.integers(0, P, t.shape), self.rng.integers(0, Q, t.shape))

    def constant(self, t: Tensor, x: Array) -> ExactValue:
        """The value of a constant, free of its rounding where it is a simple number."""
        if not t.is_float:
            return x
        if not np.isfinite(x).all():
            raise Beyond(f"{t.name} is not finite")
        return Residues(residue_array(x, P), residue_array(x, Q))

    def same(self, a: ExactValue, b: ExactValue) -> bool:
        if isinstance(a, Residues) and isinstance(b, Residues):
            return a.same(b)
        return not isinstance(a, Residues) and not isinstance(b, Residues) and np.array_equal(a, b)

    def evaluate(self, p: Primitive, inputs: Sequence[ExactValue]) -> ExactValue:
        """p's output."""
        if not any(isinstance(x, Residues) for x in inputs) and not p.output.is_float:
            return evaluate_primitive(p, [x for x in inputs if not isinstance(x, Residues)])
        if p.spec.moves and not p.spec.takes:
            return _moved(p, inputs)
        if not all(isinstance(x, Residues) for x in inputs):
            raise Beyond(f"{p.op} of {', '.join(t.dtype for t in p.inputs)} has no meaning in a field")
        return self._of_floats(p, [x for x in inputs if isinstance(x, Residues)])

    def _of_floats(self, p: Primitive, inputs: Sequence[Residues]) -> ExactValue:
        if p.spec.is_bilinear:
            return bilinear(lambda a, b: evaluate_primitive(p, [a, b]), *inputs)
        if p.spec.orders:
            return self._compared(p, inputs)
        if meaning := _MEANINGS.get(p.op):
            return meaning(self, p, inputs)
        if p.op in FUNCTIONS:
            return uninterpreted(self.salt(p.op, p.attrs), *inputs)
        if (p.spec.is_pool and p.spec.averages) or (p.category is Category.LINEAR and len(inputs) == 1):
            return each(lambda m, x: _mapped(p, x, m), inputs[0])
        if p.spec.casts and p.output.is_float:
            return inputs[0]
        raise Beyond(f"{p.op} has no meaning in a field")

    def salt(self, *what: object) -> int:
        """A number of this interpretation for a function's name."""
        return zlib.crc32(repr(what).encode()) + (self.seed << 32)

    def exp(self, x: Residues) -> Residues:
        """Of a value behind another exponential no more is known than that equals have equal exponentials."""
        exponents = x.q if x.q is not None else (scrambled(self.salt("exp"), x.p) % np.uint64(Q)).astype(np.int64)
        return exponential(exponents, self.base)

    def positive(self, x: Residues) -> Array:
        """Which elements come after zero in the order."""
        return self.keys(x) > MIDDLE

    def keys(self, x: Residues) -> Array:
        """Where elements stand in the order: zero in the middle, everything else anywhere."""
        parts = [x.p] if x.q is None else [x.p, x.q]
        zero = np.logical_and.reduce([part == 0 for part in parts])
        return np.where(zero, MIDDLE, scrambled(self.salt("order"), *parts))

    def _compared(self, p: Primitive, inputs: Sequence[Residues]) -> ExactValue:
        known = all(x.q is not None for x in inputs)
        inputs = inputs if known else [Residues(x.p, None) for x in inputs]
        keys = np.concatenate([self.keys(x).reshape(-1) for x in inputs])
        _, first, ranks = np.unique(keys, return_index=True, return_inverse=True)
        ends = np.cumsum([x.p.size for x in inputs])[:-1]
        parts = [r.reshape(x.shape) for r, x in zip(np.split(ranks, ends), inputs, strict=True)]
        result = evaluate_primitive(p, [r.astype(np.float64) for r in parts])
        if not p.output.is_float:
            return result
        if not np.isfinite(result).all():
            raise Beyond(f"{p.op} has windows outside its input")
        chosen = first[result.astype(np.int64)]

        def choose(_: int, *xs: Array) -> Array:
            return np.concatenate([x.reshape(-1) for x in xs])[chosen]

        return each(choose, *inputs)


# Arithmetic ------------------------------------------------------------------------------------------------------


def _sigmoid(f: Field, x: Residues) -> Residues:
    one = number(1)
    return one / (one + f.exp(-x))


def _tanh(f: Field, x: Residues) -> Residues:
    one, e = number(1), f.exp(x + x)
    return (e - one) / (e + one)


def _relu(f: Field, p: Primitive, inputs: Sequence[Residues]) -> Residues:
    above = f.positive(inputs[0])
    return each(lambda m, x: np.where(above, x, 0), inputs[0])


def _leaky_relu(f: Field, p: Primitive, inputs: Sequence[Residues]) -> Residues:
    above, alpha = f.positive(inputs[0]), p.attr("alpha")
    return each(lambda m, x: np.where(above, x, x * residue(float(alpha), m, DOUBLE) % m), inputs[0])


def _pow(f: Field, p: Primitive, inputs: Sequence[Residues]) -> Residues:
    exponent = p.inputs[1].value
    if exponent is not None and exponent == int(exponent) and inputs[1].p.size == 1:
        return inputs[0] ** int(exponent)
    if exponent == 0.5:
        return uninterpreted(f.salt("Sqrt", ()), inputs[0])
    return uninterpreted(f.salt("Pow"), *inputs)


def _reduce_sum(f: Field, p: Primitive, inputs: Sequence[Residues]) -> Residues:
    return each(lambda m, x: evaluate_primitive(replace(p, op="ReduceSum"), [x]) % m, inputs[0])


def _reduce_mean(f: Field, p: Primitive, inputs: Sequence[Residues]) -> Residues:
    return _reduce_sum(f, p, inputs) / number(p.inputs[0].size // max(p.output.size, 1))


def _reduce_product(f: Field, p: Primitive, inputs: Sequence[Residues]) -> Residues:
    axes, kept = p.attr("axes"), p.output.shape

    def multiply(m: int, x: Array) -> Array:
        flat = np.moveaxis(x, axes, range(len(axes)))
        flat = flat.reshape(-1, *flat.shape[len(axes) :])
        result = np.ones(flat.shape[1:], np.int64)
        for part in flat:
            result = result * part % m
        return result.reshape(kept)

    return each(multiply, inputs[0])


def _interpolate(f: Field, p: Primitive, inputs: Sequence[Residues]) -> Residues:
    axis, taps = p.attr("axis"), p.attr("taps")
    indices = np.asarray(p.attr("indices"), np.int64).reshape(-1, taps)
    shape = [-1 if i == axis else 1 for i in range(p.output.rank)]

    def interpolated(m: int, x: Array) -> Array:
        shares = residue_array(np.asarray(p.attr("weights"), np.float64).reshape(-1, taps), m)
        parts = [np.take(x, indices[:, j], axis) * shares[:, j].reshape(shape) % m for j in range(taps)]
        return sum(parts[1:], parts[0]) % m

    return each(interpolated, inputs[0])


Meaning = Callable[[Field, Primitive, Sequence[Residues]], Residues]
_MEANINGS: dict[str, Meaning] = {
    "Add": lambda f, p, x: x[0] + x[1], "Sub": lambda f, p, x: x[0] - x[1], "Mul": lambda f, p, x: x[0] * x[1],
    "Div": lambda f, p, x: x[0] / x[1], "Neg": lambda f, p, x: -x[0], "Reciprocal": lambda f, p, x: number(1) / x[0],
    "Exp": lambda f, p, x: f.exp(x[0]), "Sigmoid": lambda f, p, x: _sigmoid(f, x[0]),
    "Tanh": lambda f, p, x: _tanh(f, x[0]),
    "Sinh": lambda f, p, x: (f.exp(x[0]) - f.exp(-x[0])) / number(2),
    "Cosh": lambda f, p, x: (f.exp(x[0]) + f.exp(-x[0])) / number(2),
    "Softplus": lambda f, p, x: uninterpreted(f.salt("Log", ()), number(1) + f.exp(x[0])),
    "Abs": lambda f, p, x: uninterpreted(f.salt("Abs"), x[0] * x[0]),
    "Relu": _relu, "LeakyRelu": _leaky_relu, "Pow": _pow, "ReduceSum": _reduce_sum, "ReduceMean": _reduce_mean,
    "ReduceProd": _reduce_product, "Interpolate": _interpolate,
}  # fmt: skip


# Moves ------------------------------------------------------------------------------------------------------------


def _moved(p: Primitive, inputs: Sequence[ExactValue]) -> ExactValue:
    def move(m: int) -> Array:
        parts = [(x.p if m == P else x.q) if isinstance(x, Residues) else x for x in inputs]
        return evaluate_primitive(_filled(p, m), [x for x in parts if x is not None]).astype(np.int64)

    if not p.output.is_float:
        raise Beyond(f"{p.op} of mixed types")
    known = all(x.q is not None for x in inputs if isinstance(x, Residues))
    return Residues(move(P), move(Q) if known else None)


def _filled(p: Primitive, m: int) -> Primitive:
    """A Pad that fills with residues. Of what fills elsewhere, only 0 and 1 are residues already."""
    if fill_of(p) not in (None, 0.0, 1.0):
        raise Beyond(f"{p.op} with {fill_of(p)} in place of elements")
    if not p.spec.pads or p.attr("mode") != "constant":
        return p
    if not np.isfinite(p.attr("value")):
        raise Beyond("Pad with a value that is not finite")
    return replace(p, attrs=tuple((k, residue(float(v), m, DOUBLE) if k == "value" else v) for k, v in p.attrs))


# Linear maps -----------------------------------------------------------------------------------------------------


def _mapped(p: Primitive, x: Array, m: int) -> Array:
    axis, coefficients = _matrix(_nameless(p))
    return _times(residue_array(coefficients, m, DOUBLE), x, p.output, axis, lambda a, b: product(a, b, m, np.matmul))


def _times(matrix: Array, x: Array, y: Tensor, axis: int | None, times: Callable[[Array, Array], Array]) -> Array:
    """matrix x, for every position of `axis` by itself."""
    if axis is None:
        return times(matrix, x.reshape(-1)).reshape(y.shape)
    length = _alike(x.shape, y.shape, axis)
    columns = np.moveaxis(x, axis, -1).reshape(-1, length)
    moved = [n for a, n in enumerate(y.shape) if a != axis % y.rank]
    return np.moveaxis(times(matrix, columns).reshape(*moved, y.shape[axis]), -1, axis)


def _alike(x: Shape, y: Shape, axis: int) -> int:
    """Positions that may fare alike: the last axis of either may be several of the other's one behind the other."""
    return min(x[axis], y[axis])


def _nameless(p: Primitive) -> Primitive:
    x, y = p.inputs[0], p.output
    return replace(p, inputs=(Tensor("x", "float64", x.shape),), output=Tensor("y", "float64", y.shape))


@lru_cache(maxsize=64)
def _matrix(p: Primitive) -> tuple[int | None, Array]:
    """(axis, [outputs, inputs]): what p does to unit vectors, at one position of `axis` where all fare alike."""
    x, y = p.inputs[0].shape, p.output.shape
    for axis in (1, -1):
        if x[axis] == y[axis] or (axis == -1 and max(x[axis], y[axis]) % _alike(x, y, axis) == 0):
            matrix = _columns(p, axis)
            sample = np.random.default_rng(0).standard_normal(x)
            if np.allclose(_times(matrix, sample, p.output, axis, np.matmul), evaluate_primitive(p, [sample])):
                return axis, matrix
    return None, _columns(p, None)


def _columns(p: Primitive, axis: int | None) -> Array:
    """The outputs for every unit vector, at the first position of `axis` and of each that begins behind it."""
    here, there = [list(whole(t.shape)) for t in (p.inputs[0], p.output)]
    if axis is not None:
        length = _alike(p.inputs[0].shape, p.output.shape, axis)
        here[axis] = np.arange(0, p.inputs[0].shape[axis], length)
        there[axis] = np.arange(0, p.output.shape[axis], length)
    unit, columns = np.zeros(p.inputs[0].shape), list[Array]()
    for place in itertools.product(*(r.tolist() for r in here)):
        unit[place] = 1.0
        columns.append(p.spec.evaluate(p, tuple(there), lambda _, r: unit[np.ix_(*r)]).reshape(-1))
        unit[place] = 0.0
    return np.stack(columns, axis=1)
